"""Your own runs with another strategy: what it would have saved, and what it would have lost.

The same laps are shown to the other strategy for as long as it would have done the same. Where it would
have ended a run earlier, everything after that is saved. Where it would have continued, or done something
else, it would have needed laps that never happened: that is reported, and nothing is guessed about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from untilgreen.backtest.decisions import RecordedDecision, after_the_default_answer, decide_again, decisions
from untilgreen.core.defaults import tuned_for
from untilgreen.core.loop.decide import Policy
from untilgreen.core.loop.fold import fold
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.events import Decided, Event
from untilgreen.core.values.model import Outcome, PartSpec
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.core.values.state import RunState

_WORTH = {Outcome.CONVERGED: 2, Outcome.CLAIMED: 2, Outcome.ACCEPTED: 1}
"""How good an outcome is; all others are worth nothing."""
Kind = Literal["same", "earlier", "unknown"]


class PastRun(Struct, frozen=True, kw_only=True):
    """A run that is over, with the detectors that watched it."""

    events: Sequence[Event]
    state: RunState
    detectors: tuple[Detector, ...]


class Candidate(Struct, frozen=True, kw_only=True):
    """A strategy with its options, as a row of the table."""

    name: str
    strategy: Strategy


class Replayed(Struct, frozen=True, kw_only=True):
    """One run with one other strategy."""

    run: str
    kind: Kind
    """Whether it would have ended the same, earlier, or with laps that never happened."""
    lap: int
    """The lap after which it would have ended, or gone another way."""
    outcome: Outcome | None
    """None if it can't be known."""
    why: str
    laps: int = 0
    """Laps that would have been saved; the three fields below are savings, too."""
    cost: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    lost: bool = False
    """The run ended well, and would not have."""


class Row(Struct, frozen=True, kw_only=True):
    """All runs with one strategy."""

    strategy: str
    runs: int
    earlier: int
    unknown: int
    successes: int
    """Runs that ended well, except those whose replay is unknown."""
    lost: int
    laps: int
    saved_laps: int
    cost: float
    saved_cost: float
    seconds: float
    saved_seconds: float
    saved_tokens: int

    @property
    def saved(self) -> float:
        """The share that would have been saved: of the money if known, otherwise of the time."""
        for part, whole in ((self.saved_cost, self.cost), (self.saved_seconds, self.seconds)):
            if whole:
                return part / whole
        return self.saved_laps / self.laps if self.laps else 0.0

    @property
    def lost_share(self) -> float:
        """The share of successes that would have been lost."""
        return self.lost / self.successes if self.successes else 0.0


def past_run(events: Sequence[Event], detectors: tuple[Detector, ...]) -> PastRun | None:
    """The run in a journal, if it is over and has a lap."""
    state = fold(events)
    if state is None or state.outcome is None or not state.laps:
        return None
    return PastRun(events=events, state=state, detectors=detectors)


def name_of(part: PartSpec) -> str:
    """A strategy and what is special about it: `hybrid base=4`."""
    return " ".join([part.name, *(f"{key}={_shown(value)}" for key, value in part.options.items())])


def replay(run: PastRun, candidate: Candidate) -> Replayed:
    """Show the run's laps to the strategy, one after another."""
    last = len(run.state.laps)
    if isinstance(candidate.strategy, Ralph) and run.state.plan.promise is None:
        why = "it waits for a promise, and the agent was never asked for one"
        return Replayed(run=run.state.run, kind="unknown", lap=0, outcome=None, why=why)
    policy = Policy(strategy=candidate.strategy, detectors=tuned_for(run.detectors, candidate.strategy))
    made = list(decisions(run.events))
    place = 0
    while place < len(made):
        state, then = made[place]
        would = decide_again(made[place], policy)
        if not _same_way(then, would):
            would = after_the_default_answer(state, would, policy)
            place = _answered(made, place)
            if not _same_way(made[place].event, would):
                return _other_end(run, state, would)
        place += 1
    why = "it would have done the same"
    return Replayed(run=run.state.run, kind="same", lap=last, outcome=run.state.outcome, why=why)


def row(candidate: str, runs: Sequence[PastRun], replayed: Sequence[Replayed]) -> Row:
    """The totals of all runs."""
    known = {each.run for each in replayed if each.kind != "unknown"}
    good = [run for run in runs if run.state.run in known and _worth(run.state.outcome)]
    return Row(
        strategy=candidate,
        runs=len(runs),
        earlier=sum(each.kind == "earlier" for each in replayed),
        unknown=sum(each.kind == "unknown" for each in replayed),
        successes=len(good),
        lost=sum(each.lost for each in replayed),
        laps=sum(len(run.state.laps) for run in runs),
        saved_laps=sum(each.laps for each in replayed),
        cost=sum(run.state.spent.cost or 0.0 for run in runs),
        saved_cost=sum(each.cost for each in replayed),
        seconds=sum(run.state.elapsed for run in runs),
        saved_seconds=sum(each.seconds for each in replayed),
        saved_tokens=sum(each.tokens for each in replayed),
    )


def _same_way(then: Event, now: Event) -> bool:
    """Whether the next lap would have been the one that happened; hints may differ."""
    if not isinstance(then, Decided) or not isinstance(now, Decided):
        return type(then) is type(now)
    one, other = then.decision, now.decision
    if isinstance(one, Continue) and isinstance(other, Continue):
        return (one.remedy, one.restore, one.agent) == (other.remedy, other.restore, other.agent)
    if isinstance(one, Finish) and isinstance(other, Finish):
        return one.outcome == other.outcome
    return isinstance(one, Ask) and isinstance(other, Ask) and one.choices == other.choices


def _answered(made: Sequence[RecordedDecision], place: int) -> int:
    """The decision that followed from the answer to a question; the same one if nothing was asked."""
    while isinstance(then := made[place].event, Decided) and isinstance(then.decision, Ask):
        following = made[place + 1].event if place + 1 < len(made) else None
        if not isinstance(following, Decided) or following.lap != then.lap:
            break
        place += 1
    return place


def _other_end(run: PastRun, state: RunState, would: Event) -> Replayed:
    lap = would.lap if isinstance(would, Decided) else len(run.state.laps)
    if isinstance(would, Decided) and isinstance(would.decision, Finish):
        return _ended(run, state, lap, would.decision)
    return Replayed(run=run.state.run, kind="unknown", lap=lap, outcome=None, why=_another_way(would))


def _ended(run: PastRun, at: RunState, lap: int, finish: Finish) -> Replayed:
    laps = len(run.state.laps) - lap
    return Replayed(
        run=run.state.run,
        kind="earlier" if laps else "same",
        lap=lap,
        outcome=finish.outcome,
        why=finish.reason,
        laps=laps,
        cost=max(0.0, (run.state.spent.cost or 0.0) - (at.spent.cost or 0.0)),
        seconds=max(0.0, run.state.elapsed - at.elapsed) if laps else 0.0,
        tokens=(run.state.spent.tokens or 0) - (at.spent.tokens or 0),
        lost=_worth(finish.outcome) < _worth(run.state.outcome),
    )


def _another_way(would: Event) -> str:
    decision = would.decision if isinstance(would, Decided) else None
    if isinstance(decision, Continue):
        if decision.remedy is not None:
            return f"it would have tried {decision.remedy!r}, which was not tried there"
        return f"it would have continued: {decision.reason}"
    if isinstance(decision, Ask):
        return "it would have asked a person, whose answer is unknown"
    return "it would have treated the agent's failure differently"


def _worth(outcome: Outcome | None) -> int:
    return _WORTH.get(outcome, 0) if outcome is not None else 0


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
