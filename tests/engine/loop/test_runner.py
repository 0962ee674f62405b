"""The loop: what it does in order, what can interrupt it, and how it ends."""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncIterator, Callable, Sequence

import anyio
import anyio.lowlevel
import pytest
from msgspec.structs import replace

from untilgreen import Continue, Decision, Fixed, Limits, Manual, Ralph, Reply, RunState, Signal, Verdict
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.exit_codes import exit_code
from untilgreen.core.loop.fold import fold
from untilgreen.core.loop.receive import Answer, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.values.events import (
    Answered,
    Attached,
    BriefOffered,
    Cancelled,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapVoided,
    Paused,
    RunFinished,
    SnapshotTaken,
    Steered,
    TurnEnded,
)
from untilgreen.core.values.model import ErrorClass, GateSpec
from untilgreen.core.values.secrets import Secrets
from untilgreen.engine.loop.bus import Bus
from untilgreen.engine.loop.parts import NoFiles
from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.loop.seat import TERMINAL, UNATTENDED
from untilgreen.errors import AgentUnavailable, JournalError, PluginFailed, UntilgreenError, WorkspaceNotReady
from untilgreen.journal.memory import MemoryJournal
from untilgreen.ports import Activity, CheckContext, TurnContext
from untilgreen.surfaces.text.event_lines import line as told_line
from untilgreen.testing.doubles import MARK, FakeClock
from untilgreen.testing.journals import Crash
from untilgreen.testing.workspaces import MemoryWorkspace
from untilgreen.testing.world import World

pytestmark = pytest.mark.anyio


def names(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


class Slow:
    """An agent whose turn lasts until `go` is set, or forever."""

    def __init__(self, workspace: MemoryWorkspace) -> None:
        self.workspace = workspace
        self.started = anyio.Event()
        self.go = anyio.Event()
        self.ended = ""

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        self.started.set()
        try:
            await self.go.wait()
        except BaseException:
            self.ended = "cancelled"
            raise
        self.workspace.files[MARK] = str(brief.lap)
        self.ended = "finished"
        return Reply(text="did some work in this turn, as I was told")


class FailsFirst:
    """An agent that fails with one error class after another, and then works."""

    def __init__(
        self, workspace: MemoryWorkspace, *errors: ErrorClass, retry_at: float | None = None
    ) -> None:
        self.workspace = workspace
        self.errors = list(errors)
        self.retry_at = retry_at
        self.laps: list[int] = []

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        self.laps.append(brief.lap)
        if self.errors:
            return Reply(error=self.errors.pop(0), detail="the model says so", retry_at=self.retry_at)
        self.workspace.files[MARK] = str(brief.lap)
        return Reply(text="done with this one")


async def test_a_run_goes_from_baseline_to_green_in_a_fixed_order() -> None:
    world = await World("a -").start()

    state = await world.runner().drive()

    assert state.outcome == "converged"
    assert len(state.laps) == 2
    assert names(world.heard) == [
        "Attached", "SnapshotTaken", "GateChecked", "Decided",
        "SnapshotTaken", "BriefOffered", "TurnEnded", "SnapshotTaken", "GateChecked", "Decided",
        "SnapshotTaken", "BriefOffered", "TurnEnded", "SnapshotTaken", "GateChecked", "SnapshotTaken",
        "Decided", "RunFinished",
    ]  # fmt: skip


async def test_driving_a_finished_run_again_changes_nothing() -> None:
    world = await World("a -").start()
    first = await world.runner().drive()
    before = list(await world.journal.events())

    again = await world.runner().drive()

    assert again == first
    assert list(await world.journal.events()) == before


class CollectsActivity(NoFiles):
    """Collects the activities that an agent reports."""

    def __init__(self) -> None:
        self.shown: list[Activity] = []

    def report(self, lap: int, attempt: int, activity: Activity) -> None:
        self.shown.append(activity)


class Leaking:
    """An agent whose activity and reply contain a secret."""

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        context.report(Activity(kind="text", text="I use hunter2-hunter2"))
        return Reply(text="I used hunter2-hunter2")


async def test_neither_journal_nor_activity_nor_listeners_get_a_secret() -> None:
    world, files = World("a", agents={"one": Leaking()}, limits=Limits(iterations=1)), CollectsActivity()
    secrets = Secrets({"API_TOKEN": "hunter2-hunter2"})
    world.parts = replace(world.parts, secrets=secrets, files=files)
    await world.start()

    await world.runner().drive()

    assert files.shown == [Activity(kind="text", text="I use [API_TOKEN redacted]")]
    for events in (await world.journal.events(), world.heard):
        (ended,) = [event for event in events if isinstance(event, TurnEnded)]
        assert ended.reply.text == "I used [API_TOKEN redacted]"


async def test_an_empty_journal_is_not_a_run() -> None:
    with pytest.raises(JournalError, match="untilgreen run"):
        await Runner(MemoryJournal(), World().parts, UNATTENDED).drive()


async def during_a_turn(
    world: World, agent: Slow, act: Callable[[Runner], object], *, let_it_finish: bool
) -> RunState:
    await world.start()
    runner = world.runner(seat=TERMINAL)

    async def interfere() -> None:
        await agent.started.wait()
        result = act(runner)
        assert not await result  # type: ignore[misc] # every act is a coroutine
        if let_it_finish:
            agent.go.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(interfere)
            return await runner.drive()
    raise AssertionError("drive did not return")


async def test_cancel_ends_the_agents_turn_at_once() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = World(agents={"one": agent}, workspace=files)

    state = await during_a_turn(world, agent, lambda r: r.receive(Cancel(at=0.0)), let_it_finish=False)

    assert state.outcome == "cancelled"
    assert agent.ended == "cancelled"
    assert exit_code(state) == 1
    assert state.final_snapshot is not None


async def test_a_note_does_not_disturb_the_turn_and_reaches_the_next_brief() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = World("a b -", Fixed(iterations=1), agents={"one": agent}, workspace=files)
    steer = Steer(at=0.0, id="1", note="mind the gap")

    state = await during_a_turn(world, agent, lambda r: r.receive(steer), let_it_finish=True)

    assert agent.ended == "finished"
    assert [note.text for note in state.notes] == ["mind the gap"]
    assert any(isinstance(event, Steered) for event in world.heard)


async def test_stop_lets_the_lap_end_with_its_gates() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = World("a a", agents={"one": agent}, workspace=files)

    state = await during_a_turn(world, agent, lambda r: r.receive(Stop(at=0.0)), let_it_finish=True)

    assert state.outcome == "cancelled"
    assert agent.ended == "finished"
    assert len(state.laps) == 1


async def test_an_interrupt_leaves_the_run_open_and_the_same_lap_starts_again() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = World("a -", agents={"one": agent}, workspace=files, limits=Limits(errors=1))

    state = await during_a_turn(world, agent, lambda r: r.interrupt("SIGINT"), let_it_finish=False)

    assert state.outcome is None
    assert exit_code(state) == 130
    assert agent.ended == "cancelled"
    agent.go.set()
    again = await world.runner().drive()
    assert again.outcome == "converged"
    assert [event.lap for event in world.heard if isinstance(event, BriefOffered)] == [1, 1, 2]
    assert sum(isinstance(event, LapVoided) for event in world.heard) == 1


class Sluggish:
    """A journal that is slow to write the last event, so that other tasks can act before it is on disk."""

    def __init__(self, inner: MemoryJournal) -> None:
        self.inner = inner
        self.finishing = anyio.Event()

    async def append(self, *events: Event) -> None:
        if isinstance(events[-1], RunFinished):
            self.finishing.set()
            await anyio.wait_all_tasks_blocked()
        await self.inner.append(*events)

    async def events(self) -> Sequence[Event]:
        return await self.inner.events()

    def follow(self, after: int = 0) -> AsyncIterator[Event]:
        return self.inner.follow(after)


async def test_a_driver_interrupted_while_the_end_is_written_adds_nothing_after_the_end() -> None:
    world = await World("a -").start()
    runner = world.runner(journal=(journal := Sluggish(world.journal)))

    async def leave() -> None:
        await journal.finishing.wait()
        await runner.interrupt("SIGTERM")

    async with anyio.create_task_group() as group:
        group.start_soon(leave)
        state = await runner.drive()

    assert isinstance((await world.journal.events())[-1], RunFinished)
    assert (exit_code(state), runner.state.away) == (0, None)


async def test_an_event_that_is_being_written_is_written_though_its_writer_is_cancelled() -> None:
    world = await World("a -").start()
    runner = world.runner(journal=(journal := Sluggish(world.journal)))

    async with anyio.create_task_group() as group:
        group.start_soon(runner.drive)
        await journal.finishing.wait()
        group.cancel_scope.cancel()

    assert isinstance((await world.journal.events())[-1], RunFinished)
    assert runner.state.outcome == "converged"


class NoSnapshots(MemoryWorkspace):
    """A workspace that can't take snapshots while `trouble` is set."""

    trouble: Exception | None

    async def snapshot(self, label: str) -> str:
        if self.trouble is not None:
            raise self.trouble
        return await super().snapshot(label)


@pytest.mark.parametrize(
    "trouble",
    [
        OSError(errno.ENOSPC, "No space left on device", "objects/12"),
        WorkspaceNotReady("The objects of the repository are read-only."),
    ],
    ids=["full", "read-only"],
)
async def test_a_disk_error_leaves_the_run_open_and_it_continues_once_that_is_fixed(
    trouble: Exception,
) -> None:
    world = await World("a -", workspace=(files := NoSnapshots())).start()
    files.trouble = trouble

    with pytest.raises(UntilgreenError, match=r"(No space left|read-only).*untilgreen resume world"):
        await world.runner().drive()
    left = names(list(await world.journal.events()))
    files.trouble = None

    assert "RunFinished" not in left
    assert (await world.runner().drive()).outcome == "converged"


class FullDisk(Sluggish):
    """A journal that can't write the first snapshot, because the disk is full."""

    async def append(self, *events: Event) -> None:
        if any(isinstance(event, SnapshotTaken) for event in events):
            raise JournalError("The disk is full.")
        await self.inner.append(*events)


async def test_events_that_could_not_be_written_are_not_in_the_state_and_not_reported() -> None:
    world = await World("a -").start()
    runner = world.runner(journal=FullDisk(world.journal))

    with pytest.raises(JournalError, match="The disk is full"):
        await runner.drive()

    assert runner.state == fold(await world.journal.events())
    assert not any(isinstance(event, SnapshotTaken) for event in world.heard)


async def test_a_turn_that_runs_out_of_time_is_a_lap_with_an_error() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = await World(
        "a -", Fixed(iterations=1), agents={"one": agent}, workspace=files, limits=Limits(lap=0.05)
    ).start()

    state = await world.runner().drive()

    assert agent.ended == "cancelled"
    assert state.laps[0].reply.error == "timeout"
    assert state.outcome == "exhausted"


async def test_a_gate_that_hangs_is_ended_and_reported() -> None:
    class Hangs:
        async def check(self, workspace: CheckContext) -> Verdict:
            await anyio.sleep_forever()
            raise AssertionError

    gates = [GateSpec(name="tests", timeout=0.05)]
    world = await World(
        "a", Fixed(iterations=1), gates=gates, checks={"tests": Hangs()}, baseline=False
    ).start()

    state = await world.runner().drive()

    verdict = state.laps[0].verdicts["tests"]
    assert (verdict.status, verdict.findings[0].id) == ("error", "timeout")


async def test_a_gate_that_raises_is_an_error_verdict_and_not_the_end() -> None:
    class Breaks:
        async def check(self, workspace: CheckContext) -> Verdict:
            raise RuntimeError("my config is gone")

    world = await World("a", Fixed(iterations=2), checks={"tests": Breaks()}, baseline=False).start()

    state = await world.runner().drive()

    assert state.outcome == "exhausted"
    assert len(state.laps) == 2
    assert "my config is gone" in state.laps[0].verdicts["tests"].findings[0].message


async def test_gates_of_one_stage_run_side_by_side_and_a_red_stage_spares_the_next() -> None:
    together = anyio.Event()
    waiting: list[str] = []

    class Meets:
        def __init__(self, name: str) -> None:
            self.name = name

        async def check(self, workspace: CheckContext) -> Verdict:
            waiting.append(self.name)
            if len(waiting) == 2:
                together.set()
            await together.wait()
            return Verdict(status="fail" if self.name == "b" else "pass")

    gates = [GateSpec(name="a"), GateSpec(name="b"), GateSpec(name="late", stage=2)]
    checks = {name: Meets(name) for name in ("a", "b", "late")}
    world = await World("a", Fixed(iterations=1), gates=gates, checks=checks, baseline=False).start()

    with anyio.fail_after(20):
        state = await world.runner().drive()

    assert sorted(waiting) == ["a", "b"]
    assert "late" not in state.laps[0].verdicts


async def test_a_retried_gate_that_turns_green_is_marked_as_flaky() -> None:
    class Flips:
        calls = 0

        async def check(self, workspace: CheckContext) -> Verdict:
            self.calls += 1
            return Verdict(status="pass" if self.calls % 2 == 0 else "fail")

    world = await World(
        "a", gates=[GateSpec(name="tests", retries=1)], checks={"tests": Flips()}, baseline=False
    ).start()

    state = await world.runner().drive()

    assert state.outcome == "converged"
    assert state.laps[0].verdicts["tests"].flaky
    assert "flaky: tests" in state.reason


async def test_a_listener_that_fails_is_dropped_and_not_the_run(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Event] = []
    failures: list[Event] = []

    def breaks(event: Event, state: RunState) -> None:
        failures.append(event)
        raise ValueError("no")

    world = await World("a -").start()
    bus = Bus([breaks, lambda event, _: heard.append(event)])
    with caplog.at_level(logging.CRITICAL, logger="untilgreen.engine.loop.bus"):
        state = await Runner(world.journal, world.parts, UNATTENDED, bus).drive()

    assert state.outcome == "converged"
    assert len(failures) == 1
    assert sum(isinstance(event, RunFinished) for event in heard) == 1


async def test_notifiers_hear_everything_also_when_one_of_them_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[str] = []

    class Breaks:
        async def notify(self, event: Event, state: RunState) -> None:
            raise ValueError("no")

    class Tells:
        async def notify(self, event: Event, state: RunState) -> None:
            await anyio.lowlevel.checkpoint()
            told.append(type(event).__name__)

    world = await World("a -").start()
    runner = world.runner(notifiers=[Breaks(), Tells()])
    with caplog.at_level(logging.WARNING, logger="untilgreen.engine.loop.bus"):
        async with runner.bus.notifying():
            await runner.drive()

    assert caplog.messages == ["The notifier Breaks failed: ValueError: no."], (
        "it is logged once, although it failed often"
    )
    assert told == names(world.heard)
    assert told.count("RunFinished") == 1


@pytest.mark.parametrize("strategy", [None, 7, "continue"])
async def test_a_strategy_that_answers_nonsense_ends_the_run_as_crashed(strategy: object) -> None:
    class Odd:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            return strategy  # type: ignore[return-value] # that is the point

    world = await World("a -", Odd()).start()

    with pytest.raises(PluginFailed, match="Odd"):
        await world.runner().drive()
    state = fold(await world.journal.events())
    assert state is not None
    assert state.outcome == "crashed"
    assert "Odd" in state.reason
    assert exit_code(state) == 70


async def test_a_strategy_that_raises_ends_the_run_as_crashed_with_its_name() -> None:
    class Raises:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            raise ZeroDivisionError("by me")

    world = await World("a -", Raises()).start()

    with pytest.raises(PluginFailed, match=r"Raises raised ZeroDivisionError \(.*\) after lap 1: by me"):
        await world.runner().drive()
    end = world.heard[-1]
    assert isinstance(end, RunFinished)
    assert end.outcome == "crashed"
    assert sum(isinstance(event, RunFinished) for event in world.heard) == 1


async def test_where_nobody_can_answer_the_default_of_a_stuck_run_happens_and_is_reported() -> None:
    world = await World("a=", Fixed(iterations=9), remedies=("ask",)).start()

    state = await world.runner().drive()

    assert (state.outcome, len(state.laps)) == ("stuck", 3)
    told = [told_line(event, state) for event in world.heard if isinstance(event, Answered)]
    assert told == ["answered: end (by default)"]


async def test_the_error_that_broke_a_run_keeps_its_cause_and_is_not_its_own_cause() -> None:
    class Raises:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            raise ZeroDivisionError("by me")

    world = await World("a -", Raises()).start()

    with pytest.raises(PluginFailed) as raised:
        await world.runner().drive()
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert raised.value.__cause__.__cause__ is None


async def test_a_strategy_can_not_call_red_gates_converged() -> None:
    from untilgreen import Finish, Outcome

    class Liar:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            return Finish(outcome=Outcome.CONVERGED, reason="trust me")

    world = await World("a -", Liar()).start()

    with pytest.raises(PluginFailed, match="ACCEPTED"):
        await world.runner().drive()


async def test_a_missing_agent_halts_the_run_and_leaves_it_open() -> None:
    class Missing:
        async def work(self, brief: Brief, context: TurnContext) -> Reply:
            raise AgentUnavailable("There is no program 'nope'. Install it.")

    world = await World("a -", agents={"one": Missing()}).start()

    state = await world.runner().drive()

    assert state.outcome is None
    assert exit_code(state) == 4
    assert state.halted is not None
    assert "nope" in state.halted.detail
    assert isinstance(world.heard[-1], Halted)


async def test_a_rate_limit_pauses_and_the_same_lap_continues() -> None:
    agent = FailsFirst(files := MemoryWorkspace(), "rate_limited", "rate_limited")
    world = await World("a -", agents={"one": agent}, workspace=files).start()

    state = await world.runner().drive()

    assert state.outcome == "converged"
    assert agent.laps == [1, 1, 1, 2]
    assert len(state.laps) == 2
    assert state.waited >= 180
    assert state.elapsed < 60
    assert sum(isinstance(event, Paused) for event in world.heard) == 2


class SleepsForever(FakeClock):
    """A clock on which no sleep ends."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep = anyio.Event()

    async def sleep_until(self, moment: float) -> None:
        self.asleep.set()
        await anyio.sleep_forever()


async def test_a_pause_over_a_restart_still_waits_for_its_time() -> None:
    agent = FailsFirst(files := MemoryWorkspace(), "rate_limited", retry_at=5_000.0)
    world = await World("a -", agents={"one": agent}, workspace=files).start()
    usual, clock = world.parts, SleepsForever()
    world.parts = replace(usual, clock=clock)
    unattended = world.runner()

    async def leave_when_asleep() -> None:
        await clock.asleep.wait()
        await unattended.interrupt("SIGTERM")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(leave_when_asleep)
            left = await unattended.drive()
    world.parts = usual
    state = await world.runner().drive()

    assert (left.outcome, exit_code(left)) == (None, 143)
    assert left.now < 5_000
    assert state.outcome == "converged"
    assert [event.at >= 5_000 for event in world.heard if isinstance(event, BriefOffered)][:2] == [
        False,
        True,
    ]


async def test_manual_waits_for_a_person_and_an_unattended_seat_leaves_with_exit_5() -> None:
    world = await World("a -", Manual()).start()

    left = await world.runner().drive()

    assert left.outcome is None
    assert exit_code(left) == 5
    runner = world.runner(seat=TERMINAL)

    async def answer() -> None:
        while not any(isinstance(event, Attached) and event.answers for event in world.heard):
            await anyio.lowlevel.checkpoint()
        assert await runner.receive(Answer(at=0.0, choice="continue", note="you are close")) == ""

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        state = await runner.drive()
    assert state.outcome == "converged"


async def test_a_paused_run_waits_until_it_is_resumed() -> None:
    agent = Slow(files := MemoryWorkspace())
    world = await World("a -", agents={"one": agent}, workspace=files).start()
    runner = world.runner(seat=TERMINAL)

    async def person() -> None:
        await agent.started.wait()
        assert await runner.receive(Pause(at=0.0)) == ""
        assert "already" in await runner.receive(Pause(at=0.0))
        agent.go.set()
        while len(runner.state.laps) < 1:
            await anyio.lowlevel.checkpoint()
        await anyio.sleep(0.05)
        assert [event.lap for event in world.heard if isinstance(event, BriefOffered)] == [1]
        assert await runner.receive(Resume(at=0.0)) == ""

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(person)
            state = await runner.drive()
    assert state.outcome == "converged"


async def test_an_arrival_after_the_end_is_refused_with_a_reason() -> None:
    world = await World("a -").start()
    runner = world.runner()
    await runner.drive()

    assert "has ended: converged" in await runner.receive(Cancel(at=0.0))
    assert not any(isinstance(event, Cancelled | Interrupted) for event in world.heard)


async def test_the_next_brief_opens_with_a_rejected_claim() -> None:
    world = await World("a* -*", Ralph()).start()

    state = await world.runner().drive()

    agent = world.parts.agents["one"]
    assert state.outcome == "converged"
    assert agent.briefs[1].text.startswith("Your claim was rejected")  # type: ignore[attr-defined] # scripted


async def test_a_custom_strategy_that_never_gives_up_is_stuck_at_a_limit() -> None:
    class Stubborn:
        def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
            return Continue(reason="never give up")

    world = await World("a", Stubborn(), limits=Limits(iterations=4)).start()

    state = await world.runner().drive()

    assert state.outcome == "stuck"
    assert len(state.laps) == 4
    assert "iterations" in state.reason


async def test_files_that_move_while_the_gates_run_make_them_run_once_more() -> None:
    class Writes:
        calls = 0

        async def check(self, workspace: CheckContext) -> Verdict:
            self.calls += 1
            if self.calls == 1:
                files.files["moved.txt"] = "while the gate ran"
            return Verdict(status="pass", score=1.0)

    files, gate = MemoryWorkspace(), Writes()
    world = await World("a", checks={"tests": gate}, workspace=files, baseline=False).start()

    state = await world.runner().drive()

    assert state.outcome == "converged"
    assert gate.calls == 2
    assert sum(isinstance(event, GateChecked) for event in world.heard) == 2


async def test_every_ending_is_heard_once() -> None:
    for played, strategy in [("a -", Fixed()), ("a", Fixed()), ("!", Fixed(iterations=9))]:
        world = await World(played, strategy).start()
        await world.runner().drive()

        assert sum(isinstance(event, RunFinished) for event in world.heard) == 1
        assert sum(isinstance(event, TurnEnded) for event in world.heard) >= 2


async def test_rewind_takes_back_what_an_interrupted_turn_left() -> None:
    files = MemoryWorkspace({"kept.txt": "as it was"})

    class Messy:
        calls = 0

        async def work(self, brief: Brief, context: TurnContext) -> Reply:
            self.calls += 1
            if self.calls == 1:
                files.files |= {"kept.txt": "broken", "new.txt": "left behind"}
                raise Crash
            seen.append(dict(files.files))
            files.files[MARK] = str(brief.lap)
            return Reply(text="done with care")

    seen: list[dict[str, str]] = []
    world = World("-", agents={"one": Messy()}, workspace=files)
    world.plan = replace(world.plan, on_interrupt="rewind")
    await world.start()
    with pytest.raises(Crash):
        await world.runner().drive()

    state = await world.runner().drive()

    assert state.outcome == "converged"
    assert seen == [{"kept.txt": "as it was"}]
