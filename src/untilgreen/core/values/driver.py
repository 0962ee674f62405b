"""The process that drives a run, and its machine."""

from __future__ import annotations

from msgspec import Struct


class Driver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The process that drives a run, or wants to."""

    place: str
    """The machine; whatever an interrupted turn left behind is only there."""
    pid: int = 0
    since: str = ""
    token: tuple[int, ...] = ()
    """Issued in ascending order by the scheduler of a fleet; empty if a lock decides who drives."""
