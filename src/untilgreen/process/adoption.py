"""Orphans come to us instead of to init, while a tree runs (Linux only).

Being the subreaper is a property of the whole process, so it is taken for as long as a tree needs it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

from untilgreen.process.table import Seen, Table

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37


@dataclass
class _Household:
    """What the whole process shares: how many trees it runs, and whether it adopts what they lose."""

    trees: int = 0
    adopts: bool = False
    adopted_before: bool = False


_household = _Household()


@contextmanager
def housed() -> Iterator[None]:
    """Count a tree of this process, and adopt what it leaves behind."""
    if _household.trees == 0:
        _household.adopted_before = is_subreaper()
        _household.adopts = _become_subreaper(True)
    _household.trees += 1
    try:
        yield
    finally:
        _household.trees -= 1
        if _household.trees == 0:
            _household.adopts = False
            _become_subreaper(_household.adopted_before)


def is_subreaper() -> bool:
    """Whether orphaned descendants become children of this process."""
    if sys.platform != "linux":
        return False
    answer = ctypes.c_int()
    return _prctl(_GET_CHILD_SUBREAPER, ctypes.addressof(answer)) and bool(answer.value)


def _become_subreaper(adopts: bool) -> bool:
    return sys.platform == "linux" and _prctl(_SET_CHILD_SUBREAPER, int(adopts))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _prctl(option: int, argument: int) -> bool:
    zero = ctypes.c_ulong(0)
    return bool(_libc().prctl(option, ctypes.c_ulong(argument), zero, zero, zero) == 0)


def childless() -> bool:
    """Whether nothing can be left of any tree: what lives of one has us for its ancestor while we adopt."""
    if sys.platform != "linux" or not _household.adopts:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def may_be_adopted(seen: Seen) -> bool:
    """Whether it is a child of ours in another session, at a time when only one tree can have lost it."""
    return (
        _household.adopts
        and _household.trees == 1
        and seen.parent == os.getpid()
        and seen.session != os.getsid(0)
    )


def reap(table: Table, ended: Collection[Seen]) -> None:
    """Let go of adopted children that have ended: those named, and those that can't be anything but adopted.

    Whoever started a child waits for it himself, so only those may be taken. A child whose session is neither
    ours nor its own is one of them: a session is left only by founding another.
    """
    if not _household.adopts:
        return
    mine, session = os.getpid(), os.getsid(0)
    named = {(seen.pid, seen.start) for seen in ended}
    for seen in table.values():
        adopted = seen.session not in (session, seen.pid) or (seen.pid, seen.start) in named
        if seen.parent == mine and not seen.alive and adopted:
            with suppress(ChildProcessError):
                os.waitpid(seen.pid, os.WNOHANG)
