"""The seat of a worker: it drives while there is work, and leaves long waits to Temporal's timers."""

from __future__ import annotations

from collections.abc import Callable

from untilgreen.core.loop.step import AwaitTurn, Step, Work
from untilgreen.engine.loop.seat import Seat


def _never() -> bool:
    return False


class FleetSeat(Seat, frozen=True, kw_only=True):
    """A worker's seat: it takes no new turn while the worker is draining."""

    draining: Callable[[], bool] = _never

    def takes(self, step: Step, now: float) -> bool:
        if isinstance(step, Work) and self.draining():
            return False
        return super().takes(step, now)


def fleet_seat(patience: float, draining: Callable[[], bool]) -> FleetSeat:
    """The seat of a fleet: people answer from anywhere, so questions wait."""
    return FleetSeat(name="served", answers=True, leaves=(AwaitTurn,), patience=patience, draining=draining)
