"""Starting a run and driving one: the calls that every surface makes."""

from __future__ import annotations

import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus

from untilgreen import __version__
from untilgreen.core.brief import Brief
from untilgreen.core.events import RunStarted
from untilgreen.core.model import Plan
from untilgreen.core.receive import Arrival, refusal
from untilgreen.core.state import RunState
from untilgreen.core.step import Conclude
from untilgreen.engine import inbox, lock, sessions, wiring, worktrees
from untilgreen.engine.bus import Bus, Listener
from untilgreen.engine.clock import SystemClock
from untilgreen.engine.delivery import commit_result
from untilgreen.engine.files import FolderFiles, Watcher
from untilgreen.engine.parts import Parts
from untilgreen.engine.places import REPOSITORY
from untilgreen.engine.runner import Runner
from untilgreen.engine.seat import INSIDE, Seat
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.told import look
from untilgreen.engine.trouble import worldly
from untilgreen.engine.veil import secrets_of, veiled
from untilgreen.engine.walls import Enclosure, check_possible, enclosure
from untilgreen.errors import ArrivalRefused, JournalError, UntilgreenError, WorkspaceNotReady, only
from untilgreen.journal.file import FileJournal
from untilgreen.ports import Clock, Workspace
from untilgreen.process.note import GRACE_SECONDS, end_left_behind
from untilgreen.process.private import remove_left_behind
from untilgreen.workspace.claim import DirectoryClaim
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.ground import find_ground
from untilgreen.workspace.history import History
from untilgreen.workspace.open import git_root, open_workspace

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What tells a driver to save the run and leave."""
LOOK_SECONDS = 0.2
"""How often the inbox is looked at."""


def _unheard(sentence: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, kw_only=True)
class Own:
    """What a program brings along in place of what the plan names."""

    workspace: Workspace | None = None
    compose: Callable[[RunState], Brief] | None = None
    """What the agent is told in a lap."""


AS_USUAL = Own()


async def start(
    plan: Plan,
    store: Store,
    clock: Clock | None = None,
    *,
    warn: Callable[[str], None] = _unheard,
    own: Own = AS_USUAL,
    copies: Mapping[str, Path] | None = None,
) -> RunFolder:
    """Make a run out of a plan; nothing is driven yet. `copies` stand for plugin files of the workspace."""
    now, begin = (clock or SystemClock()).now(), Path(plan.workspace[wiring.START])
    root = await git_root(begin)
    await check_possible(plan)
    if own.workspace is None:
        plan = await worktrees.with_beginning(plan)
    kept, said = veiled(plan)
    if said:
        warn(said)
    folder = store.create(now, workspace=begin, git_root=root, title=kept.title)
    try:
        if own.workspace is None and worktrees.worktree_of(plan, folder) is None:
            sessions.check_free(root or begin, store, besides=folder.id)
            with DirectoryClaim(root or begin, run=folder.id, state_dir=store.state_dir):
                await open_workspace(begin, run=folder.id, private_dir=folder.path / "workspace")
        wiring.copy_code(plan, folder.code, copies)
    except BaseException:  # also a Ctrl-C: half a run is none
        shutil.rmtree(folder.path)
        raise
    started = RunStarted(at=now, run=folder.id, plan=kept, version=__version__)
    await FileJournal(folder.journal).append(started)
    return folder


async def state_of(folder: RunFolder) -> RunState:
    """A run as its journal tells it, whoever drives it."""
    return (await to_thread.run_sync(look, folder)).state


async def drive(
    folder: RunFolder,
    store: Store,
    seat: Seat,
    *,
    listeners: Sequence[Listener] = (),
    watchers: Sequence[Watcher] = (),
    clock: Clock | None = None,
    signals: bool = False,
    warn: Callable[[str], None] = _unheard,
    own: Own = AS_USUAL,
    first: Arrival | None = None,
    seconds: float | None = None,
) -> RunState:
    """Go on with a run from wherever it stands; one process at a time, from any process.

    At the end `warn` hears what a person should know about the workspace. `first` is taken before anything
    is done; `ArrivalRefused` says why it can't be. Gates have to be over in so many `seconds`.
    """
    clock, deadline = clock or SystemClock(), None if seconds is None else anyio.current_time() + seconds
    async with lock.driving(folder.lock, run=folder.id, now=clock.now()):
        known = await to_thread.run_sync(look, folder)
        state = known.state
        sessions.check_left(state, seat.session)
        if first is not None and (why_not := refusal(state, first)):
            raise ArrivalRefused(why_not)
        if state.outcome is not None:
            return state
        plan = state.plan
        async with _workplace(state, folder, store, tuple(watchers), warn, own) as place:
            parts = _parts(plan, folder, place, clock, tuple(watchers))
            walls = await _enclosed(plan, folder, place)
            parts = replace(parts, compose=own.compose or parts.compose, deadline=deadline, enclosure=walls)
            bus = Bus(listeners, wiring.notifiers_of(plan, wiring.copies_in(plan, folder.code)), warn)
            runner = Runner(FileJournal(folder.journal, known.end), parts, seat, bus, state)
            try:
                async with bus.notifying() if plan.notify else nullcontext():
                    return await _beside(runner, folder, signals=signals, first=first)
            except BaseExceptionGroup as several:
                cause = only(several)
                told_already = isinstance(cause, UntilgreenError)
                raise cause if told_already else worldly(cause, folder.id) or cause from cause.__cause__


class _Place(NamedTuple):
    """Where a run works, and how its result is delivered from there."""

    workspace: Workspace
    kept: GitWorkspace | None
    deliver: Callable[[RunState, Conclude], Awaitable[str | None]] | None
    history: History | None = None


@asynccontextmanager
async def _workplace(  # noqa: PLR0917 - all of drive's own
    state: RunState,
    folder: RunFolder,
    store: Store,
    watchers: tuple[Watcher, ...],
    warn: Callable[[str], None],
    own: Own,
) -> AsyncIterator[_Place]:
    """The directory, claimed for this run alone; a program's own workspace is its own business."""
    if own.workspace is not None:
        await clear_up(folder, GRACE_SECONDS)
        yield _Place(own.workspace, None, None)
        return
    plan, begin = state.plan, worktrees.root_of(state.plan, folder)
    top = await worktrees.top_of(plan, folder)
    sessions.check_free(top, store, besides=folder.id)
    with DirectoryClaim(top, run=folder.id, state_dir=store.state_dir):
        await clear_up(folder, GRACE_SECONDS)
        await worktrees.ensure(state, folder, watchers, warn)
        workspace = await open_workspace(begin, run=folder.id, private_dir=folder.path / "workspace")
        ground = await find_ground(begin) if REPOSITORY in plan.workspace else None
        history = History(ground) if ground else None
        try:
            yield _Place(workspace, workspace, partial(commit_result, folder, workspace, warn), history)
        finally:
            await _settle(workspace, warn)
            for sentence in workspace.warnings():
                warn(sentence)


async def _settle(workspace: GitWorkspace, warn: Callable[[str], None]) -> None:
    with anyio.CancelScope(shield=True):
        try:
            await workspace.settle()
        except WorkspaceNotReady as error:  # what is owed are second names; the snapshots are safe
            warn(str(error))


async def _enclosed(plan: Plan, folder: RunFolder, place: _Place) -> Enclosure:
    worktree = worktrees.worktree_of(plan, folder) if place.kept is not None else None
    return await enclosure(plan, place.workspace.root, folder.path.parents[1], worktree)


def _parts(
    plan: Plan, folder: RunFolder, place: _Place, clock: Clock, watchers: tuple[Watcher, ...]
) -> Parts:
    copies = wiring.copies_in(plan, folder.code)
    mark = {INSIDE: folder.id}
    gates = wiring.gates_of(plan, copies)
    if place.kept is not None:
        gates |= wiring.integrity_of(plan, copies, place.kept, folder.path / "copies")
    parts = Parts(
        agents=wiring.agents_of(plan, copies),
        gates=gates,
        workspace=place.workspace,
        policy=wiring.policy_of(plan, copies),
        clock=clock,
        files=FolderFiles(folder, watchers),
        agent_env=mark,
        gate_env=mark,
        originals=copies,
        secrets=secrets_of(plan),
        history=place.history,
    )
    return parts if place.deliver is None else replace(parts, deliver=place.deliver)


async def _beside(runner: Runner, folder: RunFolder, *, signals: bool, first: Arrival | None) -> RunState:
    """Drive, and listen for commands and signals meanwhile."""
    state: RunState | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_read_inbox, runner, folder)
        if signals:
            await group.start(_heed_signals, runner, folder)
        state = await runner.drive(first)
        group.cancel_scope.cancel()
    if state is None:
        raise JournalError(f"Run {folder.id} was left before it was read. Go on with `untilgreen resume`.")
    return state


def heeded() -> tuple[signal.Signals, ...]:
    """A signal that was ignored when we were started, as nohup does, stays ignored."""
    return tuple(each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN)


async def _heed_signals(runner: Runner, folder: RunFolder, *, task_status: TaskStatus[None]) -> None:
    """Once: end the turn gently, save, leave. Twice: end everything that runs, at once."""
    with anyio.open_signal_receiver(*heeded()) as received:
        task_status.started()
        async for number in received:
            while not runner.attached:  # noqa: ASYNC110 - it is about to be
                await anyio.sleep(LOOK_SECONDS / 10)
            again = runner.state.away is not None
            await runner.interrupt(signal.Signals(number).name)
            if again or runner.seat.session is not None:  # an agent gives its hooks hardly any time
                await end_what_runs(folder, grace=0.0)


async def clear_up(folder: RunFolder, grace: float) -> None:
    """All that a dead driver left running, and what it had put aside for that."""
    await end_what_runs(folder, grace)
    await to_thread.run_sync(remove_left_behind, folder.notes)


async def end_what_runs(folder: RunFolder, grace: float) -> None:
    """The processes of a turn and of gates, as they were noted when they began."""
    for note in folder.trees():
        await end_left_behind(note, grace=grace)


async def _read_inbox(runner: Runner, folder: RunFolder) -> None:
    """Whoever drives takes what was sent, also in the middle of a step."""
    while True:
        if runner.attached:
            await take_arrivals(runner, folder)
        await anyio.sleep(LOOK_SECONDS)


async def take_arrivals(runner: Runner, folder: RunFolder) -> None:
    """Everything in the inbox, in order; the sender hears what became of it."""
    for path, arrival in inbox.collect(folder):
        if arrival is None:
            inbox.set_aside(path)
            continue
        inbox.respond(path, await runner.receive(arrival))
        inbox.done(path)
