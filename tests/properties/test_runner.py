"""A run ends correctly, whatever happens to its driver and whatever arrives from outside."""

from __future__ import annotations

import anyio
import anyio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from untilgreen import Brief, Fixed, Hybrid, Limits, Manual, Ralph, Reply, RunState, Strategy, TurnContext
from untilgreen.core.loop.receive import Answer, Arrival, Cancel, Pause, Resume, Steer, Stop
from untilgreen.core.loop.remedies import RUNGS
from untilgreen.core.loop.step import AwaitAnswer, AwaitResume, next_step
from untilgreen.core.values.events import Event, RunFinished
from untilgreen.core.values.model import ErrorClass
from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.loop.seat import TERMINAL
from untilgreen.testing.journals import Crash, CrashingJournal
from untilgreen.testing.world import World

LIMITS = Limits(iterations=8, errors=4)
WORDS = st.from_regex(r"([abc]{1,3}|-)[*=?]?", fullmatch=True)
STORIES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
STRATEGIES = st.sampled_from([Fixed(iterations=4), Hybrid(base=3, bonus=3), Ralph(max=6)])


def world(played: str, strategy: Strategy, remedies: tuple[str, ...] = ()) -> World:
    return World(played, strategy, limits=LIMITS, remedies=remedies)


def outline(state: RunState) -> tuple[object, list[frozenset[str]]]:
    return state.outcome, [lap.failing for lap in state.laps]


async def whole(played: str, strategy: Strategy, remedies: tuple[str, ...]) -> tuple[RunState, int]:
    run = await world(played, strategy, remedies).start()
    return await run.runner().drive(), len(await run.journal.events())


async def crashed_once(
    played: str, strategy: Strategy, remedies: tuple[str, ...], fuse: int
) -> tuple[RunState, list[Event]]:
    run = await world(played, strategy, remedies).start()
    died = False
    try:
        await run.runner(journal=CrashingJournal(run.journal, fuse)).drive()
    except* Crash:
        died = True
    assert died
    return await run.runner().drive(), list(await run.journal.events())


@settings(max_examples=150)
@given(STORIES, STRATEGIES, st.sampled_from([(), RUNGS]), st.data())
def test_a_crash_after_any_event_changes_nothing(
    played: str, strategy: Strategy, remedies: tuple[str, ...], data: st.DataObject
) -> None:
    expected, count = anyio.run(whole, played, strategy, remedies)
    fuse = data.draw(st.integers(1, count - 1))
    broken, events = anyio.run(crashed_once, played, strategy, remedies, fuse)

    assert outline(broken) == outline(expected)
    assert sum(isinstance(event, RunFinished) for event in events) == 1


ARRIVALS = st.sampled_from(
    [
        Stop(at=0.0),
        Cancel(at=0.0),
        Pause(at=0.0),
        Resume(at=0.0),
        Steer(at=0.0, id="n1", note="look at a"),
        Steer(at=0.0, id="n2", note="look at b"),
        Answer(at=0.0, choice="continue"),
        Answer(at=0.0, choice="accept"),
        Answer(at=0.0, choice="rollback", argument="1"),
        Answer(at=0.0, choice="agent", argument="two"),
    ]
)


async def with_arrivals(
    played: str, strategy: Strategy, arrivals: list[tuple[int, Arrival, Arrival]]
) -> tuple[RunState, list[str]]:
    """Send each pair of arrivals right after the event of its number; at the end, resume a run that waits."""
    replies: list[str] = []
    run = await world(played, strategy).start()
    runner = run.runner(seat=TERMINAL)

    async def send() -> None:
        while not run.heard:
            await anyio.lowlevel.checkpoint()
        for place, one, other in arrivals:
            while len(run.heard) < place and runner.state.outcome is None and not _waits(runner):
                await anyio.lowlevel.checkpoint()
            for arrival in (one, other):
                replies.append(await runner.receive(arrival))
        while runner.state.outcome is None:
            await anyio.lowlevel.checkpoint()
            if _waits(runner):
                await runner.receive(Resume(at=0.0))
                await runner.receive(Answer(at=0.0, choice="continue"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(send)
            state = await runner.drive()
    return state, replies


def _waits(runner: Runner) -> bool:
    return isinstance(next_step(runner.state), AwaitAnswer | AwaitResume)


@settings(max_examples=150)
@given(
    STORIES,
    st.one_of(STRATEGIES, st.just(Manual())),
    st.lists(st.tuples(st.integers(1, 40), ARRIVALS, ARRIVALS), max_size=4),
)
def test_arrivals_at_any_point_are_answered_and_the_run_ends(
    played: str, strategy: Strategy, arrivals: list[tuple[int, Arrival, Arrival]]
) -> None:
    state, replies = anyio.run(with_arrivals, played, strategy, arrivals)

    assert state.outcome is not None
    assert state.outcome != "crashed"
    assert len(replies) == 2 * len(arrivals)
    assert len(state.laps) <= 8


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["a!", "b!", "a", "c?"]), min_size=1, max_size=6).map(" ".join),
    st.sampled_from([Fixed(iterations=20), Hybrid(base=20), Ralph(max=20)]),
)
def test_lap_and_error_limits_are_never_exceeded(played: str, strategy: Strategy) -> None:
    state, _ = anyio.run(whole, played, strategy, RUNGS)

    assert len(state.laps) <= 8
    assert state.errors <= 4


class Moody:
    """Replies with one error class after another, over and over, and never does anything useful."""

    def __init__(self, moods: list[tuple[ErrorClass | None, float | None]]) -> None:
        self.moods = moods
        self.turns = 0

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        error, retry_at = self.moods[self.turns % len(self.moods)]
        self.turns += 1
        return Reply(text=f"turn {self.turns}", error=error, retry_at=retry_at)


async def moody(moods: list[tuple[ErrorClass | None, float | None]]) -> tuple[RunState, int]:
    agent = Moody(moods)
    limits = Limits(iterations=4, errors=3, waits=3, wait="2h")
    run = await World("a", Fixed(iterations=9), agents={"one": agent, "two": agent}, limits=limits).start()
    with anyio.fail_after(60):
        return await run.runner().drive(), agent.turns


ERRORS: list[ErrorClass | None] = [None, "crash", "rate_limited", "network", "quota", "auth"]


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sampled_from(ERRORS), st.one_of(st.none(), st.floats(0, 20_000))), min_size=1, max_size=6
    )
)
def test_wait_limits_are_never_exceeded(moods: list[tuple[ErrorClass | None, float | None]]) -> None:
    state, turns = anyio.run(moody, moods)

    assert state.outcome is not None or state.halted is not None
    assert len(state.laps) <= 4
    assert state.errors <= 3
    assert state.waits <= 3
    assert state.waited <= 2 * 3600 + 60
    assert turns <= 4 * (1 + 3 + 2)
