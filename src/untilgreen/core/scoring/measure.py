"""How good a lap was: its score, its findings, and whether it beats all laps before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from untilgreen.core.scoring.gate_scores import EARLIER, rate, remembered, remembered_counts
from untilgreen.core.values.decision import Decision
from untilgreen.core.values.model import CLAIM_GATE, INTEGRITY_GATE, GateSpec, Plan, Reply, Verdict
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Best, Lap, Open, RunState


def close_lap(
    state: RunState, lap: Open, signals: tuple[Signal, ...] = (), decision: Decision | None = None
) -> RunState:
    """The state with the current lap measured and closed."""
    state = _with_tools(state, lap.verdicts)
    seen = replace(_measure(state, lap), signals=signals, decision=decision)
    if seen.number == 0:
        return _remember(replace(state, baseline=seen, open=None), seen)
    red_laps = dict(state.red_laps)
    for name, verdict in lap.verdicts.items():
        if verdict.status in ("fail", "error"):
            red_laps[name] = red_laps.get(name, 0) + 1
    closed = replace(
        state,
        laps=state.laps + (seen,),  # noqa: RUF005 - half the time, and all of it for long runs
        open=None,
        tried=() if seen.improved else state.tried,
        red_laps=red_laps,
    )
    return _remember(closed, seen)


def judged(plan: Plan) -> list[GateSpec]:
    """The required gates that judge the work itself."""
    return [gate for gate in plan.gates if gate.required and gate.kind not in (CLAIM_GATE, INTEGRITY_GATE)]


def is_green(plan: Plan, verdicts: Mapping[str, Verdict]) -> bool:
    """Whether all required gates passed in this lap; a missing verdict is not a pass."""
    required = [gate.name for gate in plan.gates if gate.required]
    return bool(required) and all(_status(verdicts, name) == "pass" for name in required)


def cheated(plan: Plan, verdicts: Mapping[str, Verdict]) -> bool:
    """Whether the integrity gate says that gates pass only because what they check was weakened."""
    return any(gate.kind == INTEGRITY_GATE and _status(verdicts, gate.name) == "fail" for gate in plan.gates)


def lacks_only_the_claim(plan: Plan, verdicts: Mapping[str, Verdict]) -> bool:
    """Green except for the promise, and for the gates that wait for it."""
    claim = next((gate for gate in plan.gates if gate.kind == CLAIM_GATE), None)
    if claim is None or _status(verdicts, claim.name) in ("skip", "pass"):
        return False
    return all(_status(verdicts, gate.name) == "pass" for gate in judged(plan) if gate.when != "claimed")


def _with_tools(state: RunState, verdicts: Mapping[str, Verdict]) -> RunState:
    """The state with what these verdicts show; if that is more than ever, all laps are scored again."""
    tools, stated = remembered(state.tools, verdicts), remembered_counts(state.stated, verdicts)
    if tools is state.tools and stated is state.stated:
        return state
    state = replace(state, tools=tools, stated=stated)
    laps: list[Lap] = []
    known = replace(state, best=None, top_score=None, reach=0, fewest=None)
    for lap in state.baseline_and_laps:
        score, failures = _rated(state, lap.verdicts, laps)
        laps.append(replace(lap, score=score, failures=failures))
        known = _remember(known, laps[-1])
    if state.baseline is None:
        return replace(known, laps=tuple(laps))
    return replace(known, baseline=laps[0], laps=tuple(laps[1:]))


def _measure(state: RunState, lap: Open) -> Lap:
    plan, verdicts = state.plan, lap.verdicts
    given = _required_verdicts(plan, verdicts)
    score, failures = _rated(state, verdicts, state.laps[-EARLIER:] or state.baseline_and_laps)
    fewer = state.fewest is not None and _gates_reached(given) >= state.reach and failures < state.fewest
    improved = fewer or (state.top_score is not None and score > state.top_score)
    green, awaiting = is_green(plan, verdicts), lacks_only_the_claim(plan, verdicts)
    before = state.laps[-1] if state.laps else None
    first = before is None and state.baseline is None
    false_claim = lap.claim and not green and not awaiting
    return Lap(
        number=lap.number,
        agent=lap.agent,
        started=lap.started,
        ended=state.now,
        duration=state.elapsed - lap.elapsed,
        reply=lap.reply or Reply(),
        claim=lap.claim,
        base=lap.base,
        outside=lap.outside,
        snapshot=lap.snapshot,
        changes=lap.changes,
        verdicts=MappingProxyType(verdicts),
        failing=frozenset[str]().union(*(verdict.failing(name) for name, verdict in given.items())),
        count=sum(verdict.count for verdict in given.values()),
        failures=failures,
        score=score,
        passed=0 if cheated(plan, verdicts) else sum(v.status == "pass" for v in given.values()),
        green=green,
        awaiting_claim=awaiting,
        gain=0.0 if state.top_score is None else score - state.top_score,
        fewer=fewer,
        improved=improved,
        since_best=0 if improved or first else (before.since_best if before else 0) + (not awaiting),
        rejected=0 if improved else (before.rejected if before else 0) + false_claim,
        remedy=lap.remedy,
        tokens=lap.usage.tokens,
        cost=lap.cost,
    )


def _remember(state: RunState, seen: Lap) -> RunState:
    """Carry the best lap and the records along, so that no lap has to be compared with all others."""
    mine = Best(
        lap=seen.number,
        snapshot=seen.snapshot,
        passed=seen.passed,
        score=seen.score,
        failures=seen.failures,
    )
    reach, fewest = _gates_reached(_required_verdicts(state.plan, seen.verdicts)), state.fewest
    if fewest is None or reach > state.reach:  # a red early stage hides the findings of the later ones
        fewest = seen.failures
    elif reach == state.reach:
        fewest = min(fewest, seen.failures)
    return replace(
        state,
        best=mine if state.best is None or _beats(mine, state.best, state.plan, seen) else state.best,
        top_score=seen.score if state.top_score is None else max(state.top_score, seen.score),
        reach=max(state.reach, reach),
        fewest=fewest,
    )


def _beats(mine: Best, best: Best, plan: Plan, lap: Lap) -> bool:
    """Of equally good laps the latest wins, but the untouched files are only replaced by something better.

    If no gate judged the work, the latest lap is kept.
    """
    looked = any(_status(lap.verdicts, gate.name) != "skip" for gate in judged(plan))
    return mine.rank > best.rank or (mine.rank == best.rank and not (best.lap == 0 and looked))


def _required_verdicts(plan: Plan, verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """The verdicts of required gates, without the promise."""
    names = [gate.name for gate in plan.gates if gate.required and gate.kind != CLAIM_GATE]
    return {name: verdicts[name] for name in names if name in verdicts}


def _rated(state: RunState, verdicts: Mapping[str, Verdict], earlier: Sequence[Lap]) -> tuple[float, int]:
    """Score and failures of a lap: the mean over the gates that judge the work, and the total of failures."""
    plan = state.plan
    ratings = {
        name: rate(name, verdict, state.tools.get(name, {}), earlier, state.stated.get(name, {}))
        for name, verdict in _required_verdicts(plan, verdicts).items()
    }
    failures = sum(rating.failures for rating in ratings.values())
    if cheated(plan, verdicts):
        return 0.0, failures
    gates = judged(plan)
    if not gates:
        return float(is_green(plan, verdicts)), failures
    return sum(ratings[gate.name].score for gate in gates if gate.name in ratings) / len(gates), failures


def _gates_reached(given: dict[str, Verdict]) -> int:
    return sum(verdict.status != "skip" for verdict in given.values())


def _status(verdicts: Mapping[str, Verdict], name: str) -> str:
    return verdicts[name].status if name in verdicts else "skip"
