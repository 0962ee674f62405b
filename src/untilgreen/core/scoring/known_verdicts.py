"""Verdicts that are known before a gate runs."""

from __future__ import annotations

from untilgreen.core.values.model import APPROVAL_GATE, ASKS_A_PERSON, CLAIM_GATE, Finding, GateSpec, Verdict
from untilgreen.core.values.state import Open, RunState


def known_verdict(state: RunState, lap: Open, gate: GateSpec) -> Verdict | None:
    """The verdict, if it is known without running the gate; None if the gate has to run."""
    if gate.kind == CLAIM_GATE:
        return _claim(state, lap)
    if gate.name in state.remembered and state.remembered[gate.name][0] == lap.snapshot:
        return state.remembered[gate.name][1]
    if lap.number == 0 and gate.kind in ASKS_A_PERSON:
        return Verdict(status="skip", excerpt="people and judges are not asked before the first lap")
    if gate.when == "claimed" and not lap.claim:
        return Verdict(status="skip", excerpt="runs only when the agent claims to be done")
    if gate.kind == APPROVAL_GATE:
        return approval(state, gate, lap.snapshot or "")
    if gate.when == "changed" and state.last is not None and state.last.snapshot == lap.snapshot:
        before = state.last.verdicts.get(gate.name)
        return before if before is not None and before.status != "skip" else None
    return None


def approval(state: RunState, gate: GateSpec, snapshot: str) -> Verdict | None:
    """What people said about these files; None while answers are missing."""
    said = [each for each in state.approvals if each.gate == gate.name and each.snapshot == snapshot]
    refused = next((each for each in said if not each.yes), None)
    if refused is not None:
        why = f"{refused.by} rejected it" + (f": {refused.note}" if refused.note else "")
        return Verdict(status="fail", findings=(Finding(id=f"no from {refused.by}", message=why),))
    enough = len(said) >= int(gate.options.get("need", 1))
    return Verdict(status="pass", score=1.0) if enough else None


def _claim(state: RunState, lap: Open) -> Verdict:
    promise = state.plan.promise
    if promise is not None and lap.claim and lap.number >= promise.min:
        return Verdict(status="pass", score=1.0)
    why = "the agent did not give the promise"
    if promise is not None and lap.claim:
        why = f"the promise came in lap {lap.number}; it counts from lap {promise.min} on"
    return Verdict(status="fail", findings=(Finding(id="promise", message=why),))
