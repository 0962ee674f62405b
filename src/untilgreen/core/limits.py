"""Hard ceilings: whatever a strategy wants, no lap starts beyond them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from untilgreen.core.units import UNLIMITED, count, duration, money, several, show_duration
from untilgreen.errors import ConfigError

if TYPE_CHECKING:
    from untilgreen.core.state import RunState

UnknownCost = Literal["refuse", "estimate", "ignore"]

_COUNTS = ("iterations", "errors", "tokens", "waits")
_DURATIONS = ("time", "lap", "silence", "wait")
_MONEY = ("cost", "token_price")
_ENDS_A_RUN = ("iterations", "time", "cost", "tokens")
AUTO = "auto"
STREAMING_SILENCE = 15 * 60.0
PROJECTED_LAPS = 9
"""How many of the latest laps the price of another one is projected from."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ceilings as numbers or as people write them; None, or the word `unlimited`, is no ceiling."""

    iterations: int | str | None = 20
    time: float | str | None = 4 * 3600.0
    errors: int | str | None = 3
    cost: float | str | None = None
    tokens: int | str | None = None
    lap: float | str | None = 30 * 60.0
    silence: float | str | None = AUTO
    """How long an agent may stay silent; by default only those that stream are watched for it."""
    waits: int | str | None = 5
    wait: float | str | None = 6 * 3600.0
    unknown_cost: UnknownCost = "refuse"
    token_price: float | str | None = None
    """Dollars for a million tokens, for `unknown_cost = "estimate"`."""

    def __post_init__(self) -> None:
        """Read every value once, so that the rest of the core sees numbers only."""
        for keys, read in ((_COUNTS, count), (_DURATIONS, duration), (_MONEY, money)):
            for key in keys:
                value = getattr(self, key)
                if key == "silence" and value == AUTO:
                    continue
                unlimited = value is None or (isinstance(value, str) and value.strip().lower() == UNLIMITED)
                force_setattr(self, key, None if unlimited else read(value, f"limits.{key}"))
        if all(getattr(self, key) is None for key in _ENDS_A_RUN):
            raise ConfigError(
                "Every limit that ends a run is unlimited. "
                "Set one of limits.iterations, limits.time, limits.cost or limits.tokens."
            )
        if self.unknown_cost == "estimate" and self.token_price is None:
            raise ConfigError(
                "limits.unknown_cost = 'estimate' needs limits.token_price, the price of a million tokens."
            )


class Breach(Struct, frozen=True, kw_only=True):
    """The first limit that forbids another lap, by name and in words."""

    limit: str
    reason: str


def ceiling(value: float | str | None) -> float:
    """A limit as a number that can be compared."""
    return math.inf if value is None else float(value)


def silence(limits: Limits, *, streams: bool) -> float | None:
    """How long an agent may stay silent, in seconds."""
    if limits.silence == AUTO:
        return STREAMING_SILENCE if streams else None
    return None if limits.silence is None else float(limits.silence)


def seconds_left(state: RunState) -> float:
    """How long the next turn may take: what is left of the run, at most a lap."""
    limits = state.plan.limits
    return max(0.0, min(ceiling(limits.time) - state.elapsed, ceiling(limits.lap)))


def money_left(state: RunState) -> float | None:
    """What an agent that takes a budget may spend, where there is a cost limit."""
    cost = state.plan.limits.cost
    return None if cost is None else max(0.0, float(cost) - state.spent.cost)


def breached(state: RunState) -> Breach | None:
    """The limits in their fixed order; the first that forbids another lap names the reason."""
    return next(_breaches(state), None)


def breached_apart_from_laps(state: RunState) -> Breach | None:
    """The same for an attempt that did not count as a lap and is to be repeated."""
    return next((breach for breach in _breaches(state) if breach.limit != "iterations"), None)


def waited_too_long(state: RunState, seconds: float) -> Breach | None:
    """Whether another wait of this length is still allowed."""
    limits = state.plan.limits
    if state.waits >= ceiling(limits.waits):
        return Breach(limit="waits", reason=f"waits: {state.waits} in a row without a completed turn")
    if state.waited + seconds > ceiling(limits.wait):
        return Breach(
            limit="wait",
            reason=f"wait: {show_duration(state.waited)} waited and {show_duration(seconds)} more "
            f"would pass {show_duration(ceiling(limits.wait))}",
        )
    return None


def _breaches(state: RunState) -> Iterator[Breach]:
    limits = state.plan.limits
    laps = len(state.iterations)
    if laps >= ceiling(limits.iterations):
        yield Breach(limit="iterations", reason=f"iterations: {laps} of {limits.iterations} used")
    if state.elapsed >= ceiling(limits.time):
        yield Breach(
            limit="time",
            reason=f"time: {show_duration(state.elapsed)} of {show_duration(ceiling(limits.time))} used",
        )
    if state.errors >= ceiling(limits.errors):
        yield Breach(
            limit="errors",
            reason=f"errors: the agent failed {several(state.errors, 'time')} in a row, "
            f"last: {state.last_error}",
        )
    yield from _cost(state)
    yield from _tokens(state)


def _cost(state: RunState) -> Iterator[Breach]:
    limit = state.plan.limits.cost
    if limit is None:
        return
    if state.spent.unpriced and state.plan.limits.unknown_cost != "ignore":
        yield Breach(
            limit="cost",
            reason=f"cost: {several(state.spent.unpriced, 'turn')} without a known cost. Set "
            "limits.unknown_cost to 'estimate' (with limits.token_price) or 'ignore', or drop limits.cost",
        )
    spent, projected = state.spent.cost, _typical([lap.cost for lap in state.iterations[-PROJECTED_LAPS:]])
    if spent >= float(limit):
        yield Breach(limit="cost", reason=f"cost: ${spent:.2f} of ${float(limit):.2f} spent")
    elif spent + projected > float(limit):
        yield Breach(
            limit="cost",
            reason=f"cost: ${spent:.2f} spent and about ${projected:.2f} for another lap "
            f"would pass ${float(limit):.2f}",
        )


def _tokens(state: RunState) -> Iterator[Breach]:
    limit = state.plan.limits.tokens
    if limit is None:
        return
    spent, projected = (
        state.spent.tokens,
        _typical([lap.tokens for lap in state.iterations[-PROJECTED_LAPS:]]),
    )
    if spent >= int(limit):
        yield Breach(limit="tokens", reason=f"tokens: {spent:,} of {int(limit):,} used")
    elif spent + projected > int(limit):
        yield Breach(
            limit="tokens",
            reason=f"tokens: {spent:,} used and about {projected:,.0f} for another lap "
            f"would pass {int(limit):,}",
        )


def _typical(prices: list[float] | list[int]) -> float:
    """The median lap: one expensive lap must not end a run that is cheap otherwise."""
    from statistics import median  # noqa: PLC0415 - with all it loads, a twentieth of a short command's time

    return float(median(prices)) if prices else 0.0
