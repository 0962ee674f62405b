"""The terminal's own bell, for who sits in another window."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from untilgreen.core.events import Event
from untilgreen.core.state import RunState
from untilgreen.notify.news import KINDS, known, news

BELL = "\a"


@dataclass(frozen=True, kw_only=True)
class Bell:
    """Rings the terminal that the run is driven from; where there is none, nothing rings."""

    on: Sequence[str] = KINDS
    """Which news are worth it."""

    def __post_init__(self) -> None:
        known(self.on, "bell")

    async def notify(self, event: Event, state: RunState) -> None:
        if news(event, state, self.on) is not None and sys.stderr.isatty():
            sys.stderr.write(BELL)
            sys.stderr.flush()
