"""Whether a gate is green, red or broken, and flaky or slow as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from untilgreen.core.values.model import Finding, GateSpec, Plan, Verdict
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration

Health = Literal["green", "red", "broken", "flaky", "slow"]
SLOW_SECONDS = 60.0
"""A gate that takes this long is reported as slow."""
SLOW_SHARE = 0.5
"""A gate this close to its timeout would hit it on a busier machine."""
TIMEOUT = "timeout"
"""Id of the finding about a gate that timed out."""


class Tally(Struct, frozen=True, kw_only=True):
    """The verdicts of one gate in all rounds on the same files."""

    health: list[Health]
    ran: int
    passed: int
    seconds: float
    """The slowest round."""
    findings: dict[str, int]
    """In how many rounds each finding was reported."""


def out_of_time(seconds: float) -> Finding:
    """The finding about a gate that timed out."""
    return Finding(id=TIMEOUT, message=f"timed out after {show_duration(seconds)}")


def timed_out(verdict: Verdict) -> bool:
    """Whether the gate timed out."""
    return verdict.status == "error" and any(finding.id == TIMEOUT for finding in verdict.findings)


def unrunnable(verdict: Verdict) -> bool:
    """Whether the gate itself is broken; a timeout may be the fault of the work."""
    return verdict.status == "error" and not timed_out(verdict)


def health(gate: GateSpec, verdict: Verdict) -> list[Health]:
    """The health of one gate; empty if it did not run."""
    if verdict.status == "skip":
        return []
    said: list[Health] = ["green" if verdict.status == "pass" else "red"]
    if unrunnable(verdict):
        said = ["broken"]
    if verdict.flaky:
        said.append("flaky")
    if is_slow(gate, verdict.duration) or timed_out(verdict):
        said.append("slow")
    return said


def is_slow(gate: GateSpec, seconds: float) -> bool:
    """Whether it takes long, or uses most of its time limit."""
    return seconds >= SLOW_SECONDS or (gate.timeout is not None and seconds >= SLOW_SHARE * gate.timeout)


def health_by_gate(plan: Plan, verdicts: Mapping[str, Verdict]) -> dict[str, list[Health]]:
    """The health of all gates that ran."""
    said = {gate.name: health(gate, verdicts[gate.name]) for gate in plan.gates if gate.name in verdicts}
    return {name: words for name, words in said.items() if words}


def health_in_words(plan: Plan, verdicts: Mapping[str, Verdict], *, plain: bool = True) -> str:
    """The same as text, flaky and slow gates first, or only those if not `plain`."""
    said = {name: words for name, words in health_by_gate(plan, verdicts).items() if plain or len(words) > 1}
    names = sorted(said, key=lambda name: len(said[name]), reverse=True)
    return "; ".join(f"{name}: {_words(plan.gate(name), said[name], verdicts[name])}" for name in names)


def failing_words(verdict: Verdict) -> str:
    """What a red gate says, as in "tests: 2 failing"."""
    if unrunnable(verdict):
        return "broken"
    return f"{verdict.count:,} failing" if verdict.findings and not timed_out(verdict) else "failing"


def flakes(state: RunState) -> dict[str, tuple[int, ...]]:
    """The gates whose verdict changed while no file did, and in which laps; 0 is the baseline."""
    found: dict[str, tuple[int, ...]] = {}
    for lap in state.baseline_and_laps:
        for name, verdict in lap.verdicts.items():
            if verdict.flaky:
                found[name] = (*found.get(name, ()), lap.number)
    return found


def _words(gate: GateSpec, said: list[Health], verdict: Verdict) -> str:
    limit = f" of its {show_duration(gate.timeout)}" if gate.timeout is not None else ""
    words = {"slow": f"slow ({show_duration(verdict.duration)}{limit})", "red": failing_words(verdict)}
    return ", ".join(words.get(word, word) for word in said)
