"""Every contract that touches the world, on one page; an implementation needs nothing else from us."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.loop.receive import Arrival
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import Event
from untilgreen.core.values.model import Change, Plan, Reply, Verdict
from untilgreen.core.values.run_row import RunRow
from untilgreen.core.values.state import RunState

ActivityKind = Literal["text", "tool", "edit", "command", "output", "retry", "note"]


class Activity(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of an agent's activity: shown and stored beside the journal, never part of the state."""

    kind: ActivityKind
    text: str


def _ignored(activity: Activity) -> None:
    """Drop it: nobody is watching."""


class Mount(Struct, frozen=True, kw_only=True):
    """How one path looks from inside a sandbox: writable, read-only, or empty."""

    path: Path
    way: Literal["write", "read", "empty"]
    source: Path | None = None
    """The source to show there, if it is not the path itself."""


class Sandbox(Struct, frozen=True, kw_only=True):
    """A sandbox: everything is readable except what is hidden; only what is listed is writable."""

    mounts: tuple[Mount, ...] = ()
    """The deeper path wins; of two for the same path, the later one."""
    env: tuple[str, ...] = ()
    """Our variables to pass in, besides the usual ones."""
    network: bool = True
    engine: str = ""
    """The program that makes containers, "docker" or "podman"; empty for bubblewrap."""
    image: str = ""
    """The image for its containers."""
    disk: int | None = None
    """Bytes that it may write to the disk, and that each of its empty directories, in memory, may hold."""
    memory: int | None = None
    """Bytes of memory for all of its processes, or for each if the machine can't count them together."""
    processes: int | None = None
    """How many processes and threads it may have."""

    def opened(self, *mounts: Mount, env: tuple[str, ...] = ()) -> Sandbox:
        """The same with more mounts and variables."""
        return replace(self, mounts=(*self.mounts, *mounts), env=(*self.env, *env))

    def sealed(self) -> Sandbox:
        """The same, but read-only."""
        shut = (replace(each, way="read") if each.way == "write" else each for each in self.mounts)
        return replace(self, mounts=tuple(shut))


class Overlay(Struct, frozen=True, kw_only=True):
    """A directory that can be written to without changing it."""

    path: Path
    upper: Path
    """Where changes are written instead."""
    work: Path
    """An empty directory beside `upper`, for the kernel."""


class RoomView(Struct, frozen=True, kw_only=True):
    """How commands see a room: laid over the workspace, at its path."""

    place: Path
    """Where the room's files are."""
    at: Path
    """Where commands see them."""
    stash: Path
    """An empty directory, used while the room is mounted."""
    overlays: tuple[Overlay, ...] = ()
    """The first is the room's own."""
    hidden: tuple[Path, ...] = ()
    """Paths that are removed from the overlays when a command starts."""

    def seen(self, path: Path) -> Path:
        """A path of the room as commands name it."""
        return self.at / path.relative_to(self.place) if path.is_relative_to(self.place) else path


class TurnContext(Struct, frozen=True, kw_only=True):
    """Where an agent works: its directory, its time, and where to report activity."""

    root: Path
    seconds: float | None = None
    """Seconds until the turn ends; the engine enforces it, an agent may use it to plan."""
    silence: float | None = None
    """How long it may stay silent before it counts as stalled."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables on top of the driver's own."""
    report: Callable[[Activity], None] = _ignored
    transcript: Path | None = None
    """Where the raw stream is kept."""
    tree: Path | None = None
    """Where the processes of the turn are noted, so that a later driver can kill them."""
    sandbox: Sandbox | None = None
    """The sandbox that everything in the turn runs in."""


async def _nothing() -> str:
    """No change is known."""
    return ""


class CheckContext(Struct, frozen=True, kw_only=True):
    """What a gate checks: the current workspace, and a file for everything that the gate prints."""

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
    """How long the gate may take, for one that enforces it itself with `keeps_time = True`."""
    output: Path | None = None
    tree: Path | None = None
    """Where the processes of the gate are noted, so that a later driver can kill them."""
    env: Mapping[str, str] = field(default_factory=dict)
    sandbox: Sandbox | None = None
    """The sandbox that everything in the gate runs in."""
    view: RoomView | None = None
    """How commands of the gate see `root`, if it is a room in place of the workspace."""
    baseline: Mapping[str, Verdict] = field(default_factory=dict)
    """What the gates said about the untouched tree."""
    originals: Mapping[str, Path] = field(default_factory=dict)
    """Reference files of the gate, as they were when the run began, by their names in the spec."""

    @property
    def seen_root(self) -> Path:
        """The root as commands print it."""
        return self.view.seen(self.root) if self.view is not None else self.root

    def original(self, name: str) -> Path:
        """A reference file, out of the agent's reach if the run has a copy."""
        return self.originals.get(name, self.root / name)


class Restoration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a restore did: the snapshot to undo it, and files it left alone because somebody changed them."""

    before: str
    kept: tuple[str, ...] = ()


@runtime_checkable
class Agent(Protocol):
    """One coding agent; it never decides that the work is done.

    An adapter that reports the agent's activity as it happens sets `streams = True`; then a long silence
    means that the agent hangs.
    """

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        """Take one turn. Failure of the turn is a reply; only an agent that can't be used at all raises."""


@runtime_checkable
class Gate(Protocol):
    """One check; it does not know its own name."""

    async def check(self, workspace: CheckContext) -> Verdict:
        """Check the workspace and report what is wrong with it."""


@runtime_checkable
class BeginsWithTheRun(Protocol):
    """A gate that also inspects the workspace right before the first turn."""

    async def begin(self) -> None:
        """Record what an agent could change later."""


KILLING_SECONDS = 30.0
"""How long a gate that keeps its own time may take to kill what it started."""


def allowance(gate: Gate, seconds: float | None) -> float | None:
    """When to kill a gate from outside: at its timeout, unless it keeps time itself."""
    keeps_time = seconds is not None and getattr(gate, "keeps_time", False)
    return seconds + KILLING_SECONDS if seconds is not None and keeps_time else seconds


@runtime_checkable
class Workspace(Protocol):
    """The files of a run, and their snapshots."""

    @property
    def root(self) -> Path:
        """Where agents and gates are started."""

    async def snapshot(self, label: str) -> str:
        """Save the current files under a label, and return their id; equal content has equal ids."""

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ between two snapshots."""

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        """Restore a snapshot; files that differ from `known`, and the paths to spare, are left alone."""

    async def diff(self, before: str, after: str) -> str:
        """The difference as a unified diff."""


@runtime_checkable
class History(Protocol):
    """The commits of the repository that a run works in."""

    async def head(self) -> str:
        """The commit of HEAD."""

    async def commits(self, before: str, after: str) -> tuple[str, ...]:
        """The commits in between."""


@runtime_checkable
class Journal(Protocol):
    """The truth about one run: events in order, durable before `append` returns, one writer."""

    async def append(self, *events: Event) -> None:
        """Write events in order so that a crash right after it can't lose them; if it fails, none is written.

        A crash while it writes leaves the first few of them, or none.
        """

    async def events(self) -> Sequence[Event]:
        """All events so far."""

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """Events from the given position on, and then each new one; ends after the run has finished."""


@runtime_checkable
class Notifier(Protocol):
    """Sends messages to people who are not watching."""

    async def notify(self, event: Event, state: RunState) -> None:
        """Called after every event; most can be ignored."""


@runtime_checkable
class HandsToTurns(Protocol):
    """A notifier that adds variables to each turn, such as the trace that it belongs to."""

    def turn_env(self, state: RunState) -> Mapping[str, str]:
        """Variables for the turn that is about to begin."""


@runtime_checkable
class Clock(Protocol):
    """The time, for code outside the core."""

    def now(self) -> float:
        """Seconds since the epoch."""

    async def sleep_until(self, moment: float) -> None:
        """Return once `now()` has reached that moment."""


class LoadedRun(Struct, frozen=True, kw_only=True):
    """A run as read from its journal: the state, the number of events, and the hash of the last one."""

    state: RunState
    seq: int
    head: str
    beginning: tuple[Event, ...] = ()
    """Its events, as long as there are only those that it started with; later empty."""


class Hold(Struct, frozen=True, kw_only=True):
    """The right to write to a run, and the run's state when it was acquired."""

    journal: Journal
    run: LoadedRun | None
    """None if the journal has no event yet."""


class ShownActivity(Struct, frozen=True, kw_only=True):
    """One thing that the agent showed: when, and in which attempt at which lap."""

    at: float
    lap: int
    attempt: int = 1
    activity: Activity


@runtime_checkable
class Record(Protocol):
    """All that is stored about one run, here or elsewhere: journal, hold, inbox, artifacts, activity."""

    @property
    def id(self) -> str:
        """The name of the run."""

    async def load(self) -> LoadedRun:
        """The run as its journal has it now; `JournalError` if there is none."""

    def open_journal(self) -> Journal:
        """The journal, to read and follow; only the one of a `Hold` may be written to."""

    def hold(self, driver: Driver) -> AbstractAsyncContextManager[Hold]:
        """Become the driver; `JournalLocked` names the current one.

        A driver that is overtaken gets `JournalTaken` when it next writes.
        """

    async def check(self) -> None:
        """Raise `JournalTaken` as soon as another driver has the run."""

    async def driver(self) -> Driver | None:
        """The current driver, if any."""

    async def send(self, arrival: Arrival) -> str:
        """Leave a command for the driver; `reply` takes what this returns."""

    async def arrived(self) -> Sequence[tuple[str, Arrival]]:
        """The commands that no driver has handled yet, oldest first."""

    async def answered(self, letter: str, refused: str) -> None:
        """Remove a command whose events are recorded; the sender learns why, if it was refused."""

    async def reply(self, letter: str, seconds: float) -> str | None:
        """Why a command was refused, or empty if it was accepted; None if nobody answered in time."""

    async def wake(self) -> None:
        """Make sure that commands in the inbox are handled even if the run has no driver."""

    async def wait_for_news(self, seconds: float) -> None:
        """Return when something may have happened to the run, or after this many seconds."""

    async def keep(self, name: str, path: Path) -> None:
        """Save a file that an event is about to name; everybody can read it when this returns."""

    async def kept(self, name: str) -> bytes | None:
        """A saved file, by its name in the event."""

    def show(self, shown: ShownActivity) -> None:
        """Show the agent's activity to everybody who watches; losing some does no harm."""

    async def shown(self) -> ShownActivity | None:
        """The last thing that the agent showed."""

    async def activity(self, lap: int, attempt: int = 1, offset: int = 0) -> tuple[list[ShownActivity], int]:
        """Some of the agent's activity in a lap, starting at an offset, and the offset to continue from."""


Prepare = Callable[[Record], Awaitable[None]]


@runtime_checkable
class Records(Protocol):
    """All runs of one state directory, or of one fleet."""

    async def begin(self, plan: Plan, at: float, *, code: Mapping[str, Path], prepare: Prepare) -> Record:
        """Create a run that has no driver yet: its first event, and its own copies of code.

        If `prepare` raises, nothing is left behind.
        """

    async def open(self, text: str, workspace: Path) -> Record:
        """The run with that id, or with that unique prefix, or `@last` of a workspace."""

    def rows(self, workspace: Path | None = None) -> AsyncIterator[tuple[str, RunRow]]:
        """Every run, or those of a workspace, newest first."""

    async def remove(self, run: str) -> None:
        """Delete a run and everything that is stored about it."""
