"""What a run keeps beside its journal, in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from untilgreen.engine.store import RunFolder
from untilgreen.ports import Activity

Watcher = Callable[[Activity], None]


class FolderFiles:
    """Transcripts, outputs and briefs of one run; whoever watches hears the agent's activity."""

    def __init__(self, folder: RunFolder, watchers: tuple[Watcher, ...] = ()) -> None:
        self._folder = folder
        self._watchers = watchers

    def transcript(self, lap: int, attempt: int) -> Path | None:
        """The agent's raw stream."""
        return self._folder.activity(lap, attempt)

    def output(self, lap: int, gate: str) -> Path | None:
        """All that a gate printed."""
        return self._folder.output(lap, gate)

    def tree(self, what: str) -> Path | None:
        """The note about the processes of a turn, or of a gate."""
        return self._folder.tree(what)

    def keep_brief(self, lap: int, attempt: int, text: str) -> None:
        """What the agent was told."""
        self._folder.brief(lap, attempt).write_text(text, encoding="utf-8", errors="surrogatepass")

    def report(self, lap: int, activity: Activity) -> None:
        """Hand on what the agent shows."""
        for watcher in self._watchers:
            watcher(activity)

    def pointer(self, path: Path | None) -> str | None:
        """A path as an event names it."""
        return None if path is None else self._folder.pointer(path)
