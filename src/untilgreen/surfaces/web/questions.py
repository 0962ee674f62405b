"""The question of a run for the page's inbox: choices explained, and an id that refuses late answers."""

from __future__ import annotations

from untilgreen.core.loop.receive import question_id
from untilgreen.core.values.decision import ROLLBACK, SWITCH
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.catalog import row_of
from untilgreen.surfaces.text.questions import CHOICES, choices_of, question_of
from untilgreen.surfaces.web.api.values import Choice, Question
from untilgreen.surfaces.web.summaries import marks_of

_ARGUMENTS = {ROLLBACK: "lap", SWITCH: "agent"}


def question_for(state: RunState) -> Question | None:
    """What the run asks now; None if it asks nothing."""
    choices = choices_of(state)
    if not choices or state.outcome is not None:
        return None
    asked = state.asked
    return Question(
        run=state.run,
        title=state.plan.title,
        id=question_id(state),
        question=question_of(state),
        choices=tuple(
            Choice(
                choice=choice,
                meaning=CHOICES.get(choice, ""),
                default=asked is not None and choice == asked.default,
                argument=_ARGUMENTS.get(choice, ""),
            )
            for choice in choices
        ),
        lap=len(state.laps),
        gates=marks_of(row_of(state)),
        asked=state.asked_at if asked is not None else state.now,
        until=state.asked_at + asked.until if asked is not None and asked.until is not None else None,
    )
