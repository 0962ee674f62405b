"""The terminal's own bell, for who sits in another window."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from untilgreen.core.events import Event
from untilgreen.core.state import RunState
from untilgreen.notify.news import USUAL, known, news

BELL = "\a"


@dataclass(frozen=True, kw_only=True)
class Bell:
    """Rings the terminal that the run is driven from; where there is none, nothing rings."""

    on: Sequence[str] = USUAL
    """Which news are worth it."""

    def __post_init__(self) -> None:
        known(self.on, "bell")

    async def notify(self, event: Event, state: RunState) -> None:
        if news(event, state, self.on) is not None:
            to_terminal(BELL)


def to_terminal(text: str) -> bool:
    """Write to stderr where it is a terminal, else to the one that this process belongs to, if any.

    A hook's own streams are read by its agent, so its terminal has to be asked for by name.
    """
    if sys.stderr.isatty():
        sys.stderr.write(text)
        sys.stderr.flush()
        return True
    if os.name != "posix":
        return False
    try:
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.write(terminal, text.encode()) > 0
    except OSError:  # one that is held by Ctrl-S would keep us waiting
        return False
    finally:
        os.close(terminal)
