"""Get the attention of a person in another window: bell, title and notification of the terminal itself."""

from __future__ import annotations

from collections.abc import Callable

from untilgreen.surfaces.text.safe_text import short

WIDTH = 100
_SAVE_TITLE, _RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_TITLE = "\x1b]2;{}\x07"
_TOAST = "\x1b]9;{}\x07"
"""Shown as a desktop notification by many terminals, and ignored by the others."""
_BELL = "\a"


class Attention:
    """Rings once for each thing that needs a person, and restores the title when it is over."""

    def __init__(self, write: Callable[[str], None]) -> None:
        """`write` sends text to the terminal as it is."""
        self._write = write
        self._called_for = ""

    def call(self, why: str) -> None:
        """Ring, and say in the title what the run waits for; the same thing rings once."""
        if why == self._called_for:
            return
        first = _SAVE_TITLE if not self._called_for else ""
        self._called_for = why
        text = short(f"waiting: {why}", WIDTH).replace(";", ",")
        self._write(first + _TITLE.format(text) + _TOAST.format(f"untilgreen is {text}") + _BELL)

    def rest(self) -> None:
        """Nothing is waiting any more."""
        if self._called_for:
            self._called_for = ""
            self._write(_RESTORE_TITLE)
