"""Messages for agents that show none: the terminal's title, and its bell when the loop stops."""

from __future__ import annotations

from untilgreen.notify.bell import BELL, to_terminal
from untilgreen.surfaces.hook.answers import Answer
from untilgreen.surfaces.text.safe_text import short

WIDTH = 120
_TITLE = "\x1b]2;{}\x07"


def show(answer: Answer) -> None:
    """Show on the terminal what the agent won't; the bell rings where the loop does not continue."""
    title = _TITLE.format(short(f"untilgreen: {answer.toast or answer.refused}", WIDTH))
    to_terminal(title if answer.brief else title + BELL)
