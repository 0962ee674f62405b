"""The overview of a fleet: workers, queues, driven runs, limits and takeovers."""

from __future__ import annotations

from msgspec import Struct


class WorkerView(Struct, frozen=True, kw_only=True):
    """A worker that asks for runs, or that drives some."""

    name: str
    slots: int
    """How many runs it can drive at a time; 0 if it is not asking for any right now."""
    labels: tuple[str, ...]
    seen: float | None
    """When it last asked for a run or checked on one; an idle worker asks once a minute."""
    drives: tuple[str, ...]


class QueueView(Struct, frozen=True, kw_only=True):
    """The runs that need the same labels."""

    name: str
    labels: tuple[str, ...]
    waiting: int
    """Runs that no worker has taken yet."""
    workers: tuple[str, ...]
    """Workers with these labels that are asking for runs."""


class DrivenView(Struct, frozen=True, kw_only=True):
    """A run that a worker is driving right now."""

    run: str
    worker: str
    seen: float
    """When its driver last checked on it."""
    drive: int
    """The number of this drive: every wait or handover ends one, and a new one starts after it."""
    attempt: int
    """How many times this drive was started; more than once if a driver died or failed."""
    title: str
    agent: str
    laps: int


class LimitView(Struct, frozen=True, kw_only=True):
    """How many runs of an agent all workers together may drive at a time."""

    agent: str
    most: int
    holders: tuple[str, ...]
    waiting: tuple[str, ...]
    known: bool
    """Whether Temporal could say who holds a permit and who waits; without a worker it can't."""


class TakeoverView(Struct, frozen=True, kw_only=True):
    """A worker took over a run after another worker's driver fell silent."""

    run: str
    at: float
    before: str
    after: str


class FleetView(Struct, frozen=True, kw_only=True):
    """The whole fleet at one moment."""

    workers: tuple[WorkerView, ...]
    queues: tuple[QueueView, ...]
    driven: tuple[DrivenView, ...]
    limits: tuple[LimitView, ...]
    takeovers: tuple[TakeoverView, ...]
    """Of the last day, newest first, at most fifty."""
    resting: int
    """Open runs without a process: they wait for a time, a person, a permit or a worker."""
    temporal: str = ""
    """Why Temporal could not be asked; the rest then comes from the database alone."""
