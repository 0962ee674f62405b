"""The evidence for the last decision, as values: what was seen, what was tried, what fails."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.loop.remedies import ASK
from untilgreen.core.values.decision import Ask, Continue, Decision, Finish
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import Outcome, Plan
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import show_duration
from untilgreen.engine.store.reading import status
from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.surfaces.json.lap import LapView, lap_view
from untilgreen.surfaces.json.lines import Line
from untilgreen.surfaces.text.summary import why
from untilgreen.surfaces.why.next_commands import Way, changes, ways

MOST_FINDINGS = 20


class RungTried(Struct, frozen=True, kw_only=True):
    """A remedy that was tried, and whether it helped."""

    rung: str
    lap: int
    helped: bool


class RedGate(Struct, frozen=True, kw_only=True):
    """A gate that failed or broke in the last lap."""

    gate: str
    status: str
    required: bool
    findings: int
    first: tuple[str, ...]
    """The first findings by id."""
    said: str = ""
    """The first finding's message."""


class LimitUsed(Struct, frozen=True, kw_only=True):
    """How much of a limit is used."""

    limit: str
    used: str
    most: str
    share: float


class Reasons(Line, frozen=True, kw_only=True, tag="why"):
    """What `untilgreen why` prints."""

    run: str
    status: str
    reason: str
    lap: int
    """The lap that was judged; 0 is the baseline."""
    decision: Decision | None
    strategy: str
    detectors: tuple[str, ...]
    quiet: tuple[str, ...]
    """The detectors that saw nothing."""
    signals: tuple[Signal, ...]
    laps: tuple[LapView, ...]
    """The laps that the signals name, or the last few."""
    tried: tuple[RungTried, ...]
    untried: tuple[str, ...]
    red: tuple[RedGate, ...]
    unanswered: dict[str, tuple[int, ...]]
    """Gates that asked for a person while nobody could answer, and in which laps."""
    limits: tuple[LimitUsed, ...]
    change: tuple[str, ...]
    """What has to change for a better outcome."""
    ways: tuple[Way, ...]
    """Next steps, as commands."""


def reasons(state: RunState, *, flags: str = "", driven: bool = False) -> Reasons:
    """Explain the last decision; commands end with `flags`; `driven`: a process drives the run."""
    last = state.last
    signals = last.signals if last else ()
    red = red_gates(state)
    return Reasons(
        run=state.run,
        status=status(state, driven=driven),
        reason=why(state, driven=driven),
        lap=last.number if last else 0,
        decision=state.ending or (last.decision if last else None),
        strategy=state.plan.strategy.name,
        detectors=tuple(each.name for each in state.plan.detectors),
        quiet=_quiet(state.plan, signals),
        signals=signals,
        laps=tuple(lap_view(lap) for lap in _shown_laps(state, signals)),
        tried=_tried(state),
        untried=tuple(rung for rung in state.plan.remedies if rung not in _ever(state)),
        red=red,
        unanswered=_unanswered(state),
        limits=tuple(_limits(state)),
        change=()
        if state.outcome and state.outcome.good
        else changes(state, signals, [each.gate for each in red]),
        ways=ways(state, flags, driven=driven),
    )


def red_gates(state: RunState) -> tuple[RedGate, ...]:
    """The gates that failed or broke in the last lap."""
    verdicts = state.last.verdicts if state.last else {}
    found = [(gate, verdicts[gate.name]) for gate in state.plan.gates if gate.name in verdicts]
    return tuple(
        RedGate(
            gate=gate.name,
            status=verdict.status,
            required=gate.required,
            findings=verdict.count,
            first=tuple(finding.id for finding in verdict.findings[:MOST_FINDINGS]),
            said=next((finding.message for finding in verdict.findings if finding.message), ""),
        )
        for gate, verdict in found
        if verdict.status in ("fail", "error")
    )


def decided(decision: Decision | None) -> str:
    """The decision in a few words."""
    match decision:
        case Continue(remedy=remedy):
            return f"another lap, with remedy {remedy!r}" if remedy else "another lap"
        case Finish(outcome=outcome):
            return f"end the run as {outcome}"
        case Ask():
            return "ask a person"
        case None:
            return "none yet"


def _quiet(plan: Plan, signals: tuple[Signal, ...]) -> tuple[str, ...]:
    """The detectors that saw nothing.

    A built-in detector's signals have its name as their kind. A custom detector may name its signals
    anything, so it counts as quiet only if every signal has a detector of its name.
    """
    used = {each.use or each.name for each in plan.detectors}
    kinds = {signal.kind for signal in signals}
    certain = used if kinds <= used else BUILT_IN["detector"].keys()
    return tuple(each.name for each in plan.detectors if (each.use or each.name) in certain - kinds)


def _shown_laps(state: RunState, signals: tuple[Signal, ...]) -> list[Lap]:
    named = {lap for signal in signals for lap in signal.laps}
    fitting = [lap for lap in state.laps if lap.number in named]
    return (fitting or list(state.laps))[-9:]


def _tried(state: RunState) -> tuple[RungTried, ...]:
    return tuple(
        RungTried(rung=lap.remedy, lap=lap.number, helped=lap.improved) for lap in state.laps if lap.remedy
    )


def _unanswered(state: RunState) -> dict[str, tuple[int, ...]]:
    gates = sorted({gate for lap in state.laps for gate in lap.unanswered})
    return {gate: tuple(lap.number for lap in state.laps if gate in lap.unanswered) for gate in gates}


def _ever(state: RunState) -> set[str]:
    """Remedies tried at any time; `ask` counts as soon as its question was put."""
    ending = state.ending
    out_of_rungs = ending is not None and ending.outcome is Outcome.STUCK and "limit" not in ending.metadata
    asked = state.asked is not None or out_of_rungs
    return {rung.rung for rung in _tried(state)} | set(state.tried) | ({ASK} if asked else set())


def _limits(state: RunState) -> list[LimitUsed]:
    limits, spent = state.plan.limits, state.spent
    rows = [
        ("iterations", len(state.laps), state.plan.most_laps, "{:.0f}".format),
        ("time", state.elapsed, limits.time, show_duration),
        ("errors", state.errors, limits.errors, "{:.0f}".format),
        ("cost", spent.cost, limits.cost, "${:.2f}".format),
        ("tokens", spent.tokens, limits.tokens, "{:,.0f}".format),
    ]
    return [
        LimitUsed(
            limit=name,
            used="unknown" if used is None else show(used),
            most=show(ceiling(most)),
            share=(used or 0.0) / ceiling(most),
        )
        for name, used, most, show in rows
        if most is not None
    ]
