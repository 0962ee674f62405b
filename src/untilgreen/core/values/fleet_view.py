"""A fleet as a person sees it: workers, queues, who drives what, limits, takeovers."""

from __future__ import annotations

from msgspec import Struct


class WorkerView(Struct, frozen=True, kw_only=True):
    """A worker that asks for runs, or that drives some."""

    name: str
    slots: int
    """How many runs it drives at a time; 0 if it does not ask for any at the moment."""
    labels: tuple[str, ...]
    seen: float | None
    """When it last asked for a run or looked at one; an idle worker asks once a minute."""
    drives: tuple[str, ...]


class QueueView(Struct, frozen=True, kw_only=True):
    """The runs that need the same labels."""

    name: str
    labels: tuple[str, ...]
    waiting: int
    """Runs that no worker has taken yet."""
    workers: tuple[str, ...]
    """Who would take them."""


class DrivenView(Struct, frozen=True, kw_only=True):
    """A run that a worker drives at this moment."""

    run: str
    worker: str
    seen: float
    """When its driver last looked at it."""
    drive: int
    """Each wait or hand-over ends one drive, and the next begins another."""
    attempt: int
    """How often this drive was begun; more than one where a driver died or failed."""
    title: str
    agent: str
    laps: int


class LimitView(Struct, frozen=True, kw_only=True):
    """How many runs of an agent may be driven at a time, over all workers."""

    agent: str
    most: int
    holders: tuple[str, ...]
    waiting: tuple[str, ...]
    known: bool
    """Whether Temporal said who has a permit and who waits; it can't while no worker is there."""


class TakeoverView(Struct, frozen=True, kw_only=True):
    """A worker took over a run after another worker's driver fell silent."""

    run: str
    at: float
    before: str
    after: str


class FleetView(Struct, frozen=True, kw_only=True):
    """Everything at one moment."""

    workers: tuple[WorkerView, ...]
    queues: tuple[QueueView, ...]
    driven: tuple[DrivenView, ...]
    limits: tuple[LimitView, ...]
    takeovers: tuple[TakeoverView, ...]
    """Of the last day, newest first, at most fifty."""
    resting: int
    """Open runs without a process: they wait for a time, a person, a permit or a worker."""
    temporal: str = ""
    """Why Temporal could not be asked; then only what the database knows is here."""
