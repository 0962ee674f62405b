"""A person at the real OpenCode: what our plugin says is shown as toasts, and Esc pauses the loop."""

from __future__ import annotations

import shutil

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.terminal import Terminal, installed
from tests.agents_real.test_opencode_sessions import no_download
from untilgreen.core.values.events import LapVoided, Paused, RunFinished, TurnEnded

DONE = "<promise>DONE</promise>"
SLOW = {"text": "This takes its time" + " and goes on" * 40, "chunk_delay": 1.0, "chunk": 8}
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["opencode"], indirect=True),
    pytest.mark.timeout(500),
]


def test_toasts_show_the_state_of_the_loop_and_esc_pauses_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    slowly = {"text": f"There.\n\n{DONE}", "delay": 3.0}
    with bench.model([{"text": "One."}, SLOW, slowly]):
        installed(bench, monkeypatch)
        no_download(bench.home / ".config/opencode")
        terminal = Terminal(bench, ["opencode"], "Ask anything")
        try:
            terminal.says("/ralph x --max-iteration=3")
            terminal.until(lambda: "There is no flag '--max-iteration'" in terminal.screen())
            terminal.says("/ralph look at it")
            terminal.until(lambda: "loop started, lap 1 of 20" in terminal.screen())
            terminal.until(lambda: "untilgreen" in terminal.screen() and "lap 2 of 20" in terminal.screen())
            terminal.until(lambda: "This takes" in terminal.screen())
            terminal.key("Escape")
            terminal.until(lambda: "again to interrupt" in terminal.screen())
            terminal.key("Escape")
            terminal.until(lambda: "is paused: you took over" in terminal.screen())
            assert "is paused: you took over" in bench.cli("session", "list")[1]

            terminal.says("/untilgreen go")
            terminal.until(lambda: of(RunFinished, bench.journal()))
            terminal.until(lambda: "complete after 2 laps: claimed" in terminal.screen())
        finally:
            terminal.close()
    events = bench.journal()
    assert [event.lap for event in of(LapVoided, events)] == [2]
    assert [event.reason for event in of(Paused, events)] == ["you took over"]
    assert [(event.lap, event.claim) for event in of(TurnEnded, events)] == [(1, False), (2, True)]
