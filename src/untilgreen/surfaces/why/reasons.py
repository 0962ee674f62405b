"""The evidence of the last decision as values: what was seen in which laps, what was tried, what is red."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.decision import Ask, Continue, Decision, Finish
from untilgreen.core.limits import ceiling
from untilgreen.core.model import Outcome
from untilgreen.core.remedies import ASK
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration, RunState
from untilgreen.core.units import show_duration
from untilgreen.engine.told import status
from untilgreen.surfaces.output import Line
from untilgreen.surfaces.result import GOOD, why
from untilgreen.surfaces.why.ways import Way, changes, ways

MOST_COMPLAINTS = 20


class LapSeen(Struct, frozen=True, kw_only=True):
    """What one lap did and left behind, in the few figures that a pattern shows in."""

    lap: int
    agent: str
    score: float
    complaints: int
    changed: int
    """Files that its turn changed."""
    remedy: str | None = None
    error: str | None = None
    claimed: bool = False
    improved: bool = False
    tree: str | None = None


class RungTried(Struct, frozen=True, kw_only=True):
    """One rung of the remedy ladder, and whether it helped."""

    rung: str
    lap: int
    helped: bool


class RedGate(Struct, frozen=True, kw_only=True):
    """A gate that was not green in the last lap."""

    gate: str
    status: str
    required: bool
    complaints: int
    first: tuple[str, ...]
    """The first complaints by id."""
    said: str = ""
    """The first complaint's message."""


class LimitUsed(Struct, frozen=True, kw_only=True):
    """How much of a ceiling is used."""

    limit: str
    used: str
    most: str
    share: float


class Reasons(Line, frozen=True, kw_only=True, tag="why"):
    """All that `untilgreen why` tells."""

    run: str
    status: str
    reason: str
    lap: int
    """The lap that the decision was about; 0 is the untouched tree."""
    decision: Decision | None
    strategy: str
    detectors: tuple[str, ...]
    signals: tuple[Signal, ...]
    laps: tuple[LapSeen, ...]
    """The laps that the signals name, or the last few."""
    tried: tuple[RungTried, ...]
    untried: tuple[str, ...]
    red: tuple[RedGate, ...]
    limits: tuple[LimitUsed, ...]
    change: tuple[str, ...]
    """What would have to change for another end."""
    ways: tuple[Way, ...]
    """How to go on, as commands."""


def reasons(state: RunState, *, flags: str = "") -> Reasons:
    """Look at the last decision; `flags` end every command that is named."""
    last = state.last
    signals = last.signals if last else ()
    red = red_gates(state)
    return Reasons(
        run=state.run,
        status=status(state),
        reason=why(state),
        lap=last.number if last else 0,
        decision=state.ending or (last.decision if last else None),
        strategy=state.plan.strategy.name,
        detectors=tuple(each.name for each in state.plan.detectors),
        signals=signals,
        laps=tuple(_seen(lap) for lap in _shown_laps(state, signals)),
        tried=_tried(state),
        untried=tuple(rung for rung in state.plan.remedies if rung not in _ever(state)),
        red=red,
        limits=tuple(_limits(state)),
        change=() if state.outcome in GOOD else changes(state, signals, [each.gate for each in red]),
        ways=ways(state, flags),
    )


def red_gates(state: RunState) -> tuple[RedGate, ...]:
    """The gates that were not green when the run was last looked at."""
    verdicts = state.last.verdicts if state.last else {}
    found = [(gate, verdicts[gate.name]) for gate in state.plan.gates if gate.name in verdicts]
    return tuple(
        RedGate(
            gate=gate.name,
            status=verdict.status,
            required=gate.required,
            complaints=verdict.count,
            first=tuple(finding.id for finding in verdict.findings[:MOST_COMPLAINTS]),
            said=next((finding.message for finding in verdict.findings if finding.message), ""),
        )
        for gate, verdict in found
        if verdict.status in ("fail", "error")
    )


def decided(decision: Decision | None) -> str:
    """The decision in one word or two."""
    match decision:
        case Continue(remedy=remedy):
            return f"another lap, with the remedy {remedy!r}" if remedy else "another lap"
        case Finish(outcome=outcome):
            return f"the end, {outcome}"
        case Ask():
            return "a question for a person"
        case None:
            return "nothing yet"


def _shown_laps(state: RunState, signals: tuple[Signal, ...]) -> list[Iteration]:
    named = {lap for signal in signals for lap in signal.laps}
    fitting = [lap for lap in state.iterations if lap.number in named]
    return (fitting or list(state.iterations))[-9:]


def _seen(lap: Iteration) -> LapSeen:
    return LapSeen(
        lap=lap.number,
        agent=lap.agent,
        score=lap.score,
        complaints=lap.count,
        changed=len(lap.changes),
        remedy=lap.remedy,
        error=lap.reply.error,
        claimed=lap.claim,
        improved=lap.improved,
        tree=lap.snapshot,
    )


def _tried(state: RunState) -> tuple[RungTried, ...]:
    return tuple(
        RungTried(rung=lap.remedy, lap=lap.number, helped=lap.improved)
        for lap in state.iterations
        if lap.remedy
    )


def _ever(state: RunState) -> set[str]:
    """Rungs that were tried at any time; `ask` is one as soon as its question was put."""
    ending = state.ending
    out_of_rungs = ending is not None and ending.outcome is Outcome.STUCK and "limit" not in ending.metadata
    asked = state.asked is not None or out_of_rungs
    return {rung.rung for rung in _tried(state)} | set(state.tried) | ({ASK} if asked else set())


def _limits(state: RunState) -> list[LimitUsed]:
    limits, spent = state.plan.limits, state.spent
    rows = [
        ("iterations", float(len(state.iterations)), limits.iterations, "{:.0f}".format),
        ("time", state.elapsed, limits.time, show_duration),
        ("errors", float(state.errors), limits.errors, "{:.0f}".format),
        ("cost", spent.cost, limits.cost, "${:.2f}".format),
        ("tokens", float(spent.tokens), limits.tokens, "{:,.0f}".format),
    ]
    return [
        LimitUsed(limit=name, used=show(used), most=show(ceiling(most)), share=used / ceiling(most))
        for name, used, most, show in rows
        if most is not None
    ]
