"""A person at the real Claude Code: Esc in a lap, Esc during the hook, and a question in the middle."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agents_real.bench import Bench, of
from untilgreen.core.events import Interrupted, LapVoided, Paused, RunFinished, TurnEnded
from untilgreen.testing.model.pointing import MODELS

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time and goes on and on and on and on.", "chunk_delay": 1.0, "chunk": 4}
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["claude"], indirect=True),
]


class Terminal:
    """Claude Code on a terminal of its own, with our hooks."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for name, value in {"UNTILGREEN_STATE_DIR": str(bench.state), "PATH": here}.items():
            monkeypatch.setenv(name, value)
        assert bench.cli("install", "claude")[0] == 0
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [os.environ["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
            "projects": {str(bench.project): {"hasTrustDialogAccepted": True}},
        }
        (Path(os.environ["CLAUDE_CONFIG_DIR"]) / ".claude.json").write_text(json.dumps(known))
        self._tmux = ["tmux", "-S", str(bench.home / "tmux")]
        self._bench = bench
        words = ["claude", "--permission-mode", "bypassPermissions", "--model", MODELS["claude"]]
        start = ["-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50"]
        subprocess.run([*self._tmux, *start, *words], cwd=bench.project, check=True)
        self.until(lambda: "bypass permissions on" in self.screen())

    def screen(self) -> str:
        return subprocess.run(
            [*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True
        ).stdout

    def says(self, text: str) -> None:
        """A person types, and means it."""
        self.key(text)
        time.sleep(0.5)  # what comes at once is taken for a paste, and Enter for a part of it
        self.key("Enter")

    def key(self, name: str) -> None:
        subprocess.run([*self._tmux, "send-keys", name], check=True)

    def until(self, true: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not true():
            assert time.monotonic() < end, self.screen()
            time.sleep(0.2)

    def close(self) -> None:
        """Close the terminal, and wait until all that ran in it is gone."""
        subprocess.run([*self._tmux, "kill-server"], check=False)
        end = time.monotonic() + 20
        while self._bench.processes() and time.monotonic() < end:
            time.sleep(0.2)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Bench], Terminal]]:
    terminals: list[Terminal] = []

    def open_it(bench: Bench) -> Terminal:
        terminals.append(Terminal(bench, monkeypatch))
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
