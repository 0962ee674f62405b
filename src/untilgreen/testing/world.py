"""A run with scripted parts, all in memory, driven by the real runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from untilgreen.core.defaults import default_detectors, promise_of, tuned_for, with_claim
from untilgreen.core.loop.decide import Policy
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.events import Event, RunStarted
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import GateSpec, PartSpec, Plan
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.engine.loop.bus import Bus
from untilgreen.engine.loop.parts import Parts
from untilgreen.engine.loop.runner import Runner
from untilgreen.engine.loop.seat import UNATTENDED, Seat
from untilgreen.journal.memory import MemoryJournal
from untilgreen.ports import Agent, Gate, Journal, Notifier
from untilgreen.testing.doubles import FakeClock, ScriptedAgent, ScriptedGate
from untilgreen.testing.workspaces import MemoryWorkspace

GATE = "tests"


class World:
    """Everything a run needs; it can be driven any number of times."""

    def __init__(
        self,
        played: str = "a -",
        strategy: Strategy | None = None,
        *,
        limits: Limits | None = None,
        remedies: Sequence[str] = (),
        promise: str | None = None,
        gates: Sequence[GateSpec] = (GateSpec(name=GATE),),
        agents: Mapping[str, Agent] | None = None,
        checks: Mapping[str, Gate] | None = None,
        detectors: Sequence[Detector] | None = None,
        workspace: MemoryWorkspace | None = None,
        baseline: bool = True,
    ) -> None:
        """`played` is a story as for `story`; agents and gates are scripted unless given."""
        strategy = strategy or Hybrid()
        given = promise_of(strategy, promise)
        workspace = workspace or MemoryWorkspace()
        scripted = ScriptedAgent(played, workspace, given)
        agents = agents or {"one": scripted, "two": scripted}
        watching = default_detectors() if detectors is None else detectors
        self.clock = FakeClock()
        self.journal = MemoryJournal()
        self.heard: list[Event] = []
        self.plan = Plan(
            task="make it green",
            gates=with_claim(gates, given),
            agents=tuple(PartSpec(name=name) for name in agents),
            remedies=tuple(remedies),
            limits=limits or Limits(),
            promise=given,
            baseline=baseline,
        )
        self.parts = Parts(
            agents=agents,
            gates=checks or {gate.name: ScriptedGate(played, workspace) for gate in gates},
            workspace=workspace,
            policy=Policy(strategy=strategy, detectors=tuned_for(watching, strategy)),
            clock=self.clock,
        )

    async def start(self) -> World:
        """Write the first event."""
        await self.journal.append(RunStarted(at=self.clock.now(), run="world", plan=self.plan))
        return self

    def runner(
        self,
        *,
        journal: Journal | None = None,
        seat: Seat = UNATTENDED,
        notifiers: Sequence[Notifier] = (),
    ) -> Runner:
        """A new driver; `heard` gets every event that it publishes."""
        bus = Bus([lambda event, _: self.heard.append(event)], notifiers)
        return Runner(journal or self.journal, self.parts, seat, bus)
