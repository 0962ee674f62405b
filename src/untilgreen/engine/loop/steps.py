"""Does a step: one case for each, through a port, and records what happened."""

from __future__ import annotations

from hashlib import blake2b
from typing import Protocol, assert_never

import anyio

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.briefing.claims import claimed
from untilgreen.core.briefing.excerpt import kept_reply, without_surrogates
from untilgreen.core.loop.decide import decide
from untilgreen.core.loop.step import (
    AwaitAnswer,
    AwaitResume,
    AwaitTurn,
    CheckGates,
    Conclude,
    Decide,
    Halt,
    Restore,
    Step,
    TakeDefault,
    TakeSnapshot,
    TryRemedy,
    Wait,
    Work,
)
from untilgreen.core.values.events import (
    BY_DEFAULT,
    Answered,
    BriefOffered,
    Event,
    GateChecked,
    Halted,
    Paused,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.limits import seconds_left, silence
from untilgreen.core.values.model import Change, Reply, Verdict
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration
from untilgreen.crash_points import passing
from untilgreen.engine.loop.head_moves import committed
from untilgreen.engine.loop.outside_changes import saved_between_turns
from untilgreen.engine.loop.parts import Parts
from untilgreen.engine.loop.seat import Seat
from untilgreen.engine.loop.stages import check_stage
from untilgreen.engine.wiring.redaction import without_secrets
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import BeginsWithTheRun, TurnContext
from untilgreen.process import boot_clock

MOST_CHANGES = 200
OUT_OF_TIME = "the gates used up the hook's time limit"


class StepRunner(Protocol):
    """What a step needs from the runner."""

    parts: Parts
    seat: Seat

    @property
    def state(self) -> RunState:
        """The current state."""

    async def record(self, event: Event) -> None:
        """Record an event."""


async def perform(step: Step, runner: StepRunner) -> None:
    """Do the step and record the result."""
    passing("step", "before", type(step).__name__)
    try:
        await _perform(step, runner)
    finally:  # even if its last verdict makes the rest of it unnecessary
        passing("step", "after", type(step).__name__)


async def _perform(step: Step, runner: StepRunner) -> None:  # noqa: C901 - one case per step
    now = runner.parts.clock.now
    match step:
        case TakeSnapshot():
            await _snapshot(step, runner)
        case Work():
            await _work(step, runner)
        case CheckGates(lap=lap, gates=gates):

            async def judged(gate: str, verdict: Verdict) -> None:
                await runner.record(GateChecked(at=now(), lap=lap, gate=gate, verdict=verdict))

            await check_stage(runner.state, gates, runner.parts, judged)
        case Decide():
            await runner.record(decide(runner.state, runner.parts.policy, now()))
        case TryRemedy(lap=lap, rung=rung):
            await runner.record(RemedyTried(at=now(), lap=lap, rung=rung))
        case Restore(lap=lap, snapshot=snapshot, why=why, whole=whole):
            workspace, state = runner.parts.workspace, runner.state
            if whole:
                done = await workspace.restore(snapshot, None)
            else:
                spare = await saved_between_turns(state, snapshot, workspace)
                done = await workspace.restore(snapshot, state.tree, spare)
            await runner.record(
                Restored(
                    at=now(),
                    lap=lap,
                    snapshot=snapshot,
                    before=done.before,
                    kept=tuple(map(without_surrogates, done.kept[:MOST_CHANGES])),
                    why=why,
                )
            )
        case AwaitAnswer(until=until):
            await _until(until, runner)
            asked = runner.state.asked
            await runner.record(Answered(at=now(), choice=asked.default if asked else "", by=BY_DEFAULT))
        case TakeDefault(choice=choice):
            await runner.record(Answered(at=now(), choice=choice, by=BY_DEFAULT))
        case AwaitResume() | AwaitTurn():
            await _until(None, runner)
        case Wait(until=until):
            await _until(until, runner)
            await runner.record(Resumed(at=now()))
        case Halt():
            return
        case Conclude():
            await _conclude(step, runner)
        case _:
            assert_never(step)


async def _snapshot(step: TakeSnapshot, runner: StepRunner) -> None:
    workspace, lap = runner.parts.workspace, runner.state.open
    if step.phase == "base" and step.lap == 1:
        for gate in runner.parts.gates.values():
            if isinstance(gate, BeginsWithTheRun):
                await gate.begin()
    snapshot = await workspace.snapshot(_label(step, runner.state))
    changes: tuple[Change, ...] = ()
    if step.phase == "turn" and lap is not None and lap.base not in (None, snapshot):
        changes = tuple(await workspace.changes(lap.base or "", snapshot))
        changes = tuple(Change(path=without_surrogates(each.path), status=each.status) for each in changes)
    head, commits = await committed(step, runner.state, runner.parts.history)
    await runner.record(
        SnapshotTaken(
            at=runner.parts.clock.now(),
            lap=step.lap,
            phase=step.phase,
            snapshot=snapshot,
            changes=changes[:MOST_CHANGES],
            more=max(0, len(changes) - MOST_CHANGES),
            head=head,
            commits=commits,
        )
    )


def _label(step: TakeSnapshot, state: RunState) -> str:
    """The snapshot's label; a lap starts with what the one before left, so the two share one."""
    if step.phase in ("turn", "confirm"):
        return str(step.lap)
    if step.phase == "base" and state.snapshot_of(step.lap - 1) is not None:
        return str(step.lap - 1)
    return f"{step.lap}-{step.phase}"


async def _work(step: Work, runner: StepRunner) -> None:
    """Take the agent's turn: the brief is recorded before it starts, the reply when it ends."""
    parts = runner.parts
    if parts.late():
        await runner.record(Paused(at=parts.clock.now(), reason=OUT_OF_TIME))
        return
    brief = await _offer(step, runner)
    if runner.seat.session is not None:  # it works by itself, and its stop hook says when it is done
        return
    try:
        reply = await _turn(step, runner, brief)
    except AgentUnavailable as error:
        await runner.record(Halted(at=parts.clock.now(), cause="agent", detail=str(error)))
        return
    promise = runner.state.plan.promise
    claim = promise is not None and claimed(reply.text, brief.text, promise)
    await runner.record(TurnEnded(at=parts.clock.now(), lap=step.lap, reply=kept_reply(reply), claim=claim))


async def _offer(step: Work, runner: StepRunner) -> Brief:
    parts, seat, brief = runner.parts, runner.seat, runner.parts.compose(runner.state)
    parts.files.keep_brief(step.lap, step.attempt, brief.text)
    await runner.record(
        BriefOffered(
            at=parts.clock.now(),
            lap=step.lap,
            agent=step.agent,
            session=seat.session or brief.session,
            seat=seat.name,
            digest=blake2b(brief.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            size=len(brief.text),
            own_turn=seat.own_turn,
            moment=boot_clock.now() if seat.session is not None else None,
        )
    )
    return brief


async def _turn(step: Work, runner: StepRunner, brief: Brief) -> Reply:
    parts, seconds = runner.parts, seconds_left(runner.state)
    agent = parts.agents[step.agent]
    context = TurnContext(
        root=parts.workspace.root,
        seconds=seconds,
        silence=silence(runner.state.plan.limits, streams=getattr(agent, "streams", False)),
        env={**parts.agent_env, **parts.turn_env(runner.state)},
        report=lambda activity: parts.files.report(
            step.lap, step.attempt, without_secrets(activity, parts.secrets)
        ),
        transcript=parts.files.transcript(step.lap, step.attempt),
        tree=parts.files.tree("turn"),
        sandbox=parts.enclosure.agents,
    )
    with anyio.move_on_after(seconds):
        return await agent.work(brief, context)
    return Reply(error="timeout", detail=f"ended after {show_duration(seconds)}, its time limit")


async def _until(moment: float | None, runner: StepRunner) -> None:
    """Wait until a time, or until this step is no longer wanted."""
    if moment is None:
        await anyio.sleep_forever()
    else:
        await runner.parts.clock.sleep_until(moment)


async def _conclude(step: Conclude, runner: StepRunner) -> None:
    best = runner.state.best
    commit = await runner.parts.deliver(runner.state, step)
    await runner.record(
        RunFinished(
            at=runner.parts.clock.now(),
            outcome=step.outcome,
            reason=step.reason,
            best=best.lap if best else None,
            best_snapshot=best.snapshot if best else None,
            final_snapshot=runner.state.tree,
            commit=commit,
        )
    )
