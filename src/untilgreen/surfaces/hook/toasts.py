"""Messages for agents that show none: the terminal's title, and its bell when the loop stops."""

from __future__ import annotations

from untilgreen.notify.bell import BELL, to_terminal
from untilgreen.surfaces.hook.answers import Answer
from untilgreen.surfaces.install.targets import target_of
from untilgreen.surfaces.text.safe_text import short

WIDTH = 120
_TITLE = "\x1b]2;{}\x07"


def show(answer: Answer, agent: str) -> None:
    """Show on the terminal what the agent won't; the bell rings where the loop does not continue."""
    text = answer.toast or answer.refused
    if text and not target_of(agent).shows_messages:
        title = _TITLE.format(short(f"untilgreen: {text}", WIDTH))
        to_terminal(title if answer.brief else title + BELL)
