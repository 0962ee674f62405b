"""What doctor says about hooks is what the real agents do with them; ours work beside others, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.test_sessions import DONE, say
from untilgreen.core.values.events import BriefOffered, RunFinished, TurnEnded
from untilgreen.engine.store.runs import Store
from untilgreen.testing import ScriptedModel

CLAUDE = pytest.mark.parametrize("agent", ["claude"], indirect=True)
CODEX = pytest.mark.parametrize("agent", ["codex"], indirect=True)
TURNS = [{"text": "I looked around."}, {"text": f"All is well.\n\n{DONE}"}]


@pytest.fixture
def model(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    """A model with turns for two loops of two laps each, and our hooks installed."""
    with bench.model([*TURNS, *TURNS]) as model:
        monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(bench.state))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert bench.cli("install", "--yes", bench.agent)[0] == 0
        yield model


def looped(bench: Bench) -> bool:
    """Whether the session had a loop that ended with a claim."""
    if not list(Store(bench.state).runs()):
        return False
    return [end.outcome for end in of(RunFinished, bench.journal())] == ["claimed"]


def told(bench: Bench) -> list[str]:
    """What doctor says about the agent's hooks."""
    _, said = bench.cli("doctor", "--json")
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return [f"{row['status']}: {row['detail']}" for row in rows if row.get("name") == f"hooks {bench.agent}"]


def listed(bench: Bench) -> dict[str, Any]:
    """Codex's own list of hooks, by key."""
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(bench.project)]}},
    ]
    server = subprocess.Popen(
        ["codex", "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked).encode())
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        (found,) = next(answer for answer in answers if answer.get("id") == 2)["result"]["data"]
        server.terminate()
    return {hook["key"]: hook for hook in found["hooks"]}


@CODEX
def test_codex_calls_what_doctor_says_is_trusted_and_skips_the_rest(
    bench: Bench, model: ScriptedModel
) -> None:
    hooks = listed(bench)
    assert {hook["trustStatus"] for hook in hooks.values()} == {"untrusted"}
    events = "Interrupt, SessionEnd, SessionStart, Stop, UserPromptSubmit"
    assert told(bench) == [f"warn: codex skips {events}, which has not been trusted"]
    say(bench, "/ralph look at it", "--dangerously-bypass-hook-trust")
    assert not looped(bench)

    with (bench.home / ".codex" / "config.toml").open("a") as config:
        for key, hook in hooks.items():
            config.write(f'[hooks.state."{key}"]\ntrusted_hash = "{hook["currentHash"]}"\n')
    assert {hook["trustStatus"] for hook in listed(bench).values()} == {"trusted"}
    assert [line.partition(":")[0] for line in told(bench)] == ["ok"]
    say(bench, "/ralph look at it", "--dangerously-bypass-hook-trust")
    assert looped(bench)


@CLAUDE
def test_claude_skips_hooks_where_doctor_says_so(bench: Bench, model: ScriptedModel) -> None:
    path = bench.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "disableAllHooks": True}))

    assert told(bench) == [f"warn: claude skips all hooks, because {path} has disableAllHooks = true"]
    say(bench, "/ralph look at it")
    assert not looped(bench)

    local = bench.project / ".claude" / "settings.local.json"
    local.parent.mkdir(exist_ok=True)
    local.write_text('{"disableAllHooks": false}')
    assert [line.partition(":")[0] for line in told(bench)] == ["ok"]
    say(bench, "/ralph look at it")
    assert looped(bench)


@pytest.mark.parametrize(
    ("agent", "file", "off"),
    [
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"disabled": ["untilgreen"]}}),
        ("copilot", ".copilot/hooks/untilgreen.json", {"disableAllHooks": True}),
        ("qwen", ".qwen/settings.json", {"disableAllHooks": True}),
    ],
    indirect=["agent"],
)
def test_others_skip_hooks_where_doctor_says_so(
    bench: Bench, model: ScriptedModel, file: str, off: dict[str, Any]
) -> None:
    path = bench.home / file
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, **off}))

    (row,) = told(bench)
    assert row.startswith(f"warn: {bench.agent} skips ")
    assert str(path) in row
    say(bench, "/ralph look at it")
    assert not looped(bench)

    path.write_text(json.dumps(settings))
    assert [line.partition(":")[0] for line in told(bench)] == ["ok"]


@CLAUDE
@pytest.mark.parametrize("behind", [False, True], ids=["before ours", "behind ours"])
@pytest.mark.parametrize("blocks", [False, True], ids=["silent", "blocks once"])
def test_a_loop_works_next_to_a_foreign_stop_hook(
    bench: Bench, model: ScriptedModel, *, behind: bool, blocks: bool
) -> None:
    mark = bench.home / "blocked"
    foreign = bench.home / "foreign.py"
    foreign.write_text(
        "import json, pathlib, sys\n"
        "sys.stdin.read()\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        f"if {blocks} and not mark.exists():\n"
        "    mark.touch()\n"
        "    print(json.dumps({'decision': 'block', 'reason': 'Mind the changelog, too.'}))\n"
    )
    path = bench.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    theirs = {"hooks": [{"type": "command", "command": f"{sys.executable} {foreign}"}]}
    settings["hooks"]["Stop"].insert(1 if behind else 0, theirs)
    path.write_text(json.dumps(settings))

    say(bench, "/ralph look at it")

    events = bench.journal()
    assert looped(bench)
    assert mark.exists() is blocks
    assert [turn.claim for turn in of(TurnEnded, events)] == [False, True]
    assert [offer.lap for offer in of(BriefOffered, events)] == [1, 2]
    heard = [asked for asked in model.requests if "Mind the changelog" in str(asked.messages)]
    assert bool(heard) is blocks
