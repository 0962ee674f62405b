"""An agent that stops at its own cap, whatever our hook says; a person continues from there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from tests.agents_real.bench import Bench, of
from tests.agents_real.terminal import Terminal
from untilgreen.core.values.events import LapVoided, RunFinished, TurnEnded

DONE = "<promise>DONE</promise>"
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.parametrize("agent", ["claude"], indirect=True),
    pytest.mark.timeout(330),
]


def test_a_loop_that_its_agent_stopped_at_a_cap_continues_with_go(
    bench: Bench, opened: Callable[[Bench], Terminal]
) -> None:
    settings = bench.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}}))
    (bench.project / "untilgreen.toml").write_text("detectors = []\n")
    turns = [{"text": text} for text in ("One.", "Two.", "Three.", f"There.\n\n{DONE}")]
    with bench.model(turns):
        terminal = opened(bench)
        terminal.says("/ralph look at it")
        terminal.until(lambda: "overriding" in terminal.screen())
        assert "lap 4/20" in bench.cli("session", "list")[1]
        assert len(of(TurnEnded, bench.journal())) == 3

        terminal.says("/untilgreen go")
        terminal.until(lambda: of(RunFinished, bench.journal()))
    events = bench.journal()
    assert [(event.lap, event.reason) for event in of(LapVoided, events)] == [(4, "started again")]
    assert [event.lap for event in of(TurnEnded, events)] == [1, 2, 3, 4]
    assert of(RunFinished, events)[0].outcome == "claimed"
