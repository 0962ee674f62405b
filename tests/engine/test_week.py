"""A week of a run in a few seconds: the time that it counts is the time that passed."""

import anyio

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Outcome, Reply
from untilgreen.core.values.state import RunState
from untilgreen.ports import TurnContext
from untilgreen.testing.doubles import ScriptedAgent
from untilgreen.testing.workspaces import MemoryWorkspace
from untilgreen.testing.world import World

WEEK = 7 * 86_400.0
TURN = 300.0
WAIT = 1_800.0
EVERY = 20


class Patient(ScriptedAgent):
    """Works for five minutes a turn; every twentieth turn hits a rate limit of half an hour."""

    world: World
    turns = 0

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        self.turns += 1
        now = self.world.clock.time
        if self.turns % EVERY == 0:
            return Reply(error="rate_limited", retry_at=now + WAIT)
        self.world.clock.time = now + TURN
        return await super().work(brief, context)


def test_a_week_ends_at_its_limit_and_waiting_is_not_counted_as_work() -> None:
    words = " ".join(a + b for a in "abcdefghij" for b in "klmnopqrst")
    workspace = MemoryWorkspace()
    agent = Patient(" ".join([words] * 30), workspace)
    world = World(
        " ".join([words] * 30),
        Fixed(iterations=100_000),
        limits=Limits(iterations=100_000, time=WEEK, wait="unlimited", waits=5),
        agents={"one": agent},
        workspace=workspace,
        detectors=(),
        baseline=False,
    )
    agent.world = world

    async def go() -> RunState:
        await world.start()
        return await world.runner().drive()

    state = anyio.run(go)

    laps, pauses = len(state.laps), agent.turns // EVERY
    assert state.outcome is Outcome.EXHAUSTED
    assert laps == agent.turns - pauses
    assert laps > 2_000
    assert WEEK - TURN <= state.elapsed <= WEEK + TURN
    assert abs(state.waited - pauses * WAIT) < 60.0
    assert abs(world.clock.time - 1_000.0 - state.elapsed - state.waited) < 60.0
