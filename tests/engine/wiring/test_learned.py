"""The numbers in a plan that the adaptive strategy decides by."""

import msgspec

from untilgreen.core.learning.course import Course
from untilgreen.core.learning.features import Features
from untilgreen.core.values.model import PartSpec, Plan
from untilgreen.engine.wiring.learned import MOST_RUNS, own_numbers, shared_prior, with_learned, worth_in_laps
from untilgreen.engine.wiring.objects import objects_of, policy_of

OLD = Features(moves=5, reply=1.0, outcome=1.0, distinct=0.1)
HOPELESS = Course(seen=(Features(), *(OLD,) * 11), green=False, hybrid=8, cost=6.0)


def test_the_shipped_prior_says_less_for_the_same_again() -> None:
    prior = shared_prior()

    assert prior.logit(OLD) < prior.logit(Features()) - 2
    assert prior.version


def test_a_plan_gets_the_prior_and_the_numbers_of_its_agents_and_can_be_read_again() -> None:
    plan = Plan(task="x", agents=(PartSpec(name="a"), PartSpec(name="b")), strategy=PartSpec(name="adaptive"))

    planned = with_learned(plan, {"a": [HOPELESS] * 40, "b": []})
    kept = msgspec.json.decode(msgspec.json.encode(planned), type=Plan)
    strategy = policy_of(kept, objects_of(kept)).strategy

    assert strategy.own["a"].active  # type: ignore[attr-defined]  # adaptive has it
    assert not strategy.own["b"].active  # type: ignore[attr-defined]  # the same
    assert strategy.prior == shared_prior()  # type: ignore[attr-defined]  # the same
    assert strategy.worth == 50  # type: ignore[attr-defined]  # the same


def test_money_is_laps_by_what_they_cost_here() -> None:
    assert worth_in_laps([HOPELESS] * 2, "$10") == 20
    assert worth_in_laps([HOPELESS], 30) == 30.0
    assert worth_in_laps([HOPELESS], "$0.01") == 1.0
    assert worth_in_laps([msgspec.structs.replace(HOPELESS, cost=None)], "$10") is None


def test_where_no_cost_is_known_money_decides_nothing() -> None:
    own = own_numbers([msgspec.structs.replace(HOPELESS, cost=None)] * 40, "$10")

    assert not own.active
    assert own.why.startswith("what a lap costs is not known")


def test_the_newest_runs_teach() -> None:
    assert own_numbers([HOPELESS] * (MOST_RUNS + 5), 50).runs == MOST_RUNS
