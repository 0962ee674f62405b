"""Claude Code: how it is started, and what becomes of its recorded turns."""

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agents.playing import BRIEF, PLAYER, UNKNOWN, play, player, stream
from untilgreen.agents.claude import Claude
from untilgreen.core.values.model import Usage
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Agent, Mount, Sandbox, TurnContext

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(program=player(tmp_path))


def settings(argv: list[str]) -> list[str]:
    rules: list[str] = json.loads(argv[argv.index("--settings") + 1])["permissions"]["allow"]
    return rules


def line(**event: object) -> str:
    return json.dumps(event) + "\n"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: make test-sandbox")
async def test_in_a_sandbox_it_has_its_own_variables_and_no_others(
    claude: Claude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("ANTHROPIC_API_KEY", "API_TIMEOUT_MS", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "set")
    wall = Sandbox(mounts=(Mount(path=tmp_path, way="write"), Mount(path=PLAYER, way="read")))
    (tmp_path / "stream").write_text(stream("claude-denied"))
    given = {"STREAM": str(tmp_path / "stream"), "HEARD": str(tmp_path / "heard")}
    await claude.work(BRIEF, TurnContext(root=tmp_path, env=given, sandbox=wall))

    had = json.loads((tmp_path / "heard").read_text())["env"].keys()
    assert {"ANTHROPIC_API_KEY", "API_TIMEOUT_MS", "CLAUDE_CONFIG_DIR"} <= had
    assert not {"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"} & had


def test_it_is_an_agent_whose_silence_means_something() -> None:
    assert isinstance(Claude(), Agent)
    assert Claude().streams


async def test_a_turn_gives_text_usage_cost_session_and_what_was_denied(
    claude: Claude, tmp_path: Path
) -> None:
    played = await play(claude, stream("claude-denied"), tmp_path)

    reply = played.reply
    assert (reply.text, reply.error, reply.session) == ("Done.", None, "2301dc61-3063-45a8-b2db-014bfb6150fb")
    assert reply.usage == Usage(input_tokens=86008, output_tokens=91, cost=0.259389, source="reported")
    assert reply.denied == ("Bash(curl http://127.0.0.1:1/)",)
    assert "--allowedTools" in reply.detail
    assert played.shown == [
        ("text", "go"),
        ("edit", "/project/hello.txt"),
        ("command", "cat hello.txt"),
        ("command", "curl http://127.0.0.1:1/"),
        ("text", "Done."),
    ]


async def test_the_cost_of_a_continued_session_is_what_was_added(claude: Claude, tmp_path: Path) -> None:
    first = await play(claude, stream("claude-denied"), tmp_path)
    going_on = replace(BRIEF, session=first.reply.session, counted=first.reply.total or Usage())

    played = await play(claude, stream("claude-continued"), tmp_path, going_on)

    assert played.argv[-2:] == ["--resume", "2301dc61-3063-45a8-b2db-014bfb6150fb"]
    assert played.reply.total == Usage(input_tokens=107720, output_tokens=92, cost=0.32454, source="reported")
    assert played.reply.usage.cost == pytest.approx(0.32454 - 0.259389)
    assert (played.reply.usage.input_tokens, played.reply.usage.output_tokens) == (21712, 1)


async def test_by_default_it_may_edit_and_run_what_the_gates_run(claude: Claude, tmp_path: Path) -> None:
    brief = replace(BRIEF, commands=("pytest -q", "npm ci && npm test", "python -c 'a; b'"))

    played = await play(claude, stream("claude-denied"), tmp_path, brief)

    assert "acceptEdits" in played.argv
    exact = [rule for rule in settings(played.argv) if not rule.endswith(":*)")]
    assert exact == [
        "Bash(pytest -q)",
        "Bash(npm ci && npm test)",
        "Bash(npm ci)",
        "Bash(npm test)",
        "Bash(python -c 'a; b')",
    ]
    assert "Bash(pytest -q:*)" in settings(played.argv)
    assert played.stdin == "Make it green."


async def test_everything_is_permitted_when_asked_for(claude: Claude, tmp_path: Path) -> None:
    played = await play(claude, stream("claude-denied"), tmp_path, replace(BRIEF, permissions="all"))

    assert "bypassPermissions" in played.argv
    assert "--settings" not in played.argv


async def test_model_budget_and_further_arguments_reach_the_command_line(tmp_path: Path) -> None:
    agent = Claude(program=player(tmp_path), model="opus", args=("--max-turns", "4"))

    played = await play(agent, stream("claude-denied"), tmp_path, replace(BRIEF, budget=1.5))

    assert played.argv[-6:] == ["--model", "opus", "--max-budget-usd", "1.50", "--max-turns", "4"]
    assert played.env["CLAUDE_CODE_MAX_RETRIES"] == "3"


async def test_a_retry_limit_that_the_user_set_is_kept(
    claude: Claude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "8")

    played = await play(claude, stream("claude-denied"), tmp_path)

    assert played.env["CLAUDE_CODE_MAX_RETRIES"] == "8"


async def test_a_wrong_key_is_noticed_at_its_first_retry(claude: Claude, tmp_path: Path) -> None:
    played = await play(claude, stream("claude-401") + line(type="result", subtype="success"), tmp_path)

    assert played.reply.error == "auth"
    assert "/login" in played.reply.detail
    assert played.shown[0] == ("retry", "authentication_failed; next attempt in 1 s")
    assert played.reply.text == ""


@pytest.mark.parametrize(
    ("name", "error"),
    [("claude-429", "rate_limited"), ("claude-500", "network"), ("claude-dropped", "network")],
)
async def test_a_provider_failure_is_neither_a_success_nor_the_agents_own_words(
    claude: Claude, tmp_path: Path, name: str, error: str
) -> None:
    played = await play(claude, stream(name), tmp_path, EXIT="1")

    assert played.reply.error == error
    assert "API Error" in played.reply.detail
    assert played.reply.text == ""


async def test_a_wait_that_is_too_long_to_sit_through_ends_the_turn_with_its_moment(
    claude: Claude, tmp_path: Path
) -> None:
    retry = line(
        type="system",
        subtype="api_retry",
        attempt=1,
        retry_delay_ms=45_000,
        error_status=429,
        error="rate_limit",
    )

    played = await play(claude, retry + stream("claude-continued"), tmp_path)

    assert (played.reply.error, played.reply.text) == ("rate_limited", "")
    assert played.reply.retry_at is not None


async def test_a_limit_of_the_subscription_names_its_reset(claude: Claude, tmp_path: Path) -> None:
    told = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1_794_800_000})
    end = line(type="result", subtype="success", is_error=True, result="You've hit your limit · resets 7pm")

    played = await play(claude, told + end, tmp_path, EXIT="1")

    assert (played.reply.error, played.reply.retry_at) == ("quota", 1_794_800_000)


async def test_a_question_ends_the_turn_as_a_question(claude: Claude, tmp_path: Path) -> None:
    asked = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which one?"}]}}
    end = line(type="result", subtype="success", is_error=False, result="x", permission_denials=[asked])

    played = await play(claude, end, tmp_path)

    assert (played.reply.error, played.reply.detail, played.reply.denied) == ("question", "Which one?", ())


async def test_what_a_subagent_says_is_not_its_last_word(claude: Claude, tmp_path: Path) -> None:
    helper = line(
        type="assistant",
        parent_tool_use_id="toolu_1",
        message={"content": [{"type": "text", "text": "<promise>DONE</promise>"}]},
    )

    played = await play(claude, stream("claude-continued").replace("\n", "\n" + helper, 2), tmp_path)

    assert played.reply.text == "Done."


async def test_unknown_events_are_kept_and_change_nothing(claude: Claude, tmp_path: Path) -> None:
    lines = stream("claude-denied").splitlines()
    mixed = "\n".join(each for known in lines for each in (*UNKNOWN, known)) + "\n"
    plain = await play(claude, stream("claude-denied"), tmp_path)

    played = await play(claude, mixed, tmp_path)

    assert played.reply == plain.reply
    assert played.transcript == mixed


async def test_a_missing_end_is_a_crash_even_with_exit_code_0(claude: Claude, tmp_path: Path) -> None:
    cut = "\n".join(stream("claude-continued").splitlines()[:-1])

    played = await play(claude, cut, tmp_path)

    assert (played.reply.error, played.reply.text) == ("crash", "Done.")
    assert played.reply.detail == "exit code 0 before its turn was over"


@pytest.mark.parametrize("ending", [{"SIGNAL": str(int(signal.SIGTERM))}, {"EXIT": "143"}])
async def test_a_turn_that_somebody_ended_was_interrupted(
    claude: Claude, tmp_path: Path, ending: dict[str, str]
) -> None:
    cut = "\n".join(stream("claude-continued").splitlines()[:-1])

    played = await play(claude, cut, tmp_path, BRIEF, ERRORS="an earlier fetch failed", **ending)

    assert (played.reply.error, played.reply.session) == (
        "interrupted",
        "2301dc61-3063-45a8-b2db-014bfb6150fb",
    )


async def test_an_agent_that_is_not_installed_is_reported_with_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(
        AgentUnavailable, match=r"no program 'no-claude'.*npm install -g @anthropic-ai/claude-code"
    ):
        await Claude(program="no-claude").work(BRIEF, TurnContext(root=tmp_path))
