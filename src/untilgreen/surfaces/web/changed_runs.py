"""Notices which runs have changed, once for all followers, and only while there are any."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from untilgreen.surfaces.web.runs import Runs

LOOK_SECONDS = 0.5


class ChangedRuns:
    """Tells every follower the names of runs whose journals grew, or that are new."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._followers = 0
        self._changed: list[str] = []
        self._news = anyio.Event()
        self._wanted = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ChangedRuns]:
        """Followers are notified as long as this block lasts."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
            try:
                yield self
            finally:
                group.cancel_scope.cancel()

    async def follow(self) -> AsyncIterator[str]:
        """The name of each run that changes from now on."""
        self._followers += 1
        self._wanted.set()
        try:
            while True:
                news = self._news
                await news.wait()
                for name in self._changed:
                    yield name
        finally:
            self._followers -= 1

    async def _watch(self) -> None:
        while True:
            await self._wanted.wait()
            seen = await self._runs.marks()
            while self._followers:
                await anyio.sleep(LOOK_SECONDS)
                now = await self._runs.marks()
                if changed := [name for name, mark in now.items() if seen.get(name) != mark]:
                    self._changed = changed
                    self._news.set()
                    self._news = anyio.Event()
                seen = now
            self._wanted = anyio.Event()
