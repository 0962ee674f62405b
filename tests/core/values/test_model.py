"""The values that everything else is built from."""

import pytest

from tests.core.helpers import BROKEN, PASS, SKIP, gate, red
from untilgreen.core.values.fingerprint import fingerprint
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Finding, PartSpec, Plan, Reply, Usage, Verdict, cost_source, learns


@pytest.mark.parametrize(
    ("verdict", "count"),
    [
        (PASS, 0),
        (SKIP, 0),
        (red("a", "b"), 2),
        (BROKEN, 1),
        (Verdict(status="fail"), 1),
        (Verdict(status="error"), 1),
        (Verdict(status="fail", findings=(Finding(id="a"),), more=9), 10),
        (Verdict(status="pass", findings=(Finding(id="a warning"),)), 0),
    ],
)
def test_a_verdict_counts_its_findings_and_a_bare_failure_is_one(verdict: Verdict, count: int) -> None:
    assert verdict.count == count


def test_findings_are_compared_by_gate_and_id() -> None:
    assert red("a", "b").failing("tests") == {"tests: a", "tests: b"}


@pytest.mark.parametrize("verdict", [PASS, SKIP])
def test_nothing_fails_where_a_gate_is_green_or_did_not_run(verdict: Verdict) -> None:
    assert verdict.failing("tests") == frozenset()


def test_a_failure_without_findings_is_compared_by_its_digest() -> None:
    assert Verdict(status="fail", digest="abc").failing("tests") == {"tests: #abc"}


def test_a_failure_without_a_digest_is_compared_by_its_output_without_noise() -> None:
    one, other, third = (
        Verdict(status="fail", excerpt=text).failing("tests")
        for text in ("died after 3s", "died after 17s", "never came up")
    )

    assert one == other == {f"tests: #{fingerprint('died after 3s')}"}
    assert one != third


def test_findings_that_were_left_out_are_compared_by_their_digest() -> None:
    some = (Finding(id="a"),)

    one, other = (
        Verdict(status="fail", findings=some, more=5, digest=digest).failing("tests") for digest in ("x", "y")
    )

    assert one == {"tests: a", "tests: #x"}
    assert one != other


def test_the_title_is_the_first_line_that_says_something() -> None:
    assert Plan(task="\n\n  Fix the login.  \nAnd more.").title == "Fix the login."
    assert Plan(task=" \n ").title == "(no task)"


def test_a_long_title_fits_a_list() -> None:
    title = Plan(task="x" * 100).title

    assert len(title) == 72
    assert title.endswith("…")
    assert Plan(task="x" * 72).title == "x" * 72


def test_a_plan_knows_its_gates_and_agents_by_name() -> None:
    plan = Plan(
        task="t", gates=(gate("a"), gate("b", stage=2)), agents=(PartSpec(name="x"), PartSpec(name="y"))
    )

    assert plan.gate("b").stage == 2
    assert plan.agent_names() == ("x", "y")


@pytest.mark.parametrize(
    ("limit", "strategy", "most"), [(20, 3, 3), (5, 30, 5), (20, None, 20), (None, 3, 3), (None, None, None)]
)
def test_the_smaller_of_the_limit_and_the_strategys_own_number_of_laps_holds(
    limit: int | None, strategy: int | None, most: int | None
) -> None:
    plan = Plan(task="t", limits=Limits(iterations=limit), strategy_laps=strategy)

    assert plan.most_laps == most


def test_tokens_are_input_and_output_together() -> None:
    assert Usage(input_tokens=3, output_tokens=4, cached_tokens=100).tokens == 7


@pytest.mark.parametrize(("cost", "source"), [(None, "unknown"), (0.0, "reported"), (0.2, "reported")])
def test_a_cost_of_nothing_is_reported_and_no_cost_is_unknown(cost: float | None, source: str) -> None:
    assert cost_source(cost) == source


def test_a_turn_went_well_where_there_is_no_error() -> None:
    assert Reply(text="hello").ok
    assert not Reply(error="crash").ok


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (PartSpec(name="adaptive"), True),
        (PartSpec(name="mine", use="adaptive"), True),
        (PartSpec(name="adaptive", use="./rules.py:Mine"), False),
        (PartSpec(name="hybrid"), False),
    ],
)
def test_only_the_strategy_adaptive_learns(strategy: PartSpec, expected: bool) -> None:
    assert learns(Plan(task="fix it", strategy=strategy)) is expected
