"""Upper bounds for the laps, the time and the cost of a run, from its limits."""

from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import GateSpec, Plan
from untilgreen.engine.operations.worst_case import worst_case


def plan(*gates: GateSpec, **limits: float | str | None) -> Plan:
    return Plan(task="Mend it.", gates=gates, limits=Limits(**limits))  # type: ignore[arg-type]


def gate(name: str, timeout: float | None = 60.0, stage: int = 1, retries: int = 0) -> GateSpec:
    return GateSpec(name=name, timeout=timeout, stage=stage, retries=retries)


def test_the_time_limit_and_the_gates_of_the_last_lap_bound_a_run() -> None:
    worst = worst_case(plan(gate("tests"), time="1h", lap="30m", iterations=20))

    assert (worst.laps, worst.seconds) == (20, 3600 + 2 * 60)


def test_few_short_laps_end_before_the_time_limit() -> None:
    worst = worst_case(plan(gate("tests"), time="4h", lap="10m", iterations=2))

    assert worst.seconds == 60 + 2 * (600 + 2 * 60)


def test_gates_of_one_stage_run_at_the_same_time_and_retries_add_time() -> None:
    gates = (gate("lint", 10), gate("types", 30), gate("tests", 100, stage=2, retries=2))

    assert worst_case(plan(*gates)).gates_seconds == 30 + 300


def test_what_has_no_limit_has_none_in_the_worst_case() -> None:
    worst = worst_case(plan(gate("tests", None), iterations="unlimited", cost=5, wait="unlimited"))

    assert (worst.laps, worst.seconds, worst.gates_seconds, worst.wait_seconds) == (None, None, None, None)
    assert (worst.cost, worst.tokens) == (5, None)
