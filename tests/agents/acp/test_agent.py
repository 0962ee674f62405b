"""The adapter for ACP agents, with a scripted agent in a real process."""

from __future__ import annotations

import json
import os
import resource
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from untilgreen.agents.acp.agent import Acp
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply
from untilgreen.errors import ConfigError
from untilgreen.ports import Activity, TurnContext

pytestmark = pytest.mark.anyio
BRIEF = Brief(lap=1, text="Make it green.", commands=("pytest -q",))


class Played:
    """Turns of one scripted agent in one directory."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.script = folder / "script.json"
        self.shown: list[Activity] = []

    def context(self, **changes: Any) -> TurnContext:
        return TurnContext(root=self.root, report=self.shown.append, **changes)

    async def turn(self, *prompts: list[dict[str, Any]], brief: Brief = BRIEF, **changes: Any) -> Reply:
        if prompts:
            self.script.write_text(json.dumps(prompts))
        command = shlex.join([sys.executable, "-m", "untilgreen.testing.acp_agent", str(self.script)])
        return await Acp(command).work(brief, self.context(**changes))

    def heard(self, method: str = "") -> list[dict[str, Any]]:
        lines = self.script.with_suffix(".heard").read_text().splitlines()
        return [each for each in map(json.loads, lines) if not method or each.get("method") == method]


def running(*command: str) -> list[int]:
    found = psutil.process_iter(["pid", "cmdline"])
    return [each.info["pid"] for each in found if each.info["cmdline"] == list(command)]


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path)


async def test_the_last_message_is_the_reply_even_if_it_comes_in_pieces(played: Played) -> None:
    reply = await played.turn(
        [
            {"say": "I will write it.", "message": "m1"},
            {"write": "a.txt", "content": "42\n"},
            {"say": "It is there. <promise>DO", "message": "m2"},
            {"say": "NE</promise>", "message": "m2"},
            {"usage": {"inputTokens": 30, "outputTokens": 4}},
        ]
    )

    assert (reply.text, reply.error, reply.session) == ("It is there. <promise>DONE</promise>", None, "s1")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (30, 4)
    assert (played.root / "a.txt").read_text() == "42\n"
    assert ("edit", "Write a.txt") in [(each.kind, each.text) for each in played.shown]
    (prompt,) = played.heard("session/prompt")
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "Make it green."}]


async def test_neither_files_nor_a_terminal_are_offered(played: Played) -> None:
    reply = await played.turn([{"call": "fs/write_text_file"}, {"call": "craft/drain"}, {"say": "fine"}])

    assert (reply.text, reply.error) == ("fine", None)
    (hello,) = played.heard("initialize")
    offered = hello["params"]["clientCapabilities"]
    assert offered["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert offered["terminal"] is False
    assert [each["error"]["code"] for each in played.heard() if "error" in each] == [-32601, -32601]


async def test_a_gates_command_may_run_and_no_other(played: Played) -> None:
    brief = Brief(lap=1, text="Go.", commands=("touch gate.txt",))

    reply = await played.turn(
        [{"run": "touch gate.txt"}, {"run": "touch other.txt"}, {"say": "ok"}], brief=brief
    )

    assert (played.root / "gate.txt").exists()
    assert not (played.root / "other.txt").exists()
    assert reply.denied == ("touch other.txt",)


async def test_a_file_outside_the_workspace_may_not_be_edited(played: Played, tmp_path: Path) -> None:
    (played.root / "link").symlink_to(tmp_path)

    reply = await played.turn(
        [
            {"write": str(tmp_path / "out.txt"), "content": ""},
            {"write": "../out.txt", "content": ""},
            {"write": "link/out.txt", "content": ""},
            {"say": "ok"},
        ]
    )

    assert len(reply.denied) == 3
    assert not (tmp_path / "out.txt").exists()


def named(played: Played, name: str, monkeypatch: pytest.MonkeyPatch) -> Acp:
    """The adapter for the scripted agent, under the name of a known one."""
    words = shlex.join([sys.executable, "-m", "untilgreen.testing.acp_agent", str(played.script)])
    program = played.script.with_name(name)
    program.write_text(f"#!/bin/sh\nexec {words}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return Acp(name)


async def test_goose_is_made_to_ask_and_its_tools_are_known_by_their_names(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    goose = named(played, "goose", monkeypatch)
    shell, write = {"kind": "other", "title": "shell"}, {"kind": "other", "title": "write"}
    acts = [
        {"run": "touch gate.txt", "as": shell},
        {"run": "touch other.txt", "as": shell},
        {"write": "a.txt", "content": "", "as": write},
        {"run": "touch third.txt", "as": {"kind": "other", "title": "unheard_of"}},
        {"say": "ok"},
    ]
    played.script.write_text(json.dumps([acts]))

    reply = await goose.work(Brief(lap=1, text="Go.", commands=("touch gate.txt",)), played.context())

    assert sorted(each.name for each in played.root.iterdir()) == ["a.txt", "gate.txt"]
    assert (reply.denied, reply.error) == (("touch other.txt", "unheard_of"), None)
    (asked,) = played.heard("session/set_mode")
    assert asked["params"]["modeId"] == "approve"


async def test_an_agent_that_can_not_be_made_to_ask_does_not_work(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    goose = named(played, "goose", monkeypatch)
    played.script.write_text(json.dumps([[{"modeless": True}, {"run": "touch other.txt"}]]))

    reply = await goose.work(BRIEF, played.context())

    assert (reply.error, played.heard("session/prompt")) == ("crash", [])


async def test_what_rules_refuse_without_asking_is_named(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    opencode = named(played, "opencode", monkeypatch)
    why = "The user has specified a rule which prevents you from using this specific tool call."
    acts = [{"refused": "curl x", "why": why}, {"refused": "make", "why": "exit code 2"}, {"say": "ok"}]
    played.script.write_text(json.dumps([acts]))

    reply = await opencode.work(BRIEF, played.context())

    assert reply.denied == ("curl x",)


async def test_with_all_permissions_everything_may_run(played: Played) -> None:
    brief = Brief(lap=1, text="Go.", permissions="all")

    reply = await played.turn([{"run": "touch other.txt"}, {"say": "ok"}], brief=brief)

    assert (played.root / "other.txt").exists()
    assert reply.denied == ()


async def test_a_session_continues_and_one_that_is_gone_is_replaced_by_a_new_one(played: Played) -> None:
    first = await played.turn([{"say": "one"}, {"cost": 0.25}], [{"say": "two"}, {"cost": 0.75}])
    assert first.total is not None
    again = Brief(lap=2, text="Go on.", session=first.session, counted=first.total)
    second = await played.turn(brief=again)
    lost = await played.turn(brief=Brief(lap=3, text="Go on.", session="gone"))

    assert (first.session, second.session, lost.session) == ("s1", "s1", "s2")
    assert (first.usage.cost, second.usage.cost) == (0.25, 0.5)
    assert [each["params"]["sessionId"] for each in played.heard("session/resume")] == ["s1", "gone"]


@pytest.mark.parametrize(
    ("acts", "error"),
    [
        ([{"fail": {"code": -32000, "message": "Authentication required"}}], "auth"),
        ([{"fail": {"code": 429, "message": "slow down"}}], "rate_limited"),
        ([{"fail": {"code": -32603, "message": "Internal error: 500 internal server error"}}], "network"),
        ([{"fail": {"code": -32603, "message": "Internal error"}}], "crash"),
        ([{"failure": {"category": "limit", "title": "last status: 429"}}], "rate_limited"),
        ([{"failure": {"category": "auth", "title": "no"}}], "auth"),
        ([{"say": "Ran into this error: Request failed: 401 Unauthorized. Please retry."}], "auth"),
        ([{"say": "Error: Failed to get response: 429 too many requests"}], "rate_limited"),
        ([{"say": "I "}, {"stop": "refusal"}], "crash"),
        ([{"die": 3}], "crash"),
        ([{"raw": '{"jsonrpc": "2.0", "id"', "newline": False}, {"die": 0}], "crash"),
    ],
)
async def test_a_failure_is_a_failure_even_if_the_agent_says_that_its_turn_ended(
    played: Played, acts: list[dict[str, Any]], error: str
) -> None:
    assert (await played.turn(acts)).error == error


async def test_an_answer_about_an_error_is_not_an_error(played: Played) -> None:
    reply = await played.turn([{"say": "I fixed the error: the handler returned 401 unauthorized."}])

    assert reply.error is None


async def test_garbage_and_unexpected_answers_do_not_end_a_turn(played: Played) -> None:
    reply = await played.turn(
        [
            {"raw": "Warning: a banner"},
            {"raw": "[1, 2]"},
            {"raw": '{"jsonrpc":"2.0","id":77,"result":{}}'},
            {"raw": '{"jsonrpc":"2.0","id":1,"result":{"agentCapabilities":{}}}'},
            {"raw": '{"jsonrpc":"2.0","method":"session/update","params":7}'},
            {"raw": '{"jsonrpc":"2.0","method":"session/update","params":{"update":{}}}'},
            {"raw": "x" * 3_000_000},
            {"say": "still here"},
        ]
    )

    assert (reply.text, reply.error) == ("still here", None)


async def test_a_line_of_100_mb_is_dropped_without_being_held(played: Played) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    reply = await played.turn([{"long": 100_000_000}, {"say": "still here"}])

    assert (reply.text, reply.error) == ("still here", None)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


async def test_a_method_that_was_not_offered_is_refused_and_the_turn_continues(played: Played) -> None:
    reply = await played.turn([{"call": "fs/write_text_file"}, {"call": "no/such_method"}, {"say": "done"}])

    answers = [each["error"]["code"] for each in played.heard() if "error" in each]
    assert (reply.text, reply.error, answers) == ("done", None, [-32601, -32601])


async def test_silence_is_noticed(played: Played) -> None:
    reply = await played.turn([{"say": "hm"}, {"hang": True}], silence=1.5)

    assert reply.error == "stalled"


async def test_a_cancelled_turn_is_announced_to_the_agent_and_leaves_nothing_running(played: Played) -> None:
    with anyio.move_on_after(2) as scope:
        await played.turn([{"child": "exec sleep 4321"}, {"deaf": True}, {"say": "."}, {"hang": True}])

    assert scope.cancelled_caught
    assert len(played.heard("session/cancel")) == 1
    assert [
        each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "4321"]
    ] == []


async def test_an_agent_that_never_leaves_is_ended(played: Played) -> None:
    with anyio.fail_after(30):
        reply = await played.turn([{"child": "exec sleep 4322"}, {"deaf": True}, {"say": "done"}])

    assert (reply.text, reply.error) == ("done", None)
    assert [
        each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "4322"]
    ] == []


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ConfigError, match="Check its quotes"):
        Acp("x 'y")
    with pytest.raises(ConfigError, match="claude, codex"):
        Acp(" ")
    with pytest.raises(ConfigError, match="own settings"):
        Acp("./mine", model="m")
    assert Acp("gemini", model="m").about.login.startswith("Start `gemini`")
