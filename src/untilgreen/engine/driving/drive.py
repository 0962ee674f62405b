"""Drives a run from wherever it stopped: the one call that every surface makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.loop.receive import Arrival, refusal
from untilgreen.core.values.model import Plan
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.keeping_journal import KeepingJournal
from untilgreen.engine.driving.signals import save_on_a_signal
from untilgreen.engine.loop.bus import Bus, Listener
from untilgreen.engine.loop.parts import Parts
from untilgreen.engine.loop.resumable_errors import resumable
from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.loop.seat import Seat
from untilgreen.engine.store import lock
from untilgreen.engine.store.artifacts import RunFiles, Watcher
from untilgreen.engine.store.inbox import take_all
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.wiring.objects import (
    Objects,
    agents_of,
    env_of_turns,
    gates_of,
    integrity_of,
    notifiers_of,
    objects_of,
    policy_of,
)
from untilgreen.engine.wiring.plugin_copies import copies_in
from untilgreen.engine.wiring.redaction import secrets_of
from untilgreen.engine.worktree.place import Place, Premises, stays_here
from untilgreen.engine.worktree.premises import ignore
from untilgreen.errors import ArrivalRefused, JournalError, UntilgreenError, only
from untilgreen.ports import Clock, Record
from untilgreen.process.table import INSIDE

LEAVE_SECONDS = 60.0
"""How often a turn's work so far is pushed for other machines."""
ATTACHING_SECONDS = 0.02
LOOK_SECONDS = 5.0
"""How long a driver waits for news of its run before it checks."""


class DriveOptions(Struct, frozen=True, kw_only=True):
    """Who is notified during a drive, and the objects that a program passes in."""

    listeners: Sequence[Listener] = ()
    watchers: Sequence[Watcher] = ()
    warn: Callable[[str], None] = ignore
    """Called with warnings for a person, at the latest when the drive ends."""
    signals: bool = False
    """Whether Ctrl-C and similar signals save the run and exit."""
    first: Arrival | None = None
    """An arrival to take before anything else; `ArrivalRefused` says why it is refused."""
    seconds: float | None = None
    """How long all gates may take together, if an agent waits for its hook."""
    compose: Callable[[RunState], Brief] | None = None
    """Composes the brief of a lap."""
    objects: Objects | None = None
    """Plugin objects that exist already."""
    leave: anyio.Event | None = None
    """When it is set, the turn ends, the run is saved, and the drive ends."""
    clock: Clock = field(default_factory=SystemClock)


DEFAULTS = DriveOptions()


async def drive(record: Record, premises: Premises, seat: Seat, options: DriveOptions = DEFAULTS) -> RunState:
    """Continue a run from wherever it stopped; one process at a time, from any process."""
    deadline = None if options.seconds is None else anyio.current_time() + options.seconds
    async with record.hold(lock.this_process(options.clock.now())) as hold:
        state = (hold.run or await record.load()).state
        session_notes.check_left(state, seat.session)
        if options.first is not None and (why_not := refusal(state, options.first)):
            raise ArrivalRefused(why_not)
        if state.outcome is not None:
            return state
        async with premises.enter(state, hold) as place:
            copies = copies_in(state.plan, place.scratch.code)
            objects = (options.objects or objects_of(state.plan)).from_copies(copies)
            files = RunFiles(record, place.scratch, options.clock, options.watchers)
            parts = _parts(state.plan, place, objects, copies, files)
            if seat.session is None:  # otherwise the agent works by itself
                parts = replace(parts, agents=agents_of(state.plan, objects))
            notifiers = notifiers_of(state.plan, objects)
            parts = replace(
                parts,
                compose=options.compose or parts.compose,
                deadline=deadline,
                turn_env=env_of_turns(notifiers),
            )
            journal = KeepingJournal(hold.journal, record, place)
            bus = Bus(options.listeners, notifiers, options.warn)
            runner = Runner(journal, parts, seat, bus, state)
            journal.current = lambda: runner.state
            try:
                async with bus.notifying() if state.plan.notify else nullcontext():
                    return await _beside(runner, record, place, options)
            except BaseExceptionGroup as several:
                cause = only(several)
                is_sentence = isinstance(cause, UntilgreenError)
                raise cause if is_sentence else resumable(cause, record.id) or cause from cause.__cause__


def _parts(plan: Plan, place: Place, objects: Objects, copies: Mapping[str, Path], files: RunFiles) -> Parts:
    mark = {INSIDE: place.scratch.run}
    gates = gates_of(plan, objects)
    if place.snapshots is not None:
        gates |= integrity_of(plan, objects, place.snapshots, place.scratch.copies)
    parts = Parts(
        agents={},
        gates=gates,
        workspace=place.workspace,
        policy=policy_of(plan, objects),
        clock=files.clock,
        files=files,
        agent_env=mark,
        gate_env=mark,
        originals=copies,
        secrets=secrets_of(plan),
        history=place.history,
        place=place.name,
        enclosure=place.enclosure,
    )
    return parts if place.deliver is None else replace(parts, deliver=place.deliver)


async def _beside(runner: Runner, record: Record, place: Place, options: DriveOptions) -> RunState:
    """Drive, and listen for commands and signals at the same time."""
    state: RunState | None = None
    async with anyio.create_task_group() as group:
        inbox = _Inbox(runner, record)

        async def begin() -> None:
            if options.first is not None:
                await runner.receive(options.first, accepted=True)  # nobody else has written since
            await inbox.take()  # it may hold the answer that the run waits for

        group.start_soon(inbox.watch)
        group.start_soon(_push_now_and_then, runner, place)
        if options.leave is not None:
            group.start_soon(_leave_when_told, runner, options.leave)
        if options.signals:
            await group.start(save_on_a_signal, runner, place.scratch)
        state = await runner.drive(begin)
        if state.away is not None and state.open is not None and state.open.offered:
            await place.leave(state.open.number, state.open.attempt)
        group.cancel_scope.cancel()
    if state is None:
        raise JournalError(
            f"Run {record.id} was interrupted before its journal was read. Continue with `untilgreen resume`."
        )
    return state


async def _leave_when_told(runner: Runner, leave: anyio.Event) -> None:
    await leave.wait()
    while not runner.attached:  # noqa: ASYNC110 - it is about to be
        await anyio.sleep(ATTACHING_SECONDS)
    await runner.interrupt("SIGTERM")


async def _push_now_and_then(runner: Runner, place: Place) -> None:
    """Push a turn's work now and then: anything newer is lost if its machine dies."""
    while place.leave is not stays_here:
        await anyio.sleep(LEAVE_SECONDS)
        lap = runner.state.open if runner.attached else None
        if lap is not None and lap.offered and lap.reply is None:
            await place.leave(lap.number, lap.attempt)


class _Inbox:
    """The commands for a run while it is driven: taken before the first step, and whenever one arrives."""

    def __init__(self, runner: Runner, record: Record) -> None:
        self._runner = runner
        self._record = record
        self._turn = anyio.Lock()

    async def take(self) -> None:
        """Take all commands, one reader at a time: two would take each command twice."""
        async with self._turn:
            await take_all(self._record, self._runner.receive)

    async def watch(self) -> None:
        """Take commands, even in the middle of a step; raises if another driver has taken the run over."""
        while True:
            if self._runner.attached:
                await self._record.check()
                await self.take()
            await self._record.wait_for_news(LOOK_SECONDS)
