"""What a run keeps beside its journal, in its folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.engine.clock import SystemClock
from untilgreen.engine.store import RunFolder
from untilgreen.ports import Activity

Watcher = Callable[[Activity], None]


class Last(Struct, frozen=True, kw_only=True):
    """The last thing that an agent showed, when, and in which lap."""

    at: float
    lap: int
    activity: Activity


def last_shown(folder: RunFolder) -> Last | None:
    """None where nothing was shown yet."""
    try:
        return msgspec.json.decode(_now(folder).read_bytes(), type=Last)
    except (OSError, ValueError):
        return None


def _now(folder: RunFolder) -> Path:
    return folder.path / "activity" / "now.json"


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
        """What the agent was told; a folder that somebody removed is made again."""
        path = self._folder.brief(lap, attempt)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")

    def report(self, lap: int, activity: Activity) -> None:
        """Hand on what the agent shows, also to other processes; that they can't be told stops nothing."""
        with suppress(OSError):
            self._keep(lap, activity)
        for watcher in self._watchers:
            watcher(activity)

    def _keep(self, lap: int, activity: Activity) -> None:
        """By a rename, so that nobody reads half of it."""
        shown = replace(activity, text=activity.text.encode(errors="replace").decode())
        path = _now(self._folder)
        new = path.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(Last(at=SystemClock().now(), lap=lap, activity=shown)))
        new.replace(path)

    def pointer(self, path: Path | None) -> str | None:
        """A path as an event names it."""
        return None if path is None else self._folder.pointer(path)
