"""Saves what is too long for the journal, and passes the agent's activity to watchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from untilgreen.engine.store.scratch import Scratch
from untilgreen.ports import Activity, Clock, Record, ShownActivity

Watcher = Callable[[Activity], None]


class RunFiles:
    """Transcripts, outputs and briefs of one run; watchers get the agent's activity."""

    def __init__(
        self, record: Record, scratch: Scratch, clock: Clock, watchers: Sequence[Watcher] = ()
    ) -> None:
        self._record = record
        self._scratch = scratch
        self._watchers = watchers
        self.clock = clock

    def transcript(self, lap: int, attempt: int) -> Path | None:
        return self._scratch.transcript(lap, attempt)

    def output(self, lap: int, gate: str) -> Path | None:
        return self._scratch.output(lap, gate)

    def tree(self, what: str) -> Path | None:
        return self._scratch.tree(what)

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """Save the brief; recreate the folder if somebody removed it."""
        path = self._scratch.brief(lap, attempt)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        """Pass on the agent's activity, also to other processes."""
        at = self.clock.now()
        self._record.show(ShownActivity(at=at, lap=lap, attempt=attempt, activity=activity))
        for watcher in self._watchers:
            watcher(activity)

    def pointer(self, path: Path | None) -> str | None:
        return None if path is None else self._scratch.pointer(path)
