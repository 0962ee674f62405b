"""Orphans come to us instead of to init, while a tree runs that has no cgroup (Linux only).

Being the subreaper is a property of the whole process, so it is taken for as long as a tree needs it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from untilgreen.process.table import Seen, Table

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37


@dataclass
class _Household:
    """What the whole process shares: how many trees it runs, and how many of them rely on adoption."""

    trees: int = 0
    adopting: int = 0
    adopted_before: bool = False


_household = _Household()


@contextmanager
def housed(*, orphans: bool) -> Iterator[None]:
    """Count a tree of this process, and adopt what it leaves behind where asked for."""
    _household.trees += 1
    if orphans:
        if _household.adopting == 0:
            _household.adopted_before = is_subreaper()
            _become_subreaper(True)
        _household.adopting += 1
    try:
        yield
    finally:
        _household.trees -= 1
        if orphans:
            _household.adopting -= 1
            if _household.adopting == 0:
                _become_subreaper(_household.adopted_before)


def is_subreaper() -> bool:
    """Whether orphaned descendants become children of this process."""
    if sys.platform != "linux":
        return False
    answer = ctypes.c_int()
    return _prctl(_GET_CHILD_SUBREAPER, ctypes.addressof(answer)) and bool(answer.value)


def _become_subreaper(adopts: bool) -> None:
    if sys.platform == "linux":
        _prctl(_SET_CHILD_SUBREAPER, int(adopts))


def _prctl(option: int, argument: int) -> bool:
    zero = ctypes.c_ulong(0)
    return bool(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(argument), zero, zero, zero) == 0)


def may_be_adopted(seen: Seen) -> bool:
    """Whether it is a child of ours in another session, at a time when only one tree can have lost it."""
    return (
        _household.adopting > 0
        and _household.trees == 1
        and seen.parent == os.getpid()
        and seen.session != os.getsid(0)
    )


def reap(table: Table, ended: Collection[Seen]) -> None:
    """Let go of adopted children that have ended: those named, and those that can't be anything but adopted.

    Whoever started a child waits for it himself, so only those may be taken. A child whose session is neither
    ours nor its own is one of them: a session is left only by founding another.
    """
    if _household.adopting == 0:
        return
    mine, session = os.getpid(), os.getsid(0)
    named = {(seen.pid, seen.start) for seen in ended}
    for seen in table.values():
        adopted = seen.session not in (session, seen.pid) or (seen.pid, seen.start) in named
        if seen.parent == mine and not seen.alive and adopted:
            with suppress(ChildProcessError):
                os.waitpid(seen.pid, os.WNOHANG)
