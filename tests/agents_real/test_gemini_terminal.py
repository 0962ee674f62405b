"""A person at the real Gemini CLI, which calls its stop hook even for a turn that was interrupted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest

from tests.agents_real.bench import Bench, of, wait_for
from tests.agents_real.terminal import Terminal, installed
from untilgreen.core.values.events import LapVoided, Paused, RunFinished, TurnEnded
from untilgreen.testing.model.agent_environments import MODELS

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time and goes on and on and on and on.", "chunk_delay": 1.0, "chunk": 4}
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["gemini"], indirect=True),
    pytest.mark.timeout(330),
]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Bench], Terminal]]:
    terminals: list[Terminal] = []

    def open_it(bench: Bench) -> Terminal:
        installed(bench, monkeypatch)
        monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
        words = ["gemini", "-m", MODELS["gemini"], "--yolo"]
        terminals.append(Typing(bench, words, "Type your message"))
        return terminals[-1]

    yield open_it
    for terminal in terminals:
        terminal.close()


class Typing(Terminal):
    """Presses Enter again, as Gemini sometimes takes it for part of the text."""

    def says(self, text: str) -> None:
        super().says(text)
        for _ in range(10):
            if wait_for(lambda: "Type your message" in self.screen(), 3):
                return
            self.key("Enter")


def test_esc_in_a_lap_and_a_question_from_the_user_use_no_lap(
    bench: Bench, opened: Callable[[Bench], Terminal]
) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": "One."}, SLOW, {"text": "That is a file."}, {"text": f"There.\n\n{DONE}"}]
    with bench.model(turns) as model:
        terminal = opened(bench)
        terminal.says("/ralph look at $& it")
        terminal.until(lambda: "This takes" in terminal.screen())
        terminal.key("Escape")
        terminal.until(lambda: of(Paused, bench.journal()))
        assert [event.lap for event in of(LapVoided, bench.journal())] == [2]
        terminal.until(lambda: "is paused: you took over" in terminal.screen())

        terminal.says("what is this")
        terminal.until(lambda: "That is a file." in terminal.screen())
        assert len(of(TurnEnded, bench.journal())) == 1
        terminal.says("/untilgreen go")
        terminal.until(lambda: of(RunFinished, bench.journal()))
    assert any("look at $& it" in asked.last_user for asked in model.requests)
    events = bench.journal()
    assert [event.reason for event in of(Paused, events)] == ["you took over"]
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]


def test_esc_while_the_gates_run_leaves_the_next_lap_unused(
    bench: Bench, opened: Callable[[Bench], Terminal]
) -> None:
    gate = "test -f ../slow || { touch ../slow; exit 1; }; touch ../begun; sleep 6; exit 1"
    with bench.model([{"text": "One."}, {"text": "Two."}]):
        terminal = opened(bench)
        terminal.says(f'/ralph look at it --gate "slow={gate}"')
        terminal.until((bench.project.parent / "begun").exists)
        terminal.key("Escape")
        terminal.until(lambda: of(Paused, bench.journal()))
    events = bench.journal()
    assert [event.lap for event in of(TurnEnded, events)] == [1]
    assert [event.lap for event in of(LapVoided, events)] == [2]
