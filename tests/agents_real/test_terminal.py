"""A person at the real Claude Code: Esc in a lap, Esc during the hook, and a question in the middle."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.terminal import Terminal, installed
from untilgreen.core.events import Interrupted, LapVoided, Paused, RunFinished, TurnEnded
from untilgreen.testing.model.pointing import MODELS

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time and goes on and on and on and on.", "chunk_delay": 1.0, "chunk": 4}
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["claude"], indirect=True),
]


def _known(bench: Bench) -> None:
    """What Claude Code asks a person once, answered already."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [os.environ["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {str(bench.project): {"hasTrustDialogAccepted": True}},
    }
    (Path(os.environ["CLAUDE_CONFIG_DIR"]) / ".claude.json").write_text(json.dumps(known))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Bench], Terminal]]:
    terminals: list[Terminal] = []

    def open_it(bench: Bench) -> Terminal:
        installed(bench, monkeypatch)
        _known(bench)
        words = ["claude", "--permission-mode", "bypassPermissions", "--model", MODELS["claude"]]
        terminals.append(Terminal(bench, words, "bypass permissions on"))
        return terminals[-1]

    yield open_it
    for terminal in terminals:
        terminal.close()


def test_esc_in_a_lap_and_a_question_of_ones_own_use_no_lap(
    bench: Bench, opened: Callable[[Bench], Terminal]
) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": "One."}, SLOW, {"text": "That is a file."}, {"text": f"There.\n\n{DONE}"}]
    with bench.model(turns):
        terminal = opened(bench)
        terminal.says("/ralph look at it")
        terminal.until(lambda: "● This" in terminal.screen())
        terminal.key("Escape")
        terminal.until(lambda: "Interrupted" in terminal.screen())

        terminal.says("what is this?")
        terminal.until(lambda: "is paused: you took over" in terminal.screen())
        terminal.until(lambda: "That is a file." in terminal.screen())
        terminal.until(lambda: "esc to interrupt" not in terminal.screen())
        assert len(of(TurnEnded, bench.journal())) == 1

        terminal.says("/untilgreen go")
        terminal.until(lambda: bool(of(RunFinished, bench.journal())))
    events = bench.journal()
    assert [event.lap for event in of(LapVoided, events)] == [2]
    assert [event.reason for event in of(Paused, events)] == ["you took over"]
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]


def test_esc_during_the_hook_ends_its_gates_and_the_loop_waits(
    bench: Bench, opened: Callable[[Bench], Terminal]
) -> None:
    gate = "test -f ../slow || { touch ../slow; exit 1; }; touch ../begun; sleep 300"
    with bench.model([{"text": "One."}, {"text": "Two."}]):
        terminal = opened(bench)
        terminal.says(f'/ralph look at it --gate "slow={gate}"')
        terminal.until((bench.project.parent / "begun").exists)
        terminal.key("Escape")
        terminal.until(lambda: bool(of(Interrupted, bench.journal())))
        terminal.until(lambda: not bench.processes("sleep 300"))
        terminal.until(lambda: "esc to interrupt" not in terminal.screen())
    assert len(of(TurnEnded, bench.journal())) == 1
