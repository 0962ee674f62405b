"""The record of a run on this disk: a file of lines, a lock, commands as files."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from untilgreen.core.loop.receive import Arrival, receive, refusal
from untilgreen.core.values.driver import Driver
from untilgreen.engine.store import inbox, lock
from untilgreen.engine.store.activity_log import ActivityLog
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.reading import fold_file, loaded_after
from untilgreen.engine.store.run_folder import RunFolder
from untilgreen.engine.store.scratch import Scratch
from untilgreen.errors import JournalError, JournalLocked, RunGone
from untilgreen.journal.codec import End
from untilgreen.journal.file import FileJournal
from untilgreen.journal.folder_changes import FolderChanges
from untilgreen.journal.fsync import identity
from untilgreen.ports import Hold, LoadedRun, ShownActivity

NEWS_SECONDS = 0.2
"""How often others check a run for news."""
LOOK_SECONDS = 1.0
"""How often the driver checks the inbox: not every file system reports what others write."""
PATIENCE_SECONDS = 2.0
"""How long a sender waits for others to release the lock before it uses the inbox."""
_PAUSE_SECONDS = 0.01


class _LastReading:
    """What was last read of a journal, valid until somebody writes to its file."""

    seen: tuple[int, int, int] | None = None
    run: LoadedRun | None = None
    end: End = End()


class _News:
    """Wakes the driver when something arrives."""

    inbox: FolderChanges | None = None


@dataclass(frozen=True, eq=False)
class FolderRecord(RunFolder):
    """One run: anyone can read it; only the process that holds its lock can drive it."""

    _last: _LastReading = field(default_factory=_LastReading, repr=False)
    _news: _News = field(default_factory=_News, repr=False)

    @property
    def in_fleet(self) -> bool:
        """Whether a fleet drives the run, and this folder is only a copy to read."""
        return False

    @property
    def scratch(self) -> Scratch:
        """What only this machine needs to drive the run."""
        state_dir = self.path.parent.parent
        worktree = state_dir / "worktrees" / self.id
        return Scratch(run=self.id, path=self.path, worktree=worktree, state_dir=state_dir)

    def read(self) -> LoadedRun:
        """The run as its journal has it now, read again only if somebody has written to it.

        A command calls this several times before it drives, and a long journal takes a second to fold.
        """
        run, _ = self._current()
        if run is None and not self.path.exists():
            raise RunGone(self.id)
        if run is None:
            raise JournalError(
                f"The journal of run {self.id} is empty. Start a new run with `untilgreen run`."
            )
        return run

    async def load(self) -> LoadedRun:
        return await anyio.to_thread.run_sync(self.read)

    def open_journal(self) -> FileJournal:
        return FileJournal(self.journal)

    @asynccontextmanager
    async def hold(self, driver: Driver) -> AsyncIterator[Hold]:
        async with lock.hold_when_free(self.lock, run=self.id, driver=driver):
            run, end = await anyio.to_thread.run_sync(self._current)
            with FolderChanges(self.inbox) as self._news.inbox:
                yield Hold(journal=FileJournal(self.journal, end), run=run)

    async def check(self) -> None:
        """Do nothing: nobody can take the lock from a living process."""

    async def driver(self) -> Driver | None:
        return lock.owner(self.lock)

    async def send(self, arrival: Arrival) -> str:
        return self._letters.send(arrival)

    async def arrived(self) -> Sequence[tuple[str, Arrival]]:
        return self._letters.arrived()

    async def answered(self, letter: str, refused: str) -> None:
        self._letters.answered(letter, refused)

    async def reply(self, letter: str, seconds: float) -> str | None:
        return await self._letters.reply(letter, seconds)

    async def wake(self) -> None:
        """Record the commands in the inbox here, unless the run has a driver."""
        with suppress(JournalLocked), lock.hold_briefly(self.lock, run=self.id):
            await anyio.to_thread.run_sync(self._take_all)

    def take_at_once(self, arrival: Arrival) -> str | None:
        """Record a command without an event loop, which takes longer to load than all of this.

        It skips the inbox, so that others who wait for the lock get it after one write to the disk. Returns
        why it was refused, or None if the lock is not free and the command has to be sent.
        """
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with lock.hold_briefly(self.lock, run=self.id):
                    self._take_all()
                    return self._take(arrival)
            except JournalLocked:
                if lock.owner(self.lock) is not None or time.monotonic() > until:
                    return None
            time.sleep(_PAUSE_SECONDS)  # noqa: TID251 - another sender has it for a moment; no loop to wait in

    def _take_all(self) -> None:
        for letter, arrival in self._letters.arrived():
            self._letters.answered(letter, self._take(arrival))

    def _take(self, arrival: Arrival) -> str:
        """Record a command while holding the lock; returns why it was refused."""
        run = self.read()
        why_not = refusal(run.state, arrival)
        events = () if why_not else receive(run.state, arrival)
        if events:
            journal = FileJournal(self.journal, self._last.end)
            journal.append_now(*events)
            self._last.run, self._last.end = loaded_after(run, events, journal.end), journal.end
            self._last.seen = identity(self.journal)
        return why_not

    async def wait_for_news(self, seconds: float) -> None:
        if self._news.inbox is None:
            await anyio.sleep(min(seconds, NEWS_SECONDS))
        else:
            await self._news.inbox.wait(min(seconds, LOOK_SECONDS))

    async def keep(self, name: str, path: Path) -> None:
        """Copy the file, unless it is in the run's folder already, as this machine's scratch is."""
        if path != self.path / name:
            (self.path / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            put(self.path / name, await anyio.Path(path).read_bytes())

    async def kept(self, name: str) -> bytes | None:
        with suppress(OSError):
            return await anyio.Path(self.path, name).read_bytes()
        return None

    def show(self, shown: ShownActivity) -> None:
        with suppress(OSError):  # a failure to show it must not stop the run
            self._shown.add(shown)

    async def shown(self) -> ShownActivity | None:
        return self._shown.last()

    async def activity(self, lap: int, attempt: int = 1, offset: int = 0) -> tuple[list[ShownActivity], int]:
        return await anyio.to_thread.run_sync(self._shown.read, lap, attempt, offset)

    @property
    def _letters(self) -> inbox.Inbox:
        return inbox.Inbox(self.inbox, self.id)

    @property
    def _shown(self) -> ActivityLog:
        return ActivityLog(self.path / "activity")

    def _current(self) -> tuple[LoadedRun | None, End]:
        last, seen = self._last, identity(self.journal)
        if last.seen is None or last.seen != seen:
            last.run, last.end = fold_file(self.journal)
            torn = seen is not None and seen[1] != last.end.size  # what replaces it may be just as long
            last.seen = None if torn else seen
        return last.run, last.end
