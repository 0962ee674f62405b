"""Toasts of agents that show no message of a hook: the title of the terminal, and its bell at the end."""

from __future__ import annotations

from untilgreen.notify.bell import BELL, to_terminal
from untilgreen.surfaces.hook.answers import Answer
from untilgreen.surfaces.text import short

MUTE = frozenset({"copilot"})
"""Agents that have no place for a message to the person."""
WIDTH = 120
_TITLE = "\x1b]2;{}\x07"


def show(answer: Answer, agent: str) -> None:
    """Tell the person on the terminal what the agent won't; the bell rings where the loop does not go on."""
    text = answer.toast or answer.refused
    if agent in MUTE and text:
        title = _TITLE.format(short(f"untilgreen: {text}", WIDTH))
        to_terminal(title if answer.brief else title + BELL)
