"""The decisions in a journal, each with the state that it was made from.

Strategies and detectors are pure, so asking again gives the same decision, and asking others shows what they
would have decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from untilgreen.core.loop.decide import Policy, decide
from untilgreen.core.loop.fold import apply
from untilgreen.core.loop.step import Decide, next_step
from untilgreen.core.values.decision import Ask
from untilgreen.core.values.events import (
    BY_DEFAULT,
    AgentSwitched,
    Answered,
    Decided,
    Event,
    Halted,
    LapVoided,
    Paused,
)
from untilgreen.core.values.state import RunState

_MADE = (Decided, LapVoided, AgentSwitched, Halted, Paused)


class RecordedDecision(NamedTuple):
    """A decision, and the state it was based on."""

    state: RunState
    event: Event


def decisions(events: Iterable[Event]) -> Iterator[RecordedDecision]:
    """Every event of the journal that was a decision; commands in between are left out."""
    state: RunState | None = None
    for event in events:
        if state is not None and isinstance(event, _MADE) and isinstance(next_step(state), Decide):
            by_a_person = isinstance(event, Paused) and event.cause is None
            if not by_a_person:
                yield RecordedDecision(state, event)
        state = apply(state, event)


def decide_again(made: RecordedDecision, policy: Policy) -> Event:
    """What this policy decides in that state."""
    return decide(made.state, policy, made.event.at)


def after_the_default_answer(state: RunState, event: Event, policy: Policy) -> Event:
    """The decision after the default answer, if nobody could have answered the question."""
    if not isinstance(event, Decided) or not isinstance(event.decision, Ask):
        return event
    question = event.decision
    if question.until is None or state.answers:
        return event
    after = apply(apply(state, event), Answered(at=event.at, choice=question.default, by=BY_DEFAULT))
    return decide(after, policy, event.at)


def differing(events: Iterable[Event], policy: Policy) -> list[tuple[Event, Event]]:
    """What was decided, and what this policy decides instead, wherever the two differ."""
    asked = ((made.event, decide_again(made, policy)) for made in decisions(events))
    return [(then, now) for then, now in asked if then != now]
