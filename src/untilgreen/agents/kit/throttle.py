"""Shows a program's output at a speed people can follow; all of it is in the transcript anyway."""

from __future__ import annotations

import time
from collections.abc import Callable

from untilgreen.core.briefing.excerpt import trim
from untilgreen.ports import Activity

LINES_PER_SECOND = 20.0
BURST = 200
"""How many lines may be shown in one burst."""
LONGEST_SHOWN = 2_000


class Throttle:
    """Reports lines as activity, and how many it skipped."""

    def __init__(
        self, report: Callable[[Activity], None], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report = report
        self._clock = clock
        self._room = float(BURST)
        self._last = clock()
        self._hidden = 0

    def line(self, text: str) -> None:
        """Show one line, unless it is blank."""
        if not text.strip():
            return
        now = self._clock()
        self._room = min(BURST, self._room + (now - self._last) * LINES_PER_SECOND)
        self._last = now
        if self._room < 1:
            self._hidden += 1
            return
        self._room -= 1
        self.close()
        self._report(Activity(kind="output", text=trim(text, LONGEST_SHOWN)))

    def close(self) -> None:
        """Report how many lines were skipped since the last one."""
        if self._hidden:
            self._report(Activity(kind="note", text=f"{self._hidden:,} more lines are in the transcript."))
            self._hidden = 0
