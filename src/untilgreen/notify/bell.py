"""The terminal's bell, for when you are in another window."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.notify.messages import USUAL, Wanted, check_kinds, news

BELL = "\a"


@dataclass(frozen=True, kw_only=True)
class Bell:
    """Rings the bell of the terminal that drives the run; does nothing without a terminal."""

    on: Wanted = USUAL

    def __post_init__(self) -> None:
        check_kinds(self.on, "bell")

    async def notify(self, event: Event, state: RunState) -> None:
        if news(event, state, self.on) is not None:
            to_terminal(BELL)


def to_terminal(text: str) -> bool:
    """Write to stderr if it is a terminal, else to the process's controlling terminal, if it has one.

    A hook's streams are read by its agent, so its terminal has to be opened by name.
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
    except OSError:  # a terminal held by Ctrl-S would block us
        return False
    finally:
        os.close(terminal)
