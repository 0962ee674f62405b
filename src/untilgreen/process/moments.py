"""When something happens and when this process began, on one clock.

Linux says when a process began on the clock that counts from the boot, sleep included; a wall clock that
somebody sets in between confuses nothing. Elsewhere it is the time at which the program was entered.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from untilgreen.core.model import Moment

_PROC = Path("/proc")
_WALL = "wall"
_STARTTIME = 19  # fields behind the command's name, which may have blanks in it: proc(5), field 22


def now() -> Moment:
    """This moment."""
    boot = _boot()
    if boot is None:
        return Moment(clock=_WALL, seconds=time.time())
    return Moment(clock=boot, seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


def ago(seconds: float) -> Moment:
    """The moment so many seconds before this one."""
    moment = now()
    return Moment(clock=moment.clock, seconds=moment.seconds - seconds)


def began(entered: float) -> Moment:
    """When this process was started, at the latest; where nobody knows, when it was entered, in wall time.

    The system cuts the moment down to a tick, a hundredth of a second: without that, a process that began
    just behind an event would seem to have begun before it.
    """
    boot = _boot()
    if boot is None:
        return Moment(clock=_WALL, seconds=entered)
    fields = (_PROC / "self/stat").read_text().rpartition(")")[2].split()
    return Moment(clock=boot, seconds=(int(fields[_STARTTIME]) + 1) / os.sysconf("SC_CLK_TCK"))


def _boot() -> str | None:
    """The name of the clock: this boot of this machine."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
