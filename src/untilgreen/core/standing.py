"""How gates stand on files that nobody works on: green, red or broken, and flaky or slow beside it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from untilgreen.core.model import Finding, GateSpec, Plan, Verdict
from untilgreen.core.state import RunState
from untilgreen.core.units import show_duration

Standing = Literal["green", "red", "broken", "flaky", "slow"]
SLOW_SECONDS = 60.0
"""What every lap waits for that long is worth a word."""
SLOW_SHARE = 0.5
"""So near to its time limit a gate is ended on a busier day."""
TIMEOUT = "timeout"
"""Id of the finding that a gate was ended by its time limit."""


class Tally(Struct, frozen=True, kw_only=True):
    """What one gate said over all rounds on the same files."""

    standing: list[Standing]
    ran: int
    passed: int
    seconds: float
    """The longest that it took."""
    findings: dict[str, int]
    """In how many rounds each complaint came."""


def out_of_time(seconds: float) -> Finding:
    """The complaint about a gate that was ended by its time limit."""
    return Finding(id=TIMEOUT, message=f"ended after {show_duration(seconds)}, its time limit")


def timed_out(verdict: Verdict) -> bool:
    """Whether the gate was ended by its time limit."""
    return verdict.status == "error" and any(finding.id == TIMEOUT for finding in verdict.findings)


def unrunnable(verdict: Verdict) -> bool:
    """The gate itself is broken; a time-out is not that, the work may be what hangs."""
    return verdict.status == "error" and not timed_out(verdict)


def standing(gate: GateSpec, verdict: Verdict) -> list[Standing]:
    """The words for one gate; none where it did not run."""
    if verdict.status == "skip":
        return []
    said: list[Standing] = ["green" if verdict.status == "pass" else "red"]
    if unrunnable(verdict):
        said = ["broken"]
    if verdict.flaky:
        said.append("flaky")
    if is_slow(gate, verdict.duration) or timed_out(verdict):
        said.append("slow")
    return said


def is_slow(gate: GateSpec, seconds: float) -> bool:
    """Whether it takes long by itself, or most of the time that it has."""
    return seconds >= SLOW_SECONDS or (gate.timeout is not None and seconds >= SLOW_SHARE * gate.timeout)


def standings(plan: Plan, verdicts: dict[str, Verdict]) -> dict[str, list[Standing]]:
    """The words for all gates that ran."""
    said = {gate.name: standing(gate, verdicts[gate.name]) for gate in plan.gates if gate.name in verdicts}
    return {name: words for name, words in said.items() if words}


def told(plan: Plan, verdicts: dict[str, Verdict], *, plain: bool = True) -> str:
    """The same in a sentence, `plain` green and red left out or behind what is more than that."""
    said = {name: words for name, words in standings(plan, verdicts).items() if plain or len(words) > 1}
    names = sorted(said, key=lambda name: len(said[name]), reverse=True)
    return "; ".join(f"{name} is {_words(plan.gate(name), said[name], verdicts[name])}" for name in names)


def flakes(state: RunState) -> dict[str, tuple[int, ...]]:
    """The gates that changed their mind while no file changed, and in which laps; 0 is the baseline."""
    laps = [*([state.baseline] if state.baseline else []), *state.iterations]
    found: dict[str, tuple[int, ...]] = {}
    for lap in laps:
        for name, verdict in lap.verdicts.items():
            if verdict.flaky:
                found[name] = (*found.get(name, ()), lap.number)
    return found


def _words(gate: GateSpec, said: list[Standing], verdict: Verdict) -> str:
    limit = f" of its {show_duration(gate.timeout)}" if gate.timeout is not None else ""
    slow = f"slow ({show_duration(verdict.duration)}{limit})"
    return " and ".join(slow if word == "slow" else word for word in said)
