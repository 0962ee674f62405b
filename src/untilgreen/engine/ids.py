"""What runs are called: sorted by start, typed in one breath."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

_EPOCH = 1_704_067_200  # 2024-01-01 in UTC, so that six characters of seconds last until 2058
_TICKS = 32
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_AS_MEANT = str.maketrans("oil", "011")
_ID = re.compile(rf"[{_LETTERS}]{{9,}}")

RUNS = "runs"
"""The directory of all folders of runs."""
TICK_SECONDS = 1 / _TICKS
"""Runs that start so far apart have ids that differ in more than chance."""


def new(now: float) -> str:
    """Seven characters of time, two of chance."""
    left, text = int(max(0.0, now - _EPOCH) * _TICKS), ""
    for _ in range(7):
        left, digit = divmod(left, len(_LETTERS))
        text = _LETTERS[digit] + text
    return text + secrets.choice(_LETTERS) + secrets.choice(_LETTERS)


def is_one(name: str) -> bool:
    """Whether a folder of that name is a run's."""
    return _ID.fullmatch(name) is not None


def gone(path: str) -> str | None:
    """The run in whose folder such a file would be, where there is no such folder any more."""
    for folder in Path(path).parents:
        if folder.parent.name == RUNS and is_one(folder.name):
            return None if folder.exists() else folder.name
    return None


def meant(text: str) -> str:
    """An id, or the beginning of one, as somebody typed it; letters that look like digits are digits."""
    return text.strip().lower().translate(_AS_MEANT)
