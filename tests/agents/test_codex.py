"""Codex: how it is started, and what becomes of its recorded turns."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agents.playing import BRIEF, UNKNOWN, play, player, stream
from untilgreen.agents.codex import Codex
from untilgreen.core.values.model import Usage

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
THREAD = "01a1e233-4a0b-7eb1-b0c6-93ad5bc86ab1"


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    return Codex(program=player(tmp_path))


def ran(command: str, output: str) -> str:
    item = {"type": "command_execution", "command": command, "aggregated_output": output, "exit_code": 1}
    return json.dumps({"type": "item.completed", "item": {**item, "status": "failed"}}) + "\n"


async def test_a_turn_gives_text_usage_and_session(codex: Codex, tmp_path: Path) -> None:
    played = await play(codex, stream("codex-done"), tmp_path)

    assert (played.reply.text, played.reply.error, played.reply.session) == ("Done.", None, THREAD)
    assert played.reply.usage == Usage(input_tokens=40924, output_tokens=94)
    assert [kind for kind, _ in played.shown] == ["note", "text", "command", "command", "command", "text"]
    assert played.argv[:3] == ["exec", "--json", "--skip-git-repo-check"]
    assert played.argv[-1] == "-"
    assert played.stdin == "Make it green."


async def test_the_usage_of_a_continued_thread_is_what_was_added(codex: Codex, tmp_path: Path) -> None:
    going_on = replace(BRIEF, session=THREAD, counted=Usage(input_tokens=40924, output_tokens=94))

    played = await play(codex, stream("codex-continued"), tmp_path, going_on)

    assert played.argv[:2] == ["exec", "resume"]
    assert played.argv[-2:] == [THREAD, "-"]
    assert played.reply.usage == Usage(input_tokens=51478 - 40924, output_tokens=1)


async def test_only_denials_depend_on_its_command_events(codex: Codex, tmp_path: Path) -> None:
    lines = stream("codex-done").splitlines(keepends=True)
    quiet = "".join(line for line in lines if "command_execution" not in line)

    told = await play(codex, "".join(lines), tmp_path)
    untold = await play(codex, quiet, tmp_path)

    assert quiet != "".join(lines)
    assert untold.reply == replace(told.reply, denied=(), detail="")


async def test_an_agent_that_restarts_its_count_is_taken_at_its_word(codex: Codex, tmp_path: Path) -> None:
    going_on = replace(BRIEF, session=THREAD, counted=Usage(input_tokens=99_999, output_tokens=94))

    played = await play(codex, stream("codex-continued"), tmp_path, going_on)

    assert played.reply.usage == Usage(input_tokens=51478, output_tokens=95)


async def test_its_sandbox_is_the_permission_and_can_be_left(tmp_path: Path) -> None:
    agent = Codex(program=player(tmp_path), model="gpt-5.1", args=("-c", "x=1"))

    fenced = await play(agent, stream("codex-done"), tmp_path)
    free = await play(agent, stream("codex-done"), tmp_path, replace(BRIEF, permissions="all"))

    assert 'sandbox_mode="workspace-write"' in fenced.argv
    assert "--dangerously-bypass-approvals-and-sandbox" not in fenced.argv
    assert "--dangerously-bypass-approvals-and-sandbox" in free.argv
    assert free.argv[-5:] == ["--model", "gpt-5.1", "-c", "x=1", "-"]


async def test_what_the_sandbox_stopped_is_named_with_the_flag(codex: Codex, tmp_path: Path) -> None:
    stopped = ran("touch /usr/x", "touch: cannot touch '/usr/x': Read-only file system\n")

    fenced = await play(codex, stopped + stream("codex-done"), tmp_path)
    free = await play(codex, stopped + stream("codex-done"), tmp_path, replace(BRIEF, permissions="all"))

    assert fenced.reply.denied == ("touch /usr/x",)
    assert "network_access=true" in fenced.reply.detail
    assert free.reply.denied == ()


@pytest.mark.parametrize(
    ("name", "error", "detail"),
    [
        ("codex-429", "rate_limited", "exceeded retry limit, last status: 429 Too Many Requests"),
        ("codex-500", "rate_limited", "We’re currently experiencing high demand"),
        ("codex-dropped", "network", "stream disconnected before completion"),
    ],
)
async def test_a_failed_turn_has_the_cause_that_it_names(
    codex: Codex, tmp_path: Path, name: str, error: str, detail: str
) -> None:
    played = await play(codex, stream(name), tmp_path, EXIT="1")

    assert played.reply.error == error
    assert played.reply.detail.startswith(detail)


async def test_a_wrong_key_is_noticed_at_its_first_retry(codex: Codex, tmp_path: Path) -> None:
    played = await play(codex, stream("codex-401") + stream("codex-done"), tmp_path)

    assert (played.reply.error, played.reply.text) == ("auth", "")
    assert played.reply.detail.startswith("unexpected status 401")
    assert "codex login" in played.reply.detail


async def test_a_limit_of_the_plan_waits_until_it_says(codex: Codex, tmp_path: Path) -> None:
    failed = {
        "type": "turn.failed",
        "error": {"message": "You've hit your usage limit. Try again in 2 hours."},
    }

    played = await play(codex, json.dumps(failed), tmp_path, EXIT="1")

    assert played.reply.error == "quota"
    assert played.reply.retry_at is not None


async def test_a_retry_that_helped_is_not_a_failure(codex: Codex, tmp_path: Path) -> None:
    retry = json.dumps({"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}) + "\n"

    played = await play(codex, retry + stream("codex-done"), tmp_path)

    assert played.reply.ok
    assert played.shown[0] == ("retry", "stream disconnected; trying again")


async def test_a_thread_that_is_gone_starts_a_new_one(codex: Codex, tmp_path: Path) -> None:
    gone = "Error: thread/resume failed: no rollout found for thread id x"

    played = await play(codex, "", tmp_path, replace(BRIEF, session="x"), EXIT="1", ERRORS=gone)

    assert played.argv[:2] == ["exec", "--json"]
    assert ("note", "Session x is gone; starting a new one.") in played.shown


async def test_unknown_events_are_kept_and_change_nothing(codex: Codex, tmp_path: Path) -> None:
    lines = stream("codex-done").splitlines()
    mixed = "\n".join(each for known in lines for each in (*UNKNOWN, known)) + "\n"
    plain = await play(codex, stream("codex-done"), tmp_path)

    played = await play(codex, mixed, tmp_path)

    assert played.reply == plain.reply
    assert played.transcript == mixed
