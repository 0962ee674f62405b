"""One row in a list of runs."""

from __future__ import annotations

from msgspec import Struct


class RunRow(Struct, frozen=True, array_like=True):
    """One row in a list of runs."""

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
    """What a person is asked, if the run waits for one."""
    question_id: str = ""
    """Sent back with the answer, so that it can't answer a different question."""
    most_laps: float | None = None
    """The limits; None for those that the run does not have."""
    most_cost: float | None = None
    most_time: float | None = None
    elapsed: float = 0.0
    gates: tuple[tuple[str, str], ...] = ()
    """The gates in order, each with its status in the newest lap; empty before it has one."""
    labels: dict[str, str] = {}
    remote: str = ""
    """The git remote of a run in a fleet."""
