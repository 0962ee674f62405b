"""Saves the files that an event names before the event itself, so that its readers can read them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from untilgreen.core.values.events import BriefOffered, Event, GateChecked, TurnEnded
from untilgreen.core.values.state import RunState
from untilgreen.engine.worktree.place import Place
from untilgreen.ports import Journal, Record


class KeepingJournal:
    """A journal that first saves every file that an event names."""

    current: Callable[[], RunState]
    """The state before the next events."""

    def __init__(self, inner: Journal, record: Record, place: Place) -> None:
        self._inner = inner
        self._record = record
        self._place = place
        self._scratch = place.scratch

    async def append(self, *events: Event) -> None:
        for event in events:
            await self._keep(event)
        await self._inner.append(*events)

    async def _keep(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and (lap := self.current().open) is not None:
            # Otherwise a machine that dies right after this event would take a whole turn's work with it.
            await self._place.leave(lap.number, lap.attempt)
        for path in self._named(event):
            if path.exists():
                await self._record.keep(self._scratch.pointer(path), path)

    async def events(self) -> Sequence[Event]:
        return await self._inner.events()

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        return self._inner.follow(after)

    def _named(self, event: Event) -> list[Path]:
        folder = self._scratch.path / "activity"
        match event:
            case BriefOffered(lap=lap):
                return _newest(folder.glob(f"{lap:03d}*-brief.md"))
            case TurnEnded(lap=lap):
                return _newest(path for path in folder.glob(f"{lap:03d}*.jsonl") if _raw(path))
            case GateChecked(verdict=verdict) if verdict.output:
                return [self._scratch.path / verdict.output]
        return []


def _newest(paths: Iterable[Path]) -> list[Path]:
    """Of the attempts at a lap, only the last one has not been saved yet."""
    return sorted(paths, key=lambda path: path.stat().st_mtime_ns)[-1:]


def _raw(path: Path) -> bool:
    """Whether it is the agent's raw stream; activity is saved as it is shown."""
    return not path.name.endswith(".shown.jsonl")
