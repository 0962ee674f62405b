"""A run as a list shows it."""

from __future__ import annotations

from msgspec import Struct


class RunRow(Struct, frozen=True, array_like=True):
    """A run as a list shows it."""

    status: str
    outcome: str | None
    laps: int
    score: float
    cost: float | None
    tokens: int | None
    title: str
    updated: float
    scores: tuple[float, ...]
    """Of the newest laps."""
    agent: str = ""
    strategy: str = ""
    started: float = 0.0
    question: str = ""
    """What a person is asked, where the run waits for one."""
    question_id: str = ""
    """Goes with the answer, so that it is not taken for the answer to another question."""
    most_laps: float | None = None
    """The limits, where the run has them."""
    most_cost: float | None = None
    most_time: float | None = None
    elapsed: float = 0.0
    gates: tuple[tuple[str, str], ...] = ()
    """The gates in order, each with its status in the newest lap; empty before it has one."""
    labels: dict[str, str] = {}
    remote: str = ""
    """The git remote of a run in a fleet."""
