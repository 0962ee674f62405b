"""The ids of runs: sorted by start time, easy to type."""

from __future__ import annotations

from pathlib import Path

from untilgreen.regex import regex

_EPOCH = 1_704_067_200  # 2024-01-01 in UTC, so that six characters of seconds last until 2058
_TICKS = 32
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_AS_MEANT = str.maketrans("oil", "011")
_ID = regex(rf"[{_LETTERS}]{{9,}}")

RUNS = "runs"
"""The directory of all folders of runs."""
TICK_SECONDS = 1 / _TICKS
"""Runs that start this far apart differ in the time part of their ids."""


def new(now: float) -> str:
    """A new id: seven characters of time, two random ones."""
    left, text = int(max(0.0, now - _EPOCH) * _TICKS), ""
    for _ in range(7):
        left, digit = divmod(left, len(_LETTERS))
        text = _LETTERS[digit] + text
    import secrets  # noqa: PLC0415 - takes longer to load than most commands, which make no run

    return text + secrets.choice(_LETTERS) + secrets.choice(_LETTERS)


def is_one(name: str) -> bool:
    """Whether a name is a run id."""
    return _ID.fullmatch(name) is not None


def pruned_run(path: str) -> str | None:
    """The run whose folder would hold this file, if that folder no longer exists."""
    for folder in Path(path).parents:
        if folder.parent.name == RUNS and is_one(folder.name):
            return None if folder.exists() else folder.name
    return None


def as_meant(text: str) -> str:
    """An id or prefix as typed; letters that look like digits count as digits."""
    return text.strip().lower().translate(_AS_MEANT)
