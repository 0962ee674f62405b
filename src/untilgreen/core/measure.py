"""How good a lap was: its score, its complaints, and whether it is better than all before it."""

from __future__ import annotations

from msgspec.structs import replace

from untilgreen.core.decision import Decision
from untilgreen.core.model import CLAIM_GATE, INTEGRITY_GATE, GateSpec, Plan, Reply, Verdict
from untilgreen.core.rules import Signal
from untilgreen.core.state import Best, Iteration, Open, RunState


def close(
    state: RunState, lap: Open, signals: tuple[Signal, ...] = (), decision: Decision | None = None
) -> RunState:
    """The state with the lap under way measured and put behind it."""
    seen = replace(_measure(state, lap), signals=signals, decision=decision)
    if seen.number == 0:
        return _remember(replace(state, baseline=seen, open=None), seen)
    red_laps = dict(state.red_laps)
    for name, verdict in lap.verdicts.items():
        if verdict.status in ("fail", "error"):
            red_laps[name] = red_laps.get(name, 0) + 1
    closed = replace(
        state,
        iterations=state.iterations + (seen,),  # noqa: RUF005 - half the time, and all of it for long runs
        open=None,
        remedy_laps=state.remedy_laps + (seen.remedy is not None),
        tried=() if seen.improved else state.tried,
        red_laps=red_laps,
    )
    return _remember(closed, seen)


def judged(plan: Plan) -> list[GateSpec]:
    """The required gates that look at the work itself."""
    return [gate for gate in plan.gates if gate.required and gate.kind not in (CLAIM_GATE, INTEGRITY_GATE)]


def is_green(plan: Plan, verdicts: dict[str, Verdict]) -> bool:
    """All required gates passed in this lap; a missing verdict is no pass."""
    required = [gate.name for gate in plan.gates if gate.required]
    return bool(required) and all(_status(verdicts, name) == "pass" for name in required)


def cheated(plan: Plan, verdicts: dict[str, Verdict]) -> bool:
    """Gates pass only because what they read was weakened, so their passing is worth nothing."""
    return any(gate.kind == INTEGRITY_GATE and _status(verdicts, gate.name) == "fail" for gate in plan.gates)


def lacks_only_the_claim(plan: Plan, verdicts: dict[str, Verdict]) -> bool:
    """Green but for the promise, and for the gates that wait for it."""
    claim = next((gate for gate in plan.gates if gate.kind == CLAIM_GATE), None)
    if claim is None or _status(verdicts, claim.name) in ("skip", "pass"):
        return False
    return all(_status(verdicts, gate.name) == "pass" for gate in judged(plan) if gate.when != "claimed")


def _measure(state: RunState, lap: Open) -> Iteration:
    plan, verdicts = state.plan, lap.verdicts
    given = _given(plan, verdicts)
    score, count, reach = _score(plan, verdicts), sum(v.count for v in given.values()), _reach(given)
    fewer = state.fewest is not None and reach >= state.reach and count < state.fewest
    improved = fewer or (state.top_score is not None and score > state.top_score)
    green, awaiting = is_green(plan, verdicts), lacks_only_the_claim(plan, verdicts)
    before = state.iterations[-1] if state.iterations else None
    first = before is None and state.baseline is None
    false_claim = lap.claim and not green and not awaiting
    return Iteration(
        number=lap.number,
        agent=lap.agent,
        started=lap.started,
        ended=state.now,
        reply=lap.reply or Reply(),
        claim=lap.claim,
        base=lap.base,
        outside=lap.outside,
        snapshot=lap.snapshot,
        changes=lap.changes,
        verdicts=verdicts,
        failing=frozenset[str]().union(*(verdict.failing(name) for name, verdict in given.items())),
        count=count,
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


def _remember(state: RunState, seen: Iteration) -> RunState:
    """Best and records, carried on so that no lap has to look at all the others."""
    mine = Best(
        lap=seen.number, snapshot=seen.snapshot, passed=seen.passed, score=seen.score, count=seen.count
    )
    reach, fewest = _reach(_given(state.plan, seen.verdicts)), state.fewest
    if fewest is None or reach > state.reach:  # a red early stage hides the complaints of the later ones
        fewest = seen.count
    elif reach == state.reach:
        fewest = min(fewest, seen.count)
    return replace(
        state,
        best=mine if state.best is None or mine.rank >= state.best.rank else state.best,
        top_score=seen.score if state.top_score is None else max(state.top_score, seen.score),
        reach=max(state.reach, reach),
        fewest=fewest,
    )


def _given(plan: Plan, verdicts: dict[str, Verdict]) -> dict[str, Verdict]:
    """The verdicts of required gates, without the promise."""
    names = [gate.name for gate in plan.gates if gate.required and gate.kind != CLAIM_GATE]
    return {name: verdicts[name] for name in names if name in verdicts}


def _score(plan: Plan, verdicts: dict[str, Verdict]) -> float:
    """The mean over the gates that judge the work: pass 1, fail what the gate says, anything else 0."""
    if cheated(plan, verdicts):
        return 0.0
    gates = judged(plan)
    if not gates:
        return float(is_green(plan, verdicts))
    return sum(gate_score(verdicts.get(gate.name)) for gate in gates) / len(gates)


def gate_score(verdict: Verdict | None) -> float:
    """What one verdict adds to the overall score."""
    if verdict is None or verdict.status in ("error", "skip"):
        return 0.0
    return 1.0 if verdict.status == "pass" else min(max(verdict.score, 0.0), 1.0)


def _reach(given: dict[str, Verdict]) -> int:
    return sum(verdict.status != "skip" for verdict in given.values())


def _status(verdicts: dict[str, Verdict], name: str) -> str:
    return verdicts[name].status if name in verdicts else "skip"
