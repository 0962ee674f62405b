"""LISTEN in a thread: a writer wakes everybody who waits for news of a run; a lost one only means a poll."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio
import psycopg
from anyio import from_thread, lowlevel

from untilgreen.journal.postgres.database import connect

POLL_SECONDS = 2.0


class Heard:
    """Whether there was a notice about a run since the last check."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._token = lowlevel.current_token()

    async def wait(self, seconds: float = POLL_SECONDS) -> None:
        """Return at the next notice, or after this many seconds."""
        with anyio.move_on_after(min(seconds, POLL_SECONDS)):
            await self._event.wait()
        self._event = anyio.Event()

    def tell(self) -> None:
        """Wake the waiting task, from any thread."""
        with suppress(Exception):  # an event loop that has ended takes no calls
            from_thread.run_sync(self._set, token=self._token)

    def _set(self) -> None:
        self._event.set()


class Notices:
    """One connection that listens for all runs of this process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._heard: dict[str, list[Heard]] = {}
        self._door = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def about(self, run: str) -> Iterator[Heard]:
        """Get notices about one run while the block runs."""
        heard = Heard()
        with self._door:
            self._heard.setdefault(run, []).append(heard)
            if self._thread is None:
                self._thread = threading.Thread(target=self._listen, daemon=True)
                self._thread.start()
        try:
            yield heard
        finally:
            with self._door:
                self._heard[run].remove(heard)
                if not self._heard[run]:
                    del self._heard[run]

    def _listen(self) -> None:
        while self._wanted():
            try:
                with connect(self._url, "untilgreen-listen") as connection:
                    connection.execute("LISTEN $schema")
                    for run in list(self._heard):  # for notices sent before we listened
                        self._tell(run)
                    while self._wanted():
                        for notice in connection.notifies(timeout=0.5):
                            self._tell(notice.payload)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                threading.Event().wait(0.2)

    def _wanted(self) -> bool:
        """Whether anybody listens; else this thread ends, and the next listener starts another."""
        with self._door:
            if self._heard:
                return True
            self._thread = None
            return False

    def _tell(self, run: str) -> None:
        for heard in list(self._heard.get(run, ())):
            heard.tell()
