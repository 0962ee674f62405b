"""Which red gates stop a run, and what people are asked about them."""

from __future__ import annotations

from untilgreen.core.briefing.excerpt import trim
from untilgreen.core.scoring.gate_health import unrunnable
from untilgreen.core.scoring.vanished_tests import is_doubted
from untilgreen.core.scoring.weakened_tests import named, weakening_files
from untilgreen.core.values.decision import ACCEPT, CONTINUE, STOP, Ask
from untilgreen.core.values.model import INTEGRITY_GATE, NOT_OF_FILES_ALONE, GateSpec, Verdict
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several

ABOUT_GATE = "gate"
"""Marks a question about gates."""


def failed_with(state: RunState, last: Lap, on_fail: str) -> tuple[str, ...]:
    """The red gates whose `on_fail` is this; after `max_attempts` red laps a gate asks a person."""
    red = []
    for gate in state.plan.gates:
        verdict = last.verdicts.get(gate.name)
        if verdict is None or verdict.status not in ("fail", "error"):
            continue
        worn_out = gate.max_attempts is not None and state.red_laps.get(gate.name, 0) >= gate.max_attempts
        a_person = worn_out or is_doubted(verdict)
        if gate.on_fail == on_fail or (on_fail == "ask" and a_person and gate.on_fail == "iterate"):
            red.append(gate.name)
    return tuple(red)


def unproved(state: RunState, last: Lap) -> tuple[str, ...]:
    """The integrity gates that could not decide while all else is green; no agent can fix that."""
    red = [gate for gate in state.plan.gates if gate.required and _is_red(last, gate)]
    unsure = all(gate.kind == INTEGRITY_GATE and last.verdicts[gate.name].status == "error" for gate in red)
    return tuple(gate.name for gate in red) if unsure else ()


def red_before(state: RunState, last: Lap) -> dict[str, list[int]]:
    """The gates that were red in an earlier lap on exactly these files, and in which laps."""
    earlier = [*([state.baseline] if state.baseline else []), *state.laps[:-1]]
    same = [lap for lap in earlier if lap.snapshot == last.snapshot]
    found: dict[str, list[int]] = {}
    for gate in state.plan.gates:
        laps = [lap.number for lap in same if _is_red(lap, gate)]
        if laps and gate.required and gate.kind not in NOT_OF_FILES_ALONE and not _is_red(last, gate):
            found[gate.name] = laps
    return found


def gate_question(state: RunState, last: Lap, gates: tuple[str, ...]) -> Ask:
    """The question about gates that are red after a lap."""
    said = [_ended(state.plan.gate(name), last.verdicts[name]) for name in gates]
    return Ask(
        question=f"Lap {last.number}, {several(last.count, 'finding')} in all: {'; '.join(said)}. Continue?",
        choices=(CONTINUE, ACCEPT, STOP),
        default=CONTINUE,
        reason="a gate passed with far fewer tests than before"
        if any(is_doubted(last.verdicts[name]) for name in gates)
        else f"a person decides when {' or '.join(gates)} is red",
        metadata={"about": ABOUT_GATE, "gates": list(gates)},
    )


def no_clean_room(state: RunState, base: Lap) -> Ask | None:
    """Gates that can't work in a clean room can't prove anything later, so ask before the work begins."""
    guards = [gate.name for gate in state.plan.gates if gate.kind == INTEGRITY_GATE]
    verdicts = [base.verdicts[name] for name in guards if name in base.verdicts]
    why = [each.message for verdict in verdicts if unrunnable(verdict) for each in verdict.findings]
    if not why:
        return None
    return Ask(
        question=f"{' '.join(why)} Continue anyway? You will be asked again when the gates are green.",
        choices=(CONTINUE, STOP),
        default=CONTINUE,
        reason="gates that pass only in the workspace prove nothing",
        until=None,
        metadata={"about": ABOUT_GATE, "gates": guards},
    )


def _is_red(lap: Lap, gate: GateSpec) -> bool:
    verdict = lap.verdicts.get(gate.name)
    return verdict is not None and verdict.status in ("fail", "error")


def _ended(gate: GateSpec, verdict: Verdict) -> str:
    """What happened; with the first finding for a gate that is broken or not believed."""
    if verdict.status == "fail" and not is_doubted(verdict):
        files = weakening_files(verdict) if gate.kind == INTEGRITY_GATE else ()
        return f"{gate.name} failed: tests were weakened ({named(files)})" if files else f"{gate.name} failed"
    why = verdict.findings[0].message if verdict.findings else ""
    word = "is not believed" if is_doubted(verdict) else "is broken"
    return f"{gate.name} {word} ({trim(why, 300)})" if why else f"{gate.name} {word}"
