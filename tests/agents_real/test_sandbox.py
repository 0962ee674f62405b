"""Each real agent works inside the sandbox, and keeps its conversations and nothing else."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.agents_real.bench import TWO_LAPS, Bench, of
from untilgreen.core.values.events import TurnEnded
from untilgreen.core.values.model import Outcome

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed: bwrap")
SANDBOX = {
    "mode": "bwrap",
    "network": "agents",
    "env": ["SCRIPTED_KEY", "AGENT_BENCH"],
    "as_root": os.getuid() == 0,
}
WANTS_THE_INDEX = ("aider",)
"""Agents that add new files to git's index, which they can't do in place."""


@pytest.mark.parametrize("session", ["fresh", "continue"])
def test_a_wrong_lap_is_followed_by_a_right_one(bench: Bench, agent: str, session: str) -> None:
    (bench.home / ".ssh").mkdir()
    workspace = "worktree" if agent in WANTS_THE_INDEX else "in-place"
    with bench.model(TWO_LAPS):
        state, events = bench.run(session=session, sandbox=SANDBOX, workspace=workspace)

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    first, second = (turn.reply for turn in of(TurnEnded, events))
    assert "I wrote it." in first.text
    assert "Now it is right." in second.text
    if first.session:
        assert (first.session == second.session) == (session == "continue")


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_claude_reads_its_settings_in_the_usual_places_and_changes_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bench.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text("{}")
    (bench.home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')
    with bench.model(TWO_LAPS):
        monkeypatch.delenv("CLAUDE_CONFIG_DIR")
        state, _ = bench.run(session="continue", sandbox=SANDBOX)

    assert (state.outcome, len(state.laps)) == (Outcome.CONVERGED, 2), state.reason
    assert (folder / "settings.json").read_text() == "{}"
    assert (bench.home / ".claude.json").read_text() == '{"hasCompletedOnboarding": true}'
    assert list((folder / "projects").rglob("*.jsonl"))
