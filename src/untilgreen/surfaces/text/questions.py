"""A question of a run in full: its text, a sentence for each choice, and the default."""

from __future__ import annotations

from collections.abc import Mapping

from untilgreen.core.loop.receive import APPROVE, REJECT
from untilgreen.core.loop.remedies import CANCEL, DIFFERENT, END
from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.values.decision import REVIEW, ROLLBACK, SWITCH
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import show_duration
from untilgreen.surfaces.text.safe_text import folded, inert, inert_lines

CHOICES: Mapping[str, str] = {
    DIFFERENT: "one more lap with another approach; say which in a note",
    REVIEW: "pause the run so that you can look at the files; continue with `resume`",
    CANCEL: "end the run and leave the files as they are now",
    END: "end the run as stuck with the files of the best lap",
    "continue": "one more lap",
    "accept": "end the run and keep the files as good enough",
    "stop": "end the run",
    ROLLBACK: "put back the files of an earlier lap and continue from there",
    SWITCH: "continue with another agent",
    APPROVE: "the gate passes and the run continues",
    REJECT: "the gate fails; your note tells the agent what to change",
}
"""What each known answer does; a custom strategy may offer others."""
NEEDS_MORE = frozenset({ROLLBACK, SWITCH, "allow"})
"""Answers that need an argument, which a button can't give."""


def choices_of(state: RunState) -> tuple[str, ...]:
    """What can be answered now; nothing if nothing is asked."""
    if state.asked is not None:
        return state.open_question.choices if state.open_question else ()
    return (APPROVE, REJECT) if gate_waiting_for_people(state) is not None else ()


def question_of(state: RunState) -> str:
    """What is asked now, in full; empty if nothing is."""
    if state.asked is not None:
        return state.open_question.question if state.open_question else ""
    gate = gate_waiting_for_people(state)
    if gate is None:
        return ""
    people = ", ".join(map(str, gate.options.get("people", ())))
    return f"Gate {gate.name!r} is waiting for approval" + (f" by {people}." if people else ".")


def question_lines(state: RunState, width: int) -> list[str]:
    """The question, a numbered line for each choice, and the default; each line fits the width."""
    return [*text_lines(state, width), *choice_lines(state, width)]


def text_lines(state: RunState, width: int, *, skip: int = 0) -> list[str]:
    """The question alone, without the first lines that are already shown; empty if nothing is asked."""
    lines = inert_lines(question_of(state)).splitlines() if choices_of(state) else []
    return [part for line in lines[skip:] for part in folded(line, width)]


def choice_lines(state: RunState, width: int) -> list[str]:
    """A numbered line for each choice, and the default."""
    asked, choices, lines = state.asked, choices_of(state), list[str]()
    for number, choice in enumerate(choices, 1):
        default = " (default)" if asked is not None and choice == asked.default else ""
        sentence = CHOICES.get(choice, "")
        text = f"{number} {inert(choice)}{default}" + (f": {sentence}" if sentence else "")
        first, *rest = folded(text, width - 3)
        lines += [first, *(f"   {each}" for each in rest)]
    if choices and asked is not None and asked.until is not None:
        lines.append(f"No answer within {show_duration(asked.until)}: {inert(asked.default)}.")
    return lines
