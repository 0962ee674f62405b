"""Replaying your own runs with other strategies."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from untilgreen.backtest.strategies import Candidate, PastRun, Replayed, name_of, past_run, replay, row
from untilgreen.core.defaults import default_detectors
from untilgreen.core.loop.remedies import RUNGS
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.events import Event, TurnEnded
from untilgreen.core.values.model import PartSpec, Usage
from untilgreen.core.values.rules import Strategy
from untilgreen.testing.stories import tell

PRICE = 0.5


def priced(event: Event) -> Event:
    if not isinstance(event, TurnEnded):
        return event
    usage = Usage(input_tokens=100, cost=PRICE, source="reported")
    return replace(event, reply=replace(event.reply, usage=usage))


def lived(played: str, strategy: Strategy, remedies: Sequence[str] = ()) -> PastRun:
    events = [priced(event) for _, event in tell(played, strategy, remedies=remedies)]
    run = past_run(events, default_detectors())
    assert run is not None
    return run


def seen(run: PastRun, strategy: Strategy) -> Replayed:
    return replay(run, Candidate(name="other", strategy=strategy))


def test_the_same_strategy_goes_the_same_way() -> None:
    run = lived("abc ab a -", Hybrid())

    found = seen(run, Hybrid())

    assert (found.kind, found.lap, found.outcome) == ("same", 4, "converged")
    assert (found.laps, found.cost, found.lost) == (0, 0.0, False)


def test_an_earlier_end_saves_what_came_after_it_and_may_lose_a_success() -> None:
    found = seen(lived("abcd abc ab a -", Fixed(iterations=9)), Fixed(iterations=3))

    assert (found.kind, found.lap, found.outcome) == ("earlier", 3, "exhausted")
    assert (found.laps, found.cost, found.tokens) == (2, 2 * PRICE, 200)
    assert found.seconds > 0
    assert found.lost
    assert found.why == "all 3 planned laps are used"


def test_an_earlier_end_of_a_run_that_failed_loses_nothing() -> None:
    found = seen(lived("abc abd abe abf abg abh", Fixed(iterations=6)), Hybrid(base=4, bonus=0))

    assert (found.kind, found.lap, found.laps, found.lost) == ("earlier", 4, 2, False)


def test_continuing_after_the_last_lap_needs_laps_that_never_happened() -> None:
    found = seen(lived("ab cd ef", Fixed(iterations=3)), Fixed(iterations=5))

    assert (found.kind, found.lap, found.outcome) == ("unknown", 3, None)
    assert found.why == "it would have continued: lap 3 of 5 is done"
    assert (found.laps, found.cost) == (0, 0.0)


def test_a_remedy_that_was_not_tried_leads_to_laps_that_never_happened() -> None:
    patient = lived("a a a a a a a a", Manual(), remedies=RUNGS[:2])

    found = seen(patient, Fixed(iterations=30))

    assert (found.kind, found.lap) == ("unknown", 3)
    assert found.why == "it would have tried 'hint', which was not tried there"


def test_a_question_that_was_never_asked_has_no_known_answer() -> None:
    found = seen(lived("a b c", Fixed(iterations=3)), Manual())

    assert (found.kind, found.lap) == ("unknown", 1)
    assert found.why == "it would have asked a person, whose answer is unknown"


def test_the_default_of_a_question_that_nobody_could_answer_is_taken() -> None:
    patient = lived("a a a a a a a a", Manual(), remedies=("ask",))

    found = seen(patient, Fixed(iterations=30))

    assert (found.kind, found.lap, found.outcome) == ("earlier", 3, "stuck")


def test_another_end_in_the_same_lap_saves_nothing() -> None:
    found = seen(lived("abcd abc a", Fixed(iterations=3)), Hybrid(base=3, bonus=0, accept_after=3))

    assert (found.kind, found.lap, found.outcome, found.laps, found.seconds) == (
        "same",
        3,
        "accepted",
        0,
        0.0,
    )


def test_an_acceptance_in_place_of_green_is_a_loss() -> None:
    found = seen(lived("abcd abc a -", Fixed(iterations=9)), Hybrid(base=3, bonus=0, accept_after=3))

    assert (found.outcome, found.lost) == ("accepted", True)


def test_ralph_can_t_be_judged_where_nobody_asked_for_a_promise() -> None:
    found = seen(lived("a -", Fixed(iterations=3)), Ralph())

    assert (found.kind, found.lap) == ("unknown", 0)
    assert "promise" in found.why


def test_a_row_sums_up_and_leaves_unknown_ends_out_of_the_successes() -> None:
    runs = [
        replace(run, state=replace(run.state, run=str(number)))
        for number, run in enumerate(
            [
                lived("abcd abc ab a -", Fixed(iterations=9)),
                lived("a -", Fixed(iterations=9)),
                lived("a b", Fixed(iterations=2)),
            ]
        )
    ]
    candidate = Candidate(name="fixed iterations=3", strategy=Fixed(iterations=3))

    sums = row(candidate.name, runs, [replay(run, candidate) for run in runs])

    assert (sums.runs, sums.earlier, sums.unknown) == (3, 1, 1)
    assert (sums.successes, sums.lost, sums.lost_share) == (2, 1, 0.5)
    assert (sums.laps, sums.saved_laps, sums.cost, sums.saved_cost) == (9, 2, 9 * PRICE, 2 * PRICE)
    assert sums.saved == pytest.approx(2 / 9)


def test_without_money_the_saved_part_is_of_the_time_or_of_the_laps() -> None:
    sums = row("x", [], [])
    timed = replace(sums, seconds=10.0, saved_seconds=4.0, laps=8, saved_laps=1)

    assert (sums.saved, sums.lost_share) == (0.0, 0.0)
    assert timed.saved == 0.4
    assert replace(timed, seconds=0.0).saved == 0.125


def test_a_run_that_is_not_over_or_had_no_lap_is_not_a_past_run() -> None:
    events = [event for _, event in tell("a -", Fixed())]

    assert past_run(events[:-1], ()) is None
    assert past_run(events[:1], ()) is None
    assert past_run([], ()) is None


def test_a_strategy_is_named_with_what_is_special_about_it() -> None:
    assert name_of(PartSpec(name="hybrid", options={"base": 4, "bonus": 0})) == "hybrid base=4 bonus=0"
    assert name_of(PartSpec(name="ralph", options={"tokens": True})) == "ralph tokens=true"


def test_an_answer_that_continued_a_run_counts_as_the_same_way() -> None:
    found = seen(lived("abc ab a -", Manual()), Fixed(iterations=9))

    assert (found.kind, found.outcome) == ("same", "converged")
