"""Counts what a command writes to disk, and notices when it exceeds the limit.

Reading the file system's totals is cheap, but they include what everyone else writes. So only when they have
grown by a fraction of the limit are the files counted that changed since the command began, in the places
that it can write.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from anyio import sleep, to_thread
from msgspec import Struct, field

PAUSE_SECONDS = 1.0
_PARTS = 4
"""Files are counted each time the file system has grown by the limit divided by this."""
_BLOCK = 512
_CLOCK_SECONDS = 0.1
"""File times come from a clock that lags a little."""


class DiskWatch(Struct, kw_only=True):
    """One command, and how much it may write."""

    places: tuple[Path, ...]
    most: int
    _began: float = field(default_factory=lambda: time.time() - _CLOCK_SECONDS)
    _used: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._used = _used(self.places)

    async def until_too_much(self) -> None:
        """Return once the command has written more than the limit."""
        while not await to_thread.run_sync(self.too_much, abandon_on_cancel=True):  # noqa: ASYNC110 - nothing to wait for
            await sleep(PAUSE_SECONDS)

    def too_much(self) -> bool:
        """Whether the files written or changed since the command began take more than the limit."""
        now = _used(self.places)
        if all(used - self._used.get(device, 0) <= self.most // _PARTS for device, used in now.items()):
            return False
        self._used = now
        return sum(_changed(self.places, self._began)) > self.most


def _used(places: Iterable[Path]) -> dict[int, int]:
    """Bytes in use on each file system that holds one of these places."""
    found = {}
    for place in places:
        try:
            device, numbers = place.stat().st_dev, os.statvfs(place)
        except OSError:
            continue
        found[device] = (numbers.f_blocks - numbers.f_bfree) * numbers.f_frsize
    return found


def _changed(places: Iterable[Path], since: float) -> Iterator[int]:
    """The sizes on disk of files changed since then, by ctime, which no program can set back."""
    seen = set()
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                try:
                    found = os.lstat(f"{folder}/{name}")
                except OSError:
                    continue
                if found.st_ctime >= since and (found.st_dev, found.st_ino) not in seen:
                    seen.add((found.st_dev, found.st_ino))
                    yield found.st_blocks * _BLOCK
