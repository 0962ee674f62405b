"""One clock for events and process start times, not affected by changes to the wall clock.

Linux records process start times on the clock that counts from boot, including sleep. On other systems the
start is the moment at which our program was entered.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from untilgreen.core.values.model import Moment

_PROC = Path("/proc")
_WALL = "wall"
_STARTTIME = 19  # fields after the command's name, which may contain blanks: proc(5), field 22


def now() -> Moment:
    """The current moment."""
    boot = _boot()
    if boot is None:
        return Moment(clock=_WALL, seconds=time.time())
    return Moment(clock=boot, seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


def ago(seconds: float) -> Moment:
    """The moment `seconds` before now."""
    moment = now()
    return Moment(clock=moment.clock, seconds=moment.seconds - seconds)


def began(entered: float) -> Moment:
    """The latest moment at which this process can have started; without /proc, the moment `entered`.

    The kernel truncates start times to a tick (10 ms), so one tick is added: otherwise a process started
    just after an event would seem to have started before it.
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
