"""Replaying a journal makes the same decisions again."""

from pathlib import Path

import pytest

from untilgreen.backtest.decisions import decide_again, decisions, differing
from untilgreen.core.defaults import default_detectors, tuned_for
from untilgreen.core.loop.decide import Policy
from untilgreen.core.loop.remedies import RUNGS
from untilgreen.core.strategies.adaptive import Adaptive
from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.decision import Continue, Finish
from untilgreen.core.values.events import Attached, Decided, Event, Paused, Resumed, Steered
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.rules import Strategy
from untilgreen.journal.reader import read
from untilgreen.testing.stories import tell

GOLDEN = Path(__file__).parents[1] / "journals" / "v1"
STORIES = [
    ("abc ab a -", Hybrid(), ()),
    ("a -", Manual(), ()),
    ("a a*", Ralph(), ()),
    ("-", Ralph(max=4), ()),
    ("a=", Fixed(iterations=30), RUNGS),
    ("a b a b a b a b", Fixed(iterations=30), ("hint", "best")),
    ("!", Hybrid(), ()),
    ("a? a b", Adaptive(), RUNGS),
    ("abcd abc a", Hybrid(base=3, bonus=0, accept_after=3), ()),
    ("abc abd abe", Hybrid(base=3, bonus=2), ()),
]


def policy(strategy: Strategy) -> Policy:
    return Policy(strategy=strategy, detectors=tuned_for(default_detectors(), strategy))


def told(played: str, strategy: Strategy, remedies: tuple[str, ...] = ()) -> list[Event]:
    agents = ("one", "two")
    return [event for _, event in tell(played, strategy, remedies=remedies, agents=agents, limits=Limits())]


@pytest.mark.parametrize(("played", "strategy", "remedies"), STORIES)
def test_every_decision_of_a_story_is_made_again(
    played: str, strategy: Strategy, remedies: tuple[str, ...]
) -> None:
    events = told(played, strategy, remedies)
    decided = [event for event in events if isinstance(event, Decided)]

    assert [made.event for made in decisions(events)] == decided
    assert differing(events, policy(strategy)) == []


@pytest.mark.parametrize(("name", "strategy"), [("fixed", Fixed(iterations=30)), ("ralph", Ralph())])
def test_old_journals_still_lead_the_same_way(name: str, strategy: Strategy) -> None:
    events, _ = read(GOLDEN / f"{name}.jsonl")

    for made in decisions(events):
        now = decide_again(made, policy(strategy))
        assert isinstance(made.event, Decided)
        assert isinstance(now, Decided)
        then, again = made.event.decision, now.decision
        assert type(then) is type(again)
        if isinstance(then, Continue) and isinstance(again, Continue):
            assert (then.remedy, then.restore, then.agent) == (again.remedy, again.restore, again.agent)
        if isinstance(then, Finish) and isinstance(again, Finish):
            assert then.outcome == again.outcome


def test_another_strategy_s_decisions_are_found_where_they_differ() -> None:
    events = told("a b c d e", Fixed(iterations=5))

    others = differing(events, policy(Fixed(iterations=3)))

    assert [now.lap for _, now in others if isinstance(now, Decided)] == [1, 2, 3, 4, 5]
    third = others[2][1]
    assert isinstance(third, Decided)
    assert isinstance(third.decision, Finish)


def test_commands_between_a_lap_and_its_decision_are_not_decisions() -> None:
    events = told("a b -", Fixed(iterations=5))
    place = next(place for place, event in enumerate(events) if isinstance(event, Decided))
    at = events[place].at
    said: list[Event] = [
        Steered(at=at, id="n1", note="look at a"),
        Paused(at=at, reason="by hand"),
        Resumed(at=at),
        Attached(at=at),
    ]

    found = list(decisions([*events[:place], *said, *events[place:]]))

    assert all(isinstance(made.event, Decided) for made in found)
    assert len(found) == 3
