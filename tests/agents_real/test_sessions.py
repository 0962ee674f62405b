"""Loops inside real sessions: /ralph, the stop hook, and what the journal knows about it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.terminal import installed
from untilgreen.core.values.events import BriefOffered, LapVoided, RunFinished, TurnEnded
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.runs import Store
from untilgreen.surfaces.install.targets import TARGETS
from untilgreen.testing.model.agent_environments import MODELS

DONE = "<promise>DONE</promise>"
COMMANDS = {
    "claude": ["claude", "-p", "--permission-mode", "bypassPermissions", "--model", MODELS["claude"]],
    "codex": [
        "codex",
        "exec",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--skip-git-repo-check",
        "-m",
        MODELS["codex"],
    ],
    "gemini": ["gemini", "--yolo", "--skip-trust", "-m", MODELS["gemini"], "-p"],
    "qwen": ["qwen", "--auth-type", "openai", "--yolo", "-p"],
    "copilot": ["copilot", "--allow-all-tools", "--no-auto-update", "--model", MODELS["copilot"], "-p"],
}
INSIDE = pytest.mark.parametrize("agent", list(COMMANDS), indirect=True)
NO_CAP = pytest.mark.parametrize("agent", ["claude", "codex", "gemini"], indirect=True)


def say(bench: Bench, prompt: str, *without: str, then: Sequence[str] = ()) -> None:
    """Send one prompt to the agent without a terminal, and wait until it ends.

    The command leaves out the flags in `without`; the words in `then` come before the prompt.
    """
    command = [word for word in COMMANDS[bench.agent] if word not in without] + list(then)
    done = subprocess.run(
        [*command, prompt],
        cwd=bench.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done


def talk(bench: Bench, turns: list[Any], prompt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one conversation without a terminal, with our hooks in the agent's own settings."""
    with bench.model(turns):
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for name, value in {"UNTILGREEN_STATE_DIR": str(bench.state), "PATH": here}.items():
            monkeypatch.setenv(name, value)
        code, said = bench.cli("install", "--yes", bench.agent)
        assert code == 0, said
        say(bench, prompt)


@INSIDE
def test_a_session_is_kept_going_until_the_gate_is_green_and_the_promise_was_given(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [
        {"text": "I looked around."},
        {"text": f"All is well.\n\n{DONE}"},
        {"calls": [{"shell": "touch ok"}]},
        {"text": f"Now it is.\n\n{DONE}"},
    ]
    talk(bench, turns, '/ralph "make it `ok` $& now" --gate "tests=test -f ok"', monkeypatch)

    events = bench.journal()
    (finished,) = of(RunFinished, events)
    assert (finished.outcome, finished.reason) == ("converged", "all required gates pass in lap 3")
    assert [turn.claim for turn in of(TurnEnded, events)] == [False, True, True]
    assert [offer.own_turn for offer in of(BriefOffered, events)] == [True, False, False]


@NO_CAP
@pytest.mark.timeout(330)  # each lap has two hooks, and some agents are slow between them
def test_twenty_laps_work_in_spite_of_caps(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": f"Part {chr(97 + lap) * 3} is looked at."} for lap in range(19)]
    talk(bench, [*turns, {"text": f"There.\n\n{DONE}"}], "/ralph look at it --max-iterations=25", monkeypatch)

    events = bench.journal()
    (finished,) = of(RunFinished, events)
    assert (finished.outcome, len(of(TurnEnded, events))) == ("claimed", 20)


@pytest.mark.parametrize(
    "agent", [name for name, target in TARGETS.items() if target.laps_in_a_row], indirect=True
)
@pytest.mark.timeout(330)
def test_an_agent_with_a_cap_makes_as_many_laps_in_a_row_as_its_user_was_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    laps = TARGETS[bench.agent].laps_in_a_row
    assert laps is not None
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": f"Part {chr(97 + lap) * 3} is looked at."} for lap in range(laps + 3)]
    talk(bench, turns, "/ralph look at it", monkeypatch)

    events = bench.journal()
    assert (len(of(TurnEnded, events)), of(RunFinished, events)) == (laps, [])


@NO_CAP
def test_a_start_that_fails_does_not_reach_the_model(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with bench.model([{"text": "I should not have been asked."}]) as model:
        monkeypatch.setenv("UNTILGREEN_STATE_DIR", str(bench.state))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert bench.cli("install", "--yes", bench.agent)[0] == 0
        subprocess.run(
            [*COMMANDS[bench.agent], "/ralph x --max-iteration=3"],
            cwd=bench.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
        )
        assert not [asked for asked in model.requests if "max-iteration" in asked.last_user]


@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_a_codex_that_ended_in_the_middle_leaves_its_run_to_the_same_session(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    with bench.model([{"text": "One."}, {"error": 400, "message": "no"}, {"text": f"There.\n\n{DONE}"}]):
        installed(bench, monkeypatch)
        with pytest.raises(AssertionError, match="no"):
            say(bench, "/ralph look at it")
        assert [(event.lap, event.reason) for event in of(LapVoided, bench.journal())] == [
            (2, "its session ended")
        ]
        assert "its session ended. Continue with: $untilgreen go" in bench.cli("session", "list")[1]

        (note,) = session_notes.notes(Store(bench.state))
        say(bench, "$untilgreen go", then=["resume", note.session])
    events = bench.journal()
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]
    assert of(RunFinished, events)[0].outcome == "claimed"
