"""A run driven by hand: the core asks, the test answers, and no clock, file or process is involved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, assert_never

from msgspec import Struct, field, json

from untilgreen.core.briefing.excerpt import kept_reply, kept_verdict
from untilgreen.core.defaults import with_claim
from untilgreen.core.loop.decide import Policy, decide
from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.receive import Arrival, receive, refusal
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
    next_step,
)
from untilgreen.core.scoring.known_verdicts import known_verdict
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.events import (
    Answered,
    Attached,
    BriefOffered,
    Decided,
    Event,
    GateChecked,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.model import Change, Finding, GateSpec, Plan, Reply, Usage, Verdict
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.core.values.state import Lap, RunState

PASS = Verdict(status="pass", score=1.0)
SKIP = Verdict(status="skip")
BROKEN = Verdict(status="error", findings=(Finding(id="exit 127", message="sh: pytst: not found"),))
TIMED_OUT = Verdict(status="error", findings=(Finding(id="timeout", message="ended after 10m"),))

MOST_EVENTS = 1000
"""More than any run in a test needs, so that an endless run fails quickly."""

StepT = TypeVar("StepT", bound=Step)


def red(*ids: str, score: float = 0.0) -> Verdict:
    """A failing verdict with these findings."""
    return Verdict(status="fail", score=score, findings=tuple(Finding(id=name) for name in ids))


def gate(name: str = "tests", **options: Any) -> GateSpec:
    return GateSpec(name=name, **options)


def priced(dollars: float | None, tokens: int = 0, **reply: Any) -> Reply:
    """A reply that reports this cost; None means that the agent doesn't know it."""
    return Reply(text="worked on it", usage=Usage(cost=dollars, input_tokens=tokens), **reply)


class Turn(Struct, frozen=True, kw_only=True):
    """What happens in one lap: the reply, the files after it, and the verdicts."""

    reply: Reply = Reply(text="worked on it")
    claim: bool = False
    tree: str | None = None
    """The workspace's tree after the turn; by default a new one for each lap."""
    moved_to: str | None = None
    """The tree after the gates have run, if they changed it."""
    changes: tuple[Change, ...] = ()
    seconds: float = 1.0
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Gates that are not named here pass."""


class Run:
    """Plays a run event by event and keeps the journal, so that it can be folded again at any point."""

    def __init__(
        self,
        *gates: GateSpec,
        strategy: Strategy | None = None,
        detectors: Sequence[Detector] = (),
        answers: bool = False,
        started: float = 0.0,
        **options: Any,
    ) -> None:
        self.policy = Policy(strategy=strategy or Fixed(iterations=100), detectors=tuple(detectors))
        self.events: list[Event] = []
        self._state: RunState | None = None
        options.setdefault("task", "make it green")
        options.setdefault("baseline", False)
        plan = Plan(gates=with_claim(gates or (gate(),), options.get("promise")), **options)
        self.record(RunStarted(at=started, run="r1", plan=plan), Attached(at=started, answers=answers))

    @property
    def state(self) -> RunState:
        assert self._state is not None
        return self._state

    @property
    def step(self) -> Step | None:
        return next_step(self.state)

    @property
    def last(self) -> Lap:
        return self.state.laps[-1]

    @property
    def ending(self) -> Finish:
        assert self.state.ending is not None, f"The run has not ended: {self.step}"
        return self.state.ending

    @property
    def asked(self) -> Ask:
        assert self.state.asked is not None, f"No question is open: {self.step}"
        return self.state.asked

    @property
    def decided(self) -> Decided:
        """The latest decision in the journal."""
        return next(event for event in reversed(self.events) if isinstance(event, Decided))

    def record(self, *events: Event) -> Event:
        """Append these events; each must survive the journal and fit on one of its lines."""
        for event in events:
            line = json.encode(event)
            assert json.decode(line, type=Event) == event
            assert len(line) < 64_000
            self._state = apply(self._state, event)
            self.events.append(event)
            assert len(self.events) < MOST_EVENTS, f"The run does not end: {self.step}"
        return events[-1]

    def arrive(self, arrival: Arrival) -> tuple[Event, ...]:
        """Deliver an arrival; returns the events it becomes, none if it is refused."""
        events = () if refusal(self.state, arrival) else receive(self.state, arrival)
        if events:
            self.record(*events)
        return events

    def restart(self, **attached: Any) -> None:
        """Replace the driver with one that reads the journal."""
        before = self.state
        lines = [json.encode(event) for event in self.events]
        self._state = fold(json.decode(line, type=Event) for line in lines)
        assert self.state == before
        self.record(Attached(at=before.now, **{"answers": before.answers, "seat": before.seat} | attached))

    def until(self, kind: type[StepT], turn: Turn | None = None) -> StepT:
        """Do steps up to the next one of this kind, which is returned undone."""
        while not isinstance(step := self.step, kind):
            assert step is not None, f"The run ended before any {kind.__name__}: {self.state.reason}"
            self.perform(step, turn or Turn())
        return step

    def lap(self, turn: Turn | None = None, **verdicts: Verdict) -> Event:
        """Play one lap from its start to the event that decides about it, which is returned."""
        turn = turn or Turn()
        turn = Turn(**{name: getattr(turn, name) for name in Turn.__struct_fields__} | {"verdicts": verdicts})
        while True:
            step = self.step
            assert step is not None, f"The run is over: {self.state.reason}"
            event = self.perform(step, turn)
            if isinstance(step, Decide):
                return event

    def offer(self) -> Work:
        """Offer the brief, and leave the agent's turn in progress."""
        step = self.until(Work)
        self.record(BriefOffered(at=self.state.now + 1, lap=step.lap, agent=step.agent))
        return step

    def end(self) -> RunState:
        """Do the remaining steps of a run that needs no more turns."""
        while (step := self.step) is not None:
            assert not isinstance(step, Work), "Another turn is due."
            self.perform(step, Turn())
        return self.state

    def perform(self, step: Step, turn: Turn) -> Event:  # noqa: C901 - one case per step
        """Do one step as the engine would."""
        at = self.state.now + 1
        match step:
            case TakeSnapshot(lap=lap, phase=phase):
                tree = self.state.tree or "tree-0"
                if phase == "turn" and lap:
                    tree = turn.tree or f"tree-{lap}"
                elif phase == "confirm":
                    tree = turn.moved_to or tree
                changes = turn.changes if phase == "turn" else ()
                return self.record(SnapshotTaken(at=at, lap=lap, phase=phase, snapshot=tree, changes=changes))
            case Work(lap=lap, agent=agent):
                return self.record(
                    BriefOffered(at=at, lap=lap, agent=agent),
                    TurnEnded(at=at + turn.seconds, lap=lap, reply=kept_reply(turn.reply), claim=turn.claim),
                )
            case CheckGates(lap=lap, gates=gates):
                return self.record(*(self._checked(lap, name, turn) for name in gates))
            case Decide():
                return self.record(decide(self.state, self.policy, at))
            case TryRemedy(lap=lap, rung=rung):
                return self.record(RemedyTried(at=at, lap=lap, rung=rung))
            case Restore(lap=lap, snapshot=snapshot, why=why):
                return self.record(
                    Restored(at=at, lap=lap, snapshot=snapshot, before=self.state.tree or "", why=why)
                )
            case TakeDefault(choice=choice):
                return self.record(Answered(at=at, choice=choice, by="default"))
            case Wait(until=until):
                return self.record(Resumed(at=until))
            case AwaitAnswer() | AwaitResume() | AwaitTurn() | Halt():
                raise AssertionError(f"Somebody has to act first: {step}")
            case Conclude(outcome=outcome, reason=reason):
                return self.record(
                    RunFinished(at=at, outcome=outcome, reason=reason, final_snapshot=self.state.tree)
                )
            case _:
                assert_never(step)

    def _checked(self, lap: int, name: str, turn: Turn) -> Event:
        assert self.state.open is not None
        known = known_verdict(self.state, self.state.open, self.state.plan.gate(name))
        verdict = known or kept_verdict(turn.verdicts.get(name, PASS))
        return GateChecked(at=self.state.now + 1, lap=lap, gate=name, verdict=verdict)


def continued(event: Event) -> Continue:
    """The decision of this event, which must be to continue."""
    assert isinstance(event, Decided)
    assert isinstance(event.decision, Continue), event.decision
    return event.decision
