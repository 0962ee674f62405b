"""Real time."""

from __future__ import annotations

import time

import anyio

LONGEST_NAP = 60.0
"""How late a wait may end after the machine was suspended."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    async def sleep_until(self, moment: float) -> None:
        """Sleep in short steps, since the wall clock may jump while the timer does not."""
        while (left := moment - self.now()) > 0:  # noqa: ASYNC110 - nobody sets an event when a moment comes
            await anyio.sleep(min(left, LONGEST_NAP))
