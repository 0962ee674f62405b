"""Makes orphaned descendants our children while a process tree runs (Linux only).

Being the subreaper is a property of the whole process, so it is set only while a tree needs it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from msgspec import Struct, field

from untilgreen.process.table import Seen, Table

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37


class _Adoption(Struct):
    """State of the whole process: the first processes of the trees it runs, and whether it adopts orphans."""

    first: set[int] = field(default_factory=set)
    starting: set[int] = field(default_factory=set)
    """Children that are about to be the first process of a tree."""
    adopts: bool = False
    adopted_before: bool = False


_adoption = _Adoption()


@contextmanager
def adopting_orphans(first: int) -> Iterator[None]:
    """Note the first process of a running tree, and adopt the tree's orphans."""
    if not _adoption.first:
        _adoption.adopted_before = is_subreaper()
        _adoption.adopts = _become_subreaper(True)
    _adoption.first.add(first)
    _adoption.starting.discard(first)
    try:
        yield
    finally:
        _adoption.first.remove(first)
        if not _adoption.first:
            _adoption.adopts = False
            _become_subreaper(_adoption.adopted_before)


def about_to_run(pid: int) -> None:
    """Note a child that we have just started, so that nobody takes it for an orphan."""
    _adoption.starting.add(pid)


def never_ran(pid: int) -> None:
    """Forget a child that has ended before its tree began."""
    _adoption.starting.discard(pid)


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
    """Whether nothing is left of any tree: while we adopt, every survivor has us as an ancestor."""
    if sys.platform != "linux" or not _adoption.adopts:
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def adopted_none() -> bool:
    """Whether each of our children is the first process of a tree, so that none is an orphan.

    The kernel may skip a child while another one ends, so this is only a hint while other trees run.
    """
    if not _adoption.adopts:
        return False
    try:
        # The kernel gives orphans to the main thread; children of other threads are not adopted.
        children = set(map(int, _read(f"/proc/self/task/{os.getpid()}/children").split()))
    except OSError:  # a kernel without this file
        return False
    return not children.difference(_adoption.first, _adoption.starting)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib would take five times as long
        return file.read()


def may_be_adopted(seen: Seen) -> bool:
    """Whether it is our child in another session while only one tree runs, so that tree must have lost it."""
    return (
        _adoption.adopts
        and len(_adoption.first) == 1
        and seen.parent == os.getpid()
        and seen.session != os.getsid(0)
    )


def reap(table: Table, ended: Collection[Seen]) -> None:
    """Reap adopted children that have ended: those in `ended`, and any that can only have been adopted.

    Other children are waited for by the code that started them. A child whose session is neither ours nor
    its own must be adopted: a process leaves its session only by founding another.
    """
    if not _adoption.adopts:
        return
    mine, session = os.getpid(), os.getsid(0)
    named = {(seen.pid, seen.start) for seen in ended}
    for seen in table.values():
        adopted = seen.session not in (session, seen.pid) or (seen.pid, seen.start) in named
        if seen.parent == mine and not seen.alive and adopted:
            with suppress(ChildProcessError):
                os.waitpid(seen.pid, os.WNOHANG)
