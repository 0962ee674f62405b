"""Who drives a run: which process, on which machine."""

from __future__ import annotations

from msgspec import Struct


class Driver(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The process that drives a run, or wants to."""

    place: str
    """The machine: what an interrupted turn left is there, and only there."""
    pid: int = 0
    since: str = ""
    token: tuple[int, ...] = ()
    """Given out in ascending order by the scheduler of a fleet; empty if a lock decides."""
