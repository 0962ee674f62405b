"""OpenCode, Gemini, Aider, Qwen, Copilot and Goose: starting them, and what becomes of recorded turns."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.agents.playing import BRIEF, UNKNOWN, play, player, stream
from untilgreen.agents.aider import Aider
from untilgreen.agents.copilot import LARGEST_SESSION, Copilot, count
from untilgreen.agents.gemini import Gemini
from untilgreen.agents.goose import Goose
from untilgreen.agents.kit.turn import Turn
from untilgreen.agents.opencode import OpenCode
from untilgreen.agents.qwen import Qwen
from untilgreen.core.values.model import Usage
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Agent, TurnContext

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
ADAPTERS: dict[str, Callable[..., Agent]] = {
    "opencode": OpenCode,
    "gemini": Gemini,
    "aider": Aider,
    "qwen": Qwen,
    "copilot": Copilot,
    "goose": Goose,
}
DENYING = ["opencode", "gemini", "qwen", "copilot"]
FREE = replace(BRIEF, permissions="all")


@pytest.fixture(params=ADAPTERS)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def agent(name: str, folder: Path, **options: Any) -> Agent:
    return ADAPTERS[name](program=player(folder), **options)


def brief(name: str, **changed: Any) -> Any:
    return replace(FREE if name == "goose" else BRIEF, **changed)


async def test_a_turn_gives_text_and_what_was_done(name: str, tmp_path: Path) -> None:
    played = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path, brief(name))

    assert played.reply.error is None, played.reply
    assert (
        "Here." in played.reply.text
        if name == "aider"
        else played.reply.text == "Done. <promise>DONE</promise>"
    )
    assert any(kind == "edit" and "hello.txt" in text for kind, text in played.shown)
    assert played.stdin == "Make it green."
    assert (played.reply.session is None) == (name == "aider")
    assert bool(played.reply.usage.tokens) == (name != "copilot")  # Copilot writes it to a file


@pytest.mark.parametrize("name", DENYING)
async def test_what_was_denied_is_named_with_the_way_to_allow_it(name: str, tmp_path: Path) -> None:
    played = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path)

    assert [each.partition("(")[2] for each in played.reply.denied] == ["curl -sS http://127.0.0.1:1/)"]
    assert "Allow" in played.reply.detail
    assert "--yolo" not in played.reply.detail


@pytest.mark.parametrize("name", ["opencode", "gemini", "qwen", "copilot", "goose"])
async def test_a_session_is_continued_by_its_name(name: str, tmp_path: Path) -> None:
    first = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path, brief(name))
    session = first.reply.session
    going_on = brief(name, session=session, counted=first.reply.total or Usage())

    played = await play(agent(name, tmp_path), stream(f"{name}-continued"), tmp_path, going_on)

    assert session is not None
    assert any(session in word for word in played.argv)
    assert played.reply.session == session
    if name != "copilot":
        assert 0 < (played.reply.usage.tokens or 0) < (first.reply.usage.tokens or 0)


def copilot_used(folder: Path, session: str, *records: tuple[int, int, int]) -> dict[str, str]:
    """Write a session's file as Copilot CLI 1.0.102 does, but shorter; the variable that points to it."""
    names = ("inputTokens", "outputTokens", "cacheReadTokens")
    usages = [dict(zip(names, record, strict=True)) for record in records]
    lines = [{"type": "session.start", "data": {"text": "session.usage_record"}}]
    lines += [{"type": "session.usage_record", "data": {"usage": usage}} for usage in usages]
    path = folder / "session-state" / session / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"type":"session.usage_rec')
    return {"COPILOT_HOME": str(folder)}


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("trap", ["pipe", "huge"])
def test_copilots_session_is_not_read_where_it_would_not_end(tmp_path: Path, trap: str) -> None:
    home = copilot_used(tmp_path, "s-1", (100, 10, 0))
    file = tmp_path / "session-state" / "s-1" / "events.jsonl"
    turn = Turn(context=TurnContext(root=tmp_path, env=home), session="s-1")
    count(turn)
    assert turn.total is not None
    if trap == "pipe":
        file.unlink()
        os.mkfifo(file)
    else:
        os.truncate(file, LARGEST_SESSION + 1)

    turn.total = None
    count(turn)

    assert turn.total is None


async def test_copilot_says_what_it_used_in_the_file_of_its_session(tmp_path: Path) -> None:
    known = await play(agent("copilot", tmp_path), stream("copilot-done"), tmp_path)
    session = known.reply.session or ""
    home = copilot_used(tmp_path / "home", session, (100, 10, 0), (120, 5, 90))

    first = await play(agent("copilot", tmp_path), stream("copilot-done"), tmp_path, BRIEF, **home)
    assert first.reply.usage == Usage(input_tokens=220, output_tokens=15, cached_tokens=90)
    copilot_used(tmp_path / "home", session, (100, 10, 0), (120, 5, 90), (130, 7, 120))
    going_on = brief("copilot", session=session, counted=first.reply.total)
    second = await play(agent("copilot", tmp_path), stream("copilot-continued"), tmp_path, going_on, **home)
    assert second.reply.usage == Usage(input_tokens=130, output_tokens=7, cached_tokens=120)


async def test_copilot_gets_its_session_from_us_so_that_a_broken_turn_has_one(tmp_path: Path) -> None:
    played = await play(agent("copilot", tmp_path), "", tmp_path)

    assert played.reply.session is not None
    assert f"--session-id={played.reply.session}" in played.argv


@pytest.mark.parametrize(
    ("name", "error", "advice"),
    [
        ("gemini", "auth", "GEMINI_API_KEY"),
        ("aider", "auth", "OPENAI_API_KEY"),
        ("qwen", "auth", "/auth"),
        ("copilot", "auth", "/login"),
        ("goose", "auth", "goose configure"),
    ],
)
async def test_a_wrong_key_is_known_whatever_the_exit_code(
    name: str, error: str, advice: str, tmp_path: Path
) -> None:
    played = await play(agent(name, tmp_path), stream(f"{name}-401"), tmp_path, brief(name))

    assert (played.reply.error, played.reply.text) == (error, ""), played.reply
    assert advice in played.reply.detail


@pytest.mark.parametrize(
    ("name", "error"), [("copilot", "network"), ("goose", "network"), ("aider", "rate_limited")]
)
async def test_a_failing_server_is_known_whatever_the_exit_code(
    name: str, error: str, tmp_path: Path
) -> None:
    played = await play(agent(name, tmp_path), stream(f"{name}-500"), tmp_path, brief(name))

    assert (played.reply.error, played.reply.retry_at) == (error, None)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "gemini",
            'Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429}}',
        ),
        (
            "opencode",
            'level=ERROR message="stream error" error.error="AI_APICallError: Too Many Requests"',
        ),
    ],
)
async def test_retries_reported_outside_the_stream_are_ended_after_the_third(
    name: str, line: str, tmp_path: Path
) -> None:
    played = await play(agent(name, tmp_path), "", tmp_path, ERRORS=f"{line}\n" * 9)

    assert played.reply.error == "rate_limited"
    assert [kind for kind, _ in played.shown].count("retry") == 4


async def test_a_wrong_key_of_opencode_is_read_from_its_log(tmp_path: Path) -> None:
    line = 'level=ERROR message="stream error" agent=build error.error="AI_APICallError: invalid x-api-key"\n'

    played = await play(agent("opencode", tmp_path), "", tmp_path, ERRORS=line)

    assert played.reply.error == "auth"
    assert "opencode auth login" in played.reply.detail


async def test_why_qwen_waits_is_read_from_outside_its_stream(tmp_path: Path) -> None:
    begun = stream("qwen-done").splitlines()[0]
    event = '{"type":"system","subtype":"retry","data":{"reason":"retry","attempt":1,"delayMs":60000}}'
    line = "Retrying in 60s (attempt 1/10): [API Error: 429 scripted: rate limit exceeded]\n"
    now = time.time()

    played = await play(agent("qwen", tmp_path), f"{begun}\n{event}\n", tmp_path, BRIEF, ERRORS=line)

    assert (played.reply.error, played.reply.session is not None) == ("rate_limited", True)
    assert played.reply.retry_at is not None
    assert 50 < played.reply.retry_at - now < 600


async def test_qwen_is_left_alone_if_it_waits_only_briefly(tmp_path: Path) -> None:
    line = "Retrying in 5s (attempt 1/10): [API Error: 429 scripted: rate limit exceeded]\n"

    played = await play(agent("qwen", tmp_path), stream("qwen-done"), tmp_path, BRIEF, ERRORS=line)

    assert played.reply.error is None
    assert any(kind == "retry" and "429" in text for kind, text in played.shown)


async def test_an_exit_code_of_gemini_is_a_status_modulo_256(tmp_path: Path) -> None:
    cut = stream("gemini-401").splitlines()[0]

    played = await play(agent("gemini", tmp_path), cut, tmp_path, EXIT="173")

    assert played.reply.error == "rate_limited"


async def test_pieces_of_a_message_are_joined_and_older_messages_are_gone(tmp_path: Path) -> None:
    pieces = [
        '{"type":"message","role":"assistant","content":"<promise>OLD</promise>","delta":true}',
        '{"type":"tool_use","tool_name":"list","tool_id":"1","parameters":{}}',
        '{"type":"message","role":"assistant","content":"Yes. <prom","delta":true}',
        '{"type":"message","role":"assistant","content":"ise>DONE</promise>","delta":true}',
        '{"type":"result","status":"success","stats":{}}',
    ]

    played = await play(agent("gemini", tmp_path), "\n".join(pieces), tmp_path)

    assert played.reply.text == "Yes. <promise>DONE</promise>"


async def test_a_refusal_that_ended_the_turn_is_an_error_of_permission(tmp_path: Path) -> None:
    asked = "! permission requested: external_directory (/etc/*); auto-rejecting\n"
    cut = '{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls","tokens":{},"cost":0}}\n'

    played = await play(agent("opencode", tmp_path), cut, tmp_path, ERRORS=asked)

    assert (played.reply.error, played.reply.denied) == ("permission", ("external_directory (/etc/*)",))


@pytest.mark.parametrize(
    ("name", "fenced", "free"),
    [
        ("gemini", "run_shell_command(pytest -q)", "yolo"),
        ("qwen", "run_shell_command(pytest -q)", "yolo"),
        ("copilot", "shell(pytest -q)", "--allow-all"),
        ("aider", "--no-suggest-shell-commands", "--yes-always"),
    ],
)
async def test_permissions_are_flags(name: str, fenced: str, free: str, tmp_path: Path) -> None:
    kept = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path)
    let = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path, FREE)

    assert fenced in kept.argv
    assert free in let.argv
    assert fenced not in let.argv


async def test_permissions_of_opencode_are_rules_in_its_environment(tmp_path: Path) -> None:
    kept = await play(agent("opencode", tmp_path), stream("opencode-done"), tmp_path)
    let = await play(agent("opencode", tmp_path), stream("opencode-done"), tmp_path, FREE)

    assert '"bash":{"*":"deny","pytest -q":"allow","pytest -q *":"allow"}' in kept.env["OPENCODE_PERMISSION"]
    assert '"bash":"allow"' in let.env["OPENCODE_PERMISSION"]
    assert "--auto" in let.argv
    assert kept.env["PWD"] == str(tmp_path)


async def test_goose_is_refused_without_all_permissions(tmp_path: Path) -> None:
    with pytest.raises(AgentUnavailable, match=r"limited to editing.*another agent"):
        await Goose().work(BRIEF, TurnContext(root=tmp_path))


async def test_model_and_arguments_reach_the_command_line(name: str, tmp_path: Path) -> None:
    chosen = agent(name, tmp_path, model="some/model", args=("--extra", "one"))

    played = await play(chosen, stream(f"{name}-done"), tmp_path, brief(name))

    assert played.argv[played.argv.index("--model") + 1] == "some/model"
    assert played.argv[played.argv.index("--extra") + 1] == "one"


@pytest.mark.parametrize("name", ["opencode", "gemini", "qwen", "copilot", "goose"])
async def test_unknown_events_are_kept_and_change_nothing(name: str, tmp_path: Path) -> None:
    lines = stream(f"{name}-done").splitlines()
    mixed = "\n".join(each for known in lines for each in (*UNKNOWN, known)) + "\n"
    begun = brief(name, session="the-same")
    plain = await play(agent(name, tmp_path), stream(f"{name}-done"), tmp_path, begun)

    played = await play(agent(name, tmp_path), mixed, tmp_path, begun)

    assert played.reply == plain.reply
    assert played.transcript == mixed


async def test_an_agent_that_stays_after_its_turn_is_over_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "stays"
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/stream\nexec sleep 600\n")
    script.chmod(0o755)
    (tmp_path / "stream").write_text(stream("gemini-done"))

    reply = await Gemini(program=str(script)).work(BRIEF, TurnContext(root=tmp_path))

    assert (reply.error, reply.text) == (None, "Done. <promise>DONE</promise>")


async def test_an_agent_that_falls_silent_while_retrying_fails_with_the_cause_of_the_retry(
    tmp_path: Path,
) -> None:
    script = tmp_path / "slow"
    script.write_text("#!/bin/sh\necho 'Attempt 1 failed with status 429. Retrying' >&2\nexec sleep 60\n")
    script.chmod(0o755)

    reply = await Gemini(program=str(script)).work(BRIEF, TurnContext(root=tmp_path, silence=1.0))

    assert reply.error == "rate_limited"
