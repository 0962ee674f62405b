"""Every contract that touches the world, on one page; what implements one needs nothing else of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from untilgreen.core.brief import Brief
from untilgreen.core.events import Event
from untilgreen.core.model import Change, Reply, Verdict
from untilgreen.core.state import RunState

ActivityKind = Literal["text", "tool", "edit", "command", "output", "retry", "note"]


class Activity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that an agent shows while it works: drawn and stored beside the journal, never folded."""

    kind: ActivityKind
    text: str


def _unheard(activity: Activity) -> None:
    """Nobody listens."""


@dataclass(frozen=True, kw_only=True)
class Mount:
    """How one path looks from inside of a sandbox: as it is, to be read only, or empty and forgotten."""

    path: Path
    way: Literal["write", "read", "empty"]
    source: Path | None = None
    """What is shown there, where that is not the path itself."""


@dataclass(frozen=True, kw_only=True)
class Walls:
    """A sandbox: everything can be read but what is hidden, and nothing written but what is named."""

    mounts: tuple[Mount, ...] = ()
    """The deeper path wins, and of two for the same path the later."""
    env: tuple[str, ...] = ()
    """Variables of ours that are let in beside the usual ones."""
    network: bool = True

    def opened(self, *mounts: Mount, env: tuple[str, ...] = ()) -> Walls:
        """The same with further doors."""
        return replace(self, mounts=(*self.mounts, *mounts), env=(*self.env, *env))

    def sealed(self) -> Walls:
        """The same where nothing may be written any more."""
        shut = (replace(each, way="read") if each.way == "write" else each for each in self.mounts)
        return replace(self, mounts=tuple(shut))


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where an agent works: its directory, how long it has, and whom it tells what it does."""

    root: Path
    seconds: float | None = None
    """When the turn is over, from now; the engine ends it then, an agent may use it to plan."""
    silence: float | None = None
    """How long it may stay silent before it counts as stalled."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of the driver's own."""
    report: Callable[[Activity], None] = _unheard
    transcript: Path | None = None
    """Where the raw stream is kept."""
    tree: Path | None = None
    """Where the processes of the turn are noted, so that a later driver can end them."""
    walls: Walls | None = None
    """The sandbox that everything of the turn is started in."""


async def _nothing() -> str:
    """No change is known."""
    return ""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where a gate looks: the workspace as it is now, and a file for all that the gate prints."""

    root: Path
    lap: int = 0
    snapshot: str = ""
    base: str = ""
    """The untouched tree."""
    task: str = ""
    diff: Callable[[], Awaitable[str]] = _nothing
    """What changed since the untouched tree, as a unified diff."""
    claim: bool = False
    """Whether the agent claims to be done."""
    allowed: tuple[str, ...] = ()
    """Protected paths that a person lets the agent change."""
    seconds: float | None = None
    """How long the gate has, for one that says itself what it saw until then, with `keeps_time = True`."""
    output: Path | None = None
    tree: Path | None = None
    """Where the processes of the gate are noted, so that a later driver can end them."""
    env: Mapping[str, str] = field(default_factory=dict)
    walls: Walls | None = None
    """The sandbox that everything of the gate is started in."""
    originals: Mapping[str, Path] = field(default_factory=dict)
    """Files that the gate measures by, as they were when the run began, by their names in the spec."""

    def original(self, name: str) -> Path:
        """A file to measure by, out of the agent's reach where the run has a copy."""
        return self.originals.get(name, self.root / name)


class Restoration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a restore did: the way back, and the files it left alone because somebody else changed them."""

    before: str
    kept: tuple[str, ...] = ()


@runtime_checkable
class Agent(Protocol):
    """One coding agent; it never decides that the work is done.

    An adapter that shows what the agent does as it does it says so with `streams = True`; then a long
    silence means that it hangs.
    """

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        """Take one turn. Failure of the turn is a reply; only an agent that can't be used at all raises."""


@runtime_checkable
class Gate(Protocol):
    """One check; it does not know its own name."""

    async def check(self, workspace: Site) -> Verdict:
        """Look at the workspace and say what is wrong with it."""


KILLING_SECONDS = 30.0
"""How long a gate that keeps its own time may take to end what it started."""


def allowance(gate: Gate, seconds: float | None) -> float | None:
    """When a gate is ended from outside: at its time limit, unless it sees to that itself."""
    keeps_time = seconds is not None and getattr(gate, "keeps_time", False)
    return seconds + KILLING_SECONDS if seconds is not None and keeps_time else seconds


@runtime_checkable
class Workspace(Protocol):
    """The files that are worked on, and the trees that are kept of them."""

    @property
    def root(self) -> Path:
        """Where agents and gates are started."""

    async def snapshot(self, label: str) -> str:
        """Keep what is there now, under a label, and give its identity; equal content, equal identity."""

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ between two snapshots."""

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        """Bring a snapshot back; what differs from `known`, and the paths to spare, stay as they are."""

    async def diff(self, before: str, after: str) -> str:
        """The difference as a unified diff."""


@runtime_checkable
class Journal(Protocol):
    """The truth about one run: events in order, durable before `append` returns, one writer."""

    async def append(self, event: Event) -> None:
        """Write one event so that a crash right after it can't lose it."""

    async def events(self) -> Sequence[Event]:
        """All events so far."""

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Events from the given position on, and then each new one; ends after the run has finished."""


@runtime_checkable
class Notifier(Protocol):
    """Tells somebody who is not looking."""

    async def notify(self, event: Event, state: RunState) -> None:
        """Called after every event; most are none of its business."""


@runtime_checkable
class Clock(Protocol):
    """Time, for everything that can't be replayed."""

    def now(self) -> float:
        """Seconds since the epoch."""

    async def sleep_until(self, moment: float) -> None:
        """Return when `now()` has reached that moment."""
