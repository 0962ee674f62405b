"""Hard limits: read as people write them, checked in a fixed order, and named in the reason."""

import math
from typing import Any

import pytest
from msgspec import ValidationError, json

from tests.core.helpers import Run, Turn, priced, red
from untilgreen.core.loop.step import Decide, Work
from untilgreen.core.values.decision import Finish
from untilgreen.core.values.events import Attached, Decided, Event
from untilgreen.core.values.limits import (
    Limits,
    breached,
    breached_apart_from_laps,
    ceiling,
    money_left,
    seconds_left,
    silence,
    waited_too_long,
)
from untilgreen.core.values.model import Outcome, Reply
from untilgreen.errors import ConfigError


def test_limits_are_read_as_people_write_them() -> None:
    limits = Limits(
        iterations="25", time="1h30m", cost="$5", tokens="2M", lap="10m", silence="90s", wait="1d"
    )

    assert (limits.iterations, limits.time, limits.cost, limits.tokens) == (25, 5400.0, 5.0, 2_000_000)
    assert (limits.lap, limits.silence, limits.wait) == (600.0, 90.0, 86_400.0)


def test_the_defaults_are_those_of_the_design() -> None:
    limits = Limits()

    assert (limits.iterations, limits.time, limits.errors) == (20, 4 * 3600, 3)
    assert (limits.cost, limits.tokens) == (None, None)
    assert (limits.lap, limits.waits, limits.wait) == (30 * 60, 5, 6 * 3600)
    assert limits.unknown_cost == "refuse"


def test_by_default_only_an_agent_that_streams_is_watched_for_silence() -> None:
    assert silence(Limits(), streams=True) == 15 * 60
    assert silence(Limits(), streams=False) is None
    assert silence(Limits(silence="2m"), streams=False) == 120
    assert silence(Limits(silence="unlimited"), streams=True) is None


@pytest.mark.parametrize("word", ["unlimited", "Unlimited", " UNLIMITED ", None])
@pytest.mark.parametrize("key", ["iterations", "time", "errors", "lap", "silence", "waits", "wait"])
def test_unlimited_is_a_word_for_every_limit(key: str, word: Any) -> None:
    assert getattr(Limits(**{key: word}), key) is None


@pytest.mark.parametrize(
    "key",
    ["iterations", "time", "errors", "cost", "tokens", "lap", "silence", "waits", "wait", "token_price"],
)
@pytest.mark.parametrize("value", [0, -1, "a lot"])
def test_a_limit_that_can_not_be_meant_is_named_in_the_error(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^limits\.{key} = "):
        Limits(**{key: value})


def test_a_run_without_any_limit_that_ends_it_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unlimited\. Set one of limits\.iterations, limits\.time"):
        Limits(iterations="unlimited", time="unlimited")


@pytest.mark.parametrize("other", [{"cost": 5}, {"tokens": "1M"}])
def test_one_limit_that_ends_a_run_is_enough(other: dict[str, Any]) -> None:
    assert Limits(iterations=None, time=None, **other).iterations is None


def test_an_estimate_of_the_cost_needs_a_price() -> None:
    with pytest.raises(ConfigError, match=r"needs limits\.token_price"):
        Limits(cost=5, unknown_cost="estimate")

    assert Limits(cost=5, unknown_cost="estimate", token_price="$3").token_price == 3.0


def test_an_unknown_limit_in_a_journal_or_spec_is_an_error() -> None:
    with pytest.raises(ValidationError, match="itterations"):
        json.decode(b'{"itterations": 5}', type=Limits)


def test_limits_survive_the_journal() -> None:
    limits = Limits(iterations="unlimited", time="2h", cost="$5")

    assert json.decode(json.encode(limits), type=Limits) == limits


def test_no_ceiling_is_infinitely_high() -> None:
    assert ceiling(None) == math.inf
    assert ceiling(3) == 3.0


def test_a_turn_may_take_a_lap_or_what_is_left_of_the_run() -> None:
    run = Run(limits=Limits(time=100, lap=80))
    fresh = seconds_left(run.state)
    run.lap(Turn(seconds=30), tests=red("a"))
    run.until(Work)

    assert fresh == 80
    assert seconds_left(run.state) == 100 - run.state.elapsed < 80


def test_the_time_left_for_a_turn_is_never_negative() -> None:
    run = Run(limits=Limits(time=100))
    run.lap(Turn(seconds=500), tests=red("a"))

    assert seconds_left(run.state) == 0.0


def test_the_money_left_is_never_negative() -> None:
    run = Run(limits=Limits(cost=5))
    run.lap(Turn(reply=priced(7.0)), tests=red("a"))

    assert money_left(run.state) == 0.0
    assert money_left(Run().state) is None


def finish(event: Event) -> Finish:
    assert isinstance(event, Decided)
    assert isinstance(event.decision, Finish), event.decision
    return event.decision


@pytest.mark.parametrize(
    ("limits", "turn", "limit"),
    [
        (Limits(iterations=1), Turn(), "iterations"),
        (Limits(time="1m"), Turn(seconds=61), "time"),
        (Limits(errors=1), Turn(reply=Reply(error="timeout")), "errors"),
        (Limits(cost="$1"), Turn(reply=priced(1.0)), "cost"),
        (Limits(cost="$3"), Turn(reply=priced(2.0)), "cost"),
        (Limits(tokens="1k"), Turn(reply=priced(None, 1000)), "tokens"),
        (Limits(tokens="1.5k"), Turn(reply=priced(None, 1000)), "tokens"),
    ],
)
def test_a_limit_ends_the_run_and_its_name_is_in_the_reason(limits: Limits, turn: Turn, limit: str) -> None:
    ending = finish(Run(limits=limits).lap(turn, tests=red("a")))

    assert ending.outcome is Outcome.EXHAUSTED
    assert ending.reason.startswith(f"limit {limit}: ")
    assert ending.metadata == {"limit": limit}
    assert ending.confidence == 1.0


def test_the_limits_are_looked_at_in_a_fixed_order() -> None:
    everything = Limits(iterations=1, time=1, errors=1, cost=1, tokens=1)
    run = Run(limits=everything)
    run.lap(Turn(seconds=9, reply=priced(2.0, 2, error="crash")), tests=red("a"))

    assert run.ending.metadata == {"limit": "iterations"}
    breach = breached_apart_from_laps(run.state)
    assert breach is not None
    assert breach.limit == "time"


def test_errors_names_how_often_and_the_last_one() -> None:
    run = Run(limits=Limits(errors=2))
    run.lap(Turn(reply=Reply(error="timeout")), tests=red("a"))
    run.lap(Turn(reply=Reply(error="crash", detail="exit 1")), tests=red("a"))

    assert run.ending.reason == "limit errors: the agent failed 2 times in a row, last: crash: exit 1"


def test_errors_has_the_agents_last_words_in_the_same_line() -> None:
    printed = "exit code 3\nTraceback (most recent call last):\n  File x\n\nGone:  no model \n"
    run = Run(limits=Limits(errors=1))
    run.lap(Turn(reply=Reply(error="crash", detail=printed)), tests=red("a"))

    reason = "limit errors: the agent failed 1 time in a row, last: crash: exit code 3: Gone: no model"
    assert run.ending.reason == reason


def test_of_a_very_long_error_the_beginning_is_named() -> None:
    run = Run(limits=Limits(errors=1))
    run.lap(Turn(reply=Reply(error="crash", detail="exit code 3\n" + "x" * 1000)), tests=red("a"))

    assert run.ending.reason.endswith("last: crash: exit code 3: " + "x" * 279 + "…")


def test_a_good_turn_ends_the_row_of_errors() -> None:
    run = Run(limits=Limits(errors=2))
    for error in ("crash", None, "stalled", "question", "permission"):
        run.lap(Turn(reply=Reply(error=error)), tests=red("a"))
        assert run.state.ending is None

    assert run.state.errors == 1


def test_laps_of_two_dollars_with_a_limit_of_five_stop_after_two() -> None:
    run = Run(limits=Limits(cost="$5"))
    run.lap(Turn(reply=priced(2.0)), tests=red("a"))
    assert run.state.ending is None

    run.lap(Turn(reply=priced(2.0)), tests=red("b"))

    assert run.ending.reason == "limit cost: $4.00 spent and about $2.00 for another lap would pass $5.00"


def test_one_expensive_lap_does_not_end_a_cheap_run() -> None:
    run = Run(limits=Limits(cost="$10"))
    for price in (0.5, 0.5, 6.0):
        run.lap(Turn(reply=priced(price)), tests=red("a"))

    assert breached(run.state) is None


def test_tokens_are_projected_like_money() -> None:
    run = Run(limits=Limits(tokens="5k"))
    run.lap(Turn(reply=priced(None, 2000)), tests=red("a"))
    run.lap(Turn(reply=priced(None, 2000)), tests=red("a"))

    assert run.ending.reason == ("limit tokens: 4,000 used and about 2,000 for another lap would pass 5,000")


def test_money_that_is_gone_is_named_without_a_projection() -> None:
    run = Run(limits=Limits(cost="$5"))
    run.lap(Turn(reply=priced(6.0)), tests=red("a"))

    assert run.ending.reason == "limit cost: $6.00 of $5.00 spent"


def test_where_there_is_a_cost_limit_unknown_cost_is_refused_and_the_fix_is_named() -> None:
    run = Run(limits=Limits(cost="$5"))
    run.lap(Turn(reply=priced(None, 1000)), tests=red("a"))

    assert run.ending.outcome is Outcome.EXHAUSTED
    assert "1 turn without a known cost" in run.ending.reason
    assert "limits.unknown_cost to 'estimate' (with limits.token_price) or 'ignore'" in run.ending.reason


def test_without_a_cost_limit_unknown_cost_is_accepted() -> None:
    run = Run()
    run.lap(Turn(reply=priced(None, 1000)), tests=red("a"))

    assert run.state.ending is None
    assert run.state.spent.unpriced == 1
    assert (run.state.spent.cost, run.last.cost) == (None, None)


def test_unknown_cost_can_be_estimated_from_the_tokens() -> None:
    run = Run(limits=Limits(cost="$5", unknown_cost="estimate", token_price="$3"))
    run.lap(Turn(reply=priced(None, 1_000_000)), tests=red("a"))

    assert run.state.spent.cost == pytest.approx(3.0)
    assert run.state.spent.unpriced == 0
    assert run.last.cost == pytest.approx(3.0)
    assert run.ending.reason.startswith("limit cost: $3.00 spent and about $3.00")


def test_a_cost_that_is_known_is_not_estimated() -> None:
    run = Run(limits=Limits(cost="$5", unknown_cost="estimate", token_price="$3"))
    run.lap(Turn(reply=priced(0.25, 1_000_000)), tests=red("a"))

    assert run.state.spent.cost == 0.25


def test_a_turn_without_cost_and_tokens_can_not_be_estimated() -> None:
    run = Run(limits=Limits(cost="$5", unknown_cost="estimate", token_price="$3"))
    run.lap(Turn(reply=priced(None, 0)), tests=red("a"))

    assert "1 turn without a known cost" in run.ending.reason


def test_unknown_cost_can_be_ignored() -> None:
    run = Run(limits=Limits(cost="$5", unknown_cost="ignore"))
    run.lap(Turn(reply=priced(None, 1000)), tests=red("a"))

    assert run.state.ending is None


def test_another_wait_is_allowed_up_to_its_limits() -> None:
    state = Run(limits=Limits(wait="1m")).state

    assert waited_too_long(state, 60.0) is None
    breach = waited_too_long(state, 61.0)
    assert breach is not None
    assert breach.limit == "wait"
    assert breach.reason == "wait: 0s waited and 1m01s more would pass 1m"


def test_time_that_nobody_drove_does_not_count() -> None:
    run = Run(limits=Limits(time="1h"))
    run.until(Work)
    elapsed = run.state.elapsed
    run.record(Attached(at=1_000_000.0))

    assert run.state.elapsed == elapsed
    assert breached(run.state) is None


def end_turn(run: Run, reply: Reply, seconds: float = 1.0) -> None:
    """End a turn with this reply and decide about it."""
    run.perform(run.until(Decide, Turn(reply=reply, seconds=seconds)), Turn())


def test_money_that_a_rate_limited_turn_has_spent_is_judged_before_more_is_spent() -> None:
    run = Run(limits=Limits(cost="$5"))
    end_turn(run, priced(6.0, error="rate_limited"))

    assert run.ending.metadata == {"limit": "cost"}


def test_time_that_a_rate_limited_turn_has_used_is_judged_before_another() -> None:
    run = Run(limits=Limits(time="1m"))
    end_turn(run, Reply(error="rate_limited"), seconds=100)

    assert run.ending.metadata == {"limit": "time"}
