"""A child and all its descendants: how they are recognized and killed.

On Linux a cgroup holds everything. Where no cgroup can be made, orphans are adopted and recognized by
ancestry, session or a mark in their environment. That misses a process that left its session, lost its parent
and replaced its environment while this driver ran other trees; and one that forks faster than we can scan,
if other trees run or each fork founds a session. On macOS there are neither cgroups nor adoption,
and the environment of system programs can't be read: a system program that left session and parent is missed.
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Collection
from pathlib import Path

from anyio import move_on_after, run_process, sleep
from msgspec import Struct

from untilgreen.process import cgroup, subreaper
from untilgreen.process.table import Seen, Table, Unsettled, environment, look, send, send_to_group

MARK = "UNTILGREEN_TREE"
"""The variable with the marks of the trees a process belongs to, outermost first."""
KILL_SECONDS = 5.0
"""How long a killed process may take to disappear; only one stuck on broken hardware takes longer."""
CONTAINER_SECONDS = 20.0
"""How long the removal of a container may take; one that has ended is gone already."""
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_CONTINUE = getattr(signal, "SIGCONT", None)
_FIRST_PACE, _SLOWEST_PACE = 0.005, 0.1
_MOST_DOUBTS = 10
"""How often to look again at processes that can't be identified."""


class Trace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it takes to find a process tree again, even from another process after a crash."""

    mark: str
    pid: int
    start: float
    group: int
    era: str
    cgroup: str | None = None
    walled: bool = False
    """Whether the first process is a sandbox: when it ends, everything in it is killed."""
    engine: str | None = None
    """The program that made the tree's container, which outlives a program that is only a client."""


class Ended(Struct, frozen=True, kw_only=True):
    """Which processes were killed, and which could not be."""

    pids: frozenset[int] = frozenset()
    survivors: tuple[int, ...] = ()


class Tree(Struct, frozen=True, kw_only=True):
    """One process tree that can be inspected and ended."""

    trace: Trace
    watched: bool = True
    """Whether the first process was our child until a moment ago, so its id is not reused yet."""

    @property
    def cgroup(self) -> Path | None:
        """The cgroup of its processes; a path that we did not make is ignored."""
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
        """The processes of the tree, and whether all processes could be identified."""
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
        # The first process is gone and its id may have been reused: only a process that can't be
        # identified otherwise is taken for one of its session.
        if in_session and leader is None:
            return variables is None or _says_nothing(variables)
        return self.watched and _says_nothing(variables) and subreaper.may_be_adopted(seen)

    async def end(self, grace: float) -> Ended:
        """Send SIGINT, then SIGTERM, then kill; after each signal the tree gets `grace` seconds."""
        asked: set[Seen] = set()
        for signum in (signal.SIGINT, signal.SIGTERM):
            alive = self.members() if grace > 0 else []
            if not alive:
                break
            asked.update(alive)
            for seen in self._targets(alive):
                send(seen, signum)
                if _CONTINUE is not None:  # a stopped process can't react before it continues
                    send(seen, _CONTINUE)
            with move_on_after(grace):
                await self._gone()
        return await self.kill(asked)

    def _targets(self, alive: Collection[Seen]) -> list[Seen]:
        """Whom to signal: a sandbox ends by itself after its last process."""
        inside = [seen for seen in alive if seen.pid != self.trace.pid]
        return inside if self.trace.walled and inside else list(alive)

    async def _gone(self) -> None:
        pace = _FIRST_PACE
        while self.members():
            await sleep(pace)
            pace = min(pace * 2, _SLOWEST_PACE)

    async def kill(self, asked: Collection[Seen] = ()) -> Ended:
        """Kill every process of the tree, and look again until none is left."""
        await self._remove_container()
        ended = set(asked)
        alive: list[Seen] = []
        pace, doubts = _FIRST_PACE, _MOST_DOUBTS
        if self.watched and self._left_nothing():
            return Ended(pids=frozenset(seen.pid for seen in ended))
        # Reading the table takes a moment, and a process that keeps forking may slip through once.
        looks = 0 if self.watched and subreaper.childless() else 2
        with move_on_after(KILL_SECONDS):
            while looks:
                table = look()
                alive, certain = self._alive(table)
                strays = self._strays(table)
                subreaper.reap(table, [seen for seen in ended if seen.pid != self.trace.pid])
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

    def _left_nothing(self) -> bool:
        """Whether nothing can be left, so the process table need not be read; an empty cgroup is removed.

        A survivor is still in the cgroup or, if it found a way out, has become our child.
        """
        return self.cgroup is not None and cgroup.remove_empty(self.cgroup) and subreaper.adopted_none()

    async def _remove_container(self) -> None:
        if self.trace.engine is not None:
            with move_on_after(CONTAINER_SECONDS):
                remove = (self.trace.engine, "rm", "--force", container_name(self.trace.mark))
                await run_process(remove, check=False)

    def _strays(self, table: Table) -> list[Seen]:
        """Zombies whose parent and session leader are gone: an unseen fork of them may be alive."""
        leading = {self.trace.pid, *(seen.pid for seen in table.values() if seen.alive)}
        return [
            seen
            for seen in table.values()
            if not seen.alive
            and seen.start >= self.trace.start
            and seen.session not in leading
            and seen.session != seen.pid
            and self.watched
            and subreaper.may_be_adopted(seen)
        ]

    async def _unfence(self) -> None:
        """A cgroup can be removed shortly after its last process has died."""
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


def container_name(mark: str) -> str:
    """The name of the container in which a tree runs."""
    return f"untilgreen-{mark}"


def new_mark() -> str:
    """A unique name for a process tree."""
    return secrets.token_hex(8)


def chain(mark: str, outer: str) -> str:
    """The variable's value in a tree: a tree within a tree belongs to both."""
    return f"{outer}:{mark}" if outer else mark


def _carries(variables: bytes | None, mark: str) -> bool:
    if not variables or mark.encode() not in variables:
        return False
    name = f"{MARK}=".encode()
    marks = next((entry[len(name) :] for entry in variables.split(b"\0") if entry.startswith(name)), b"")
    return mark.encode() in marks.split(b":")


def _says_nothing(variables: bytes | None) -> bool:
    """Whether the environment was emptied, or overwritten with a title, as servers do."""
    return variables is not None and b"PATH=" not in variables
