"""The long texts of a run that the live view can open: the agent's output, its brief, the last diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from untilgreen.core.values.state import RunState
from untilgreen.engine.store.scratch import Scratch
from untilgreen.errors import UntilgreenError

MOST = 2_000_000
"""Bytes from the end of an output that are shown."""


class RunTexts:
    """Reads from a run's folder; if that fails, returns a sentence that says so."""

    def __init__(self, scratch: Scratch, state: Callable[[], RunState]) -> None:
        self._scratch = scratch
        self._state = state

    def output(self) -> str:
        """What the agent printed in its latest turn."""
        return _read(self._scratch.transcript(*self._latest()), "The agent has not started yet.")

    def brief(self) -> str:
        """What the agent was told for its latest turn."""
        return _read(self._scratch.brief(*self._latest()), "No brief was written yet.")

    async def diff(self) -> str:
        """What the last lap changed, without secrets."""
        from untilgreen.engine.worktree.snapshots import lap_diff

        state = self._state()
        lap = state.laps[-1] if state.laps else None
        if lap is None or lap.base is None or lap.snapshot is None:
            return "No lap has finished yet."
        if not lap.moved:
            return f"Lap {lap.number} changed no files."
        try:
            return await lap_diff(state, self._scratch, lap)
        except UntilgreenError as error:
            return f"The diff can't be shown: {error}"

    def _latest(self) -> tuple[int, int]:
        state = self._state()
        lap = state.open
        return (lap.number, lap.attempt) if lap and lap.offered else (len(state.laps), 1)


def _read(path: Path, missing: str) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MOST))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return missing
