"""A child and all that came from it: how its processes are told from all others, and how they end.

On Linux nothing gets away: a cgroup holds everything, and where none can be made, orphans are adopted and
known by ancestry, session or the mark in their environment. What then stays unseen is a process that left
its session, lost its parent and replaced its environment by another one, while this driver ran other trees;
and one that forks faster than anybody can look, if it does so meanwhile or founds a session each time.
On macOS there are neither cgroups nor adoption, and the environment of system programs can't be read: a
process of such a program that has left session and parent is not found.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from anyio import move_on_after, sleep
from msgspec import Struct

from untilgreen.process import adoption, cgroup
from untilgreen.process.table import Seen, Table, Unsettled, environment, look, send, send_to_group

MARK = "UNTILGREEN_TREE"
"""The variable that names the trees a process belongs to, from the outermost to its own."""
KILL_SECONDS = 5.0
"""How long a killed process may take to be gone; only one that waits for broken hardware takes longer."""
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_CONTINUE = getattr(signal, "SIGCONT", None)
_FIRST_PACE, _SLOWEST_PACE = 0.005, 0.1
_MOST_DOUBTS = 10
"""How many looks are spent on processes that can't say what they are."""


class Trace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that it takes to find a tree again, also for another process after a crash."""

    mark: str
    pid: int
    start: float
    group: int
    era: str
    cgroup: str | None = None
    walled: bool = False
    """Whether the first process is a sandbox: if it goes, all in it are killed before they can follow."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What an ending found: the processes that were there, and those that would not go."""

    pids: frozenset[int] = frozenset()
    survivors: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tree:
    """One tree that can be looked at and ended."""

    trace: Trace
    watched: bool = True
    """Whether the first process was ours to wait for until a moment ago: no other has its number yet."""

    @property
    def cgroup(self) -> Path | None:
        """Where its processes are held; a path that we did not make is not believed."""
        path = Path(self.trace.cgroup) if self.trace.cgroup else None
        return path if path and path.name == f"{cgroup.PREFIX}{self.trace.mark}" else None

    def holds_us(self) -> bool:
        """Whether this very process belongs to the tree."""
        return os.getpid() in self._found(look())[0]

    def members(self) -> list[Seen]:
        """Every living process of the tree."""
        return self._alive(look())[0]

    def _alive(self, table: Table) -> tuple[list[Seen], bool]:
        found, certain = self._found(table)
        return [table[pid] for pid in sorted(found - {os.getpid()}) if table[pid].alive], certain

    def _found(self, table: Table) -> tuple[set[int], bool]:
        """The processes of the tree, and whether there was none that could not say what it is."""
        found = cgroup.members(self.cgroup) & table.keys() if self.cgroup else set()
        certain = True
        for pid, seen in table.items():
            try:
                if self._is_ours(seen, table):
                    found.add(pid)
            except Unsettled:
                certain = certain and self.cgroup is not None
        return found | _descendants(found, table), certain

    def _is_ours(self, seen: Seen, table: Table) -> bool:
        first = self.trace.pid
        leader = table.get(first)
        there = leader is not None and leader.is_same(self.trace.start)
        if seen.pid == first:
            return there
        if not seen.alive or (seen.start < self.trace.start and not seen.is_same(self.trace.start)):
            return False
        in_session = first in (seen.session, seen.group)
        if in_session and (there or (leader is None and self.watched)):
            return True
        variables = environment(seen.pid)
        if _carries(variables, self.trace.mark):
            return True
        # The first process is gone and its number was free to be used again: only a process that
        # can't say where it comes from is taken for one of the session.
        if in_session and leader is None:
            return variables is None or _says_nothing(variables)
        return self.watched and _says_nothing(variables) and adoption.may_be_adopted(seen)

    async def end(self, grace: float) -> Ended:
        """Ask politely, ask firmly, then kill; each time the whole tree gets `grace` seconds to go."""
        asked: set[Seen] = set()
        for signum in (signal.SIGINT, signal.SIGTERM):
            alive = self.members() if grace > 0 else []
            if not alive:
                break
            asked.update(alive)
            for seen in self._polite(alive):
                send(seen, signum)
                if _CONTINUE is not None:  # a stopped process can't follow before it goes on
                    send(seen, _CONTINUE)
            with move_on_after(grace):
                await self._gone()
        return await self.kill(asked)

    def _polite(self, alive: Collection[Seen]) -> list[Seen]:
        """Whom to ask: a sandbox ends by itself after the last one in it."""
        inside = [seen for seen in alive if seen.pid != self.trace.pid]
        return inside if self.trace.walled and inside else list(alive)

    async def _gone(self) -> None:
        pace = _FIRST_PACE
        while self.members():
            await sleep(pace)
            pace = min(pace * 2, _SLOWEST_PACE)

    async def kill(self, asked: Collection[Seen] = ()) -> Ended:
        """End every process of the tree, and look again until none is left; those asked may be gone."""
        ended = set(asked)
        alive: list[Seen] = []
        pace, doubts = _FIRST_PACE, _MOST_DOUBTS
        # A look takes a moment, and a process that hops from fork to fork may slip through one.
        looks = 0 if self.watched and adoption.childless() else 2
        with move_on_after(KILL_SECONDS):
            while looks:
                table = look()
                alive, certain = self._alive(table)
                strays = self._strays(table)
                adoption.reap(table, [seen for seen in ended if seen.pid != self.trace.pid])
                ended.update(alive)
                if self.cgroup:
                    cgroup.kill(self.cgroup)
                if not alive and not strays and (certain or not doubts):
                    looks -= 1
                    continue
                doubts -= not certain
                for seen in alive:
                    send(seen, _KILL)
                for seen in {seen.group: seen for seen in (*alive, *strays)}.values():
                    send_to_group(seen, _KILL)
                await sleep(pace)
                pace = min(pace * 2, _SLOWEST_PACE)
            await self._unfence()
        return Ended(pids=frozenset(seen.pid for seen in ended), survivors=tuple(seen.pid for seen in alive))

    def _strays(self, table: Table) -> list[Seen]:
        """What has ended, as have its parent and its session's leader: a fork of it may be alive, unseen."""
        leading = {self.trace.pid, *(seen.pid for seen in table.values() if seen.alive)}
        return [
            seen
            for seen in table.values()
            if not seen.alive
            and seen.start >= self.trace.start
            and seen.session not in leading
            and seen.session != seen.pid
            and self.watched
            and adoption.may_be_adopted(seen)
        ]

    async def _unfence(self) -> None:
        """A cgroup goes when the last process in it has let go of everything, a moment after it is dead."""
        pace = _FIRST_PACE
        while self.cgroup and not cgroup.remove(self.cgroup):
            await sleep(pace)
            pace = min(pace * 2, _SLOWEST_PACE)


def _descendants(roots: set[int], table: Table) -> set[int]:
    children: dict[int, list[int]] = {}
    for seen in table.values():
        children.setdefault(seen.parent, []).append(seen.pid)
    found: set[int] = set()
    left = list(roots)
    while left:
        born = [pid for pid in children.get(left.pop(), ()) if pid not in found]
        found.update(born)
        left.extend(born)
    return found


def new_mark() -> str:
    """A name for a tree that no other has."""
    return secrets.token_hex(8)


def chain(mark: str, outer: str) -> str:
    """The variable's value inside a tree: a tree in a tree belongs to both."""
    return f"{outer}:{mark}" if outer else mark


def _carries(variables: bytes | None, mark: str) -> bool:
    if not variables or mark.encode() not in variables:
        return False
    name = f"{MARK}=".encode()
    marks = next((entry[len(name) :] for entry in variables.split(b"\0") if entry.startswith(name)), b"")
    return mark.encode() in marks.split(b":")


def _says_nothing(variables: bytes | None) -> bool:
    """Whether the environment was emptied, or written over with a title, as servers do."""
    return variables is not None and b"PATH=" not in variables
