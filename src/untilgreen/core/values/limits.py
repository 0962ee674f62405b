"""Hard limits: no strategy starts a lap beyond them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from untilgreen.core.values.option_checks import COUNT, DURATION, MONEY, about, kinds_of, unit_of
from untilgreen.core.values.units import UNLIMITED, count, duration, money, several, show_duration
from untilgreen.errors import ConfigError

if TYPE_CHECKING:
    from untilgreen.core.values.state import RunState

UnknownCost = Literal["refuse", "estimate", "ignore"]

_READERS: dict[str, Callable[[float | str, str], float]] = {COUNT: count, DURATION: duration, MONEY: money}
_ENDS_A_RUN = ("iterations", "time", "cost", "tokens")
AUTO = "auto"
STREAMING_SILENCE = 15 * 60.0
MOST_TAKEOVERS = 10
"""How many machines in a row may die during a turn before the turn itself is blamed."""
_SHOWN: dict[str, tuple[Callable[[float], str], str]] = {
    "cost": ("${:.2f}".format, "spent"),
    "tokens": ("{:,.0f}".format, "used"),
}
"""How to write the amounts of a limit, and the word for having used them."""
LONGEST_ERROR = 300
"""Characters of an agent's error in a reason."""
PROJECTED_LAPS = 9
"""How many of the latest laps to project the price of another one from."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ceilings as numbers or as people write them; None, or the word `unlimited`, means no ceiling."""

    iterations: Annotated[int | str | None, about("Maximum number of laps.", COUNT)] = 20
    time: Annotated[
        float | str | None,
        about("Total time of the run, not counting waits for rate limits or answers.", DURATION),
    ] = 4 * 3600.0
    errors: Annotated[int | str | None, about("Maximum number of failed turns in a row.", COUNT)] = 3
    cost: Annotated[float | str | None, about("Total cost, in US dollars.", MONEY)] = None
    tokens: Annotated[int | str | None, about("Total tokens, input and output together.", COUNT)] = None
    lap: Annotated[float | str | None, about("Maximum time for one turn of the agent.", DURATION)] = 30 * 60.0
    silence: Annotated[
        float | str | None,
        about("How long an agent may print nothing; `auto` is 15m for agents that stream.", DURATION),
    ] = AUTO
    waits: Annotated[
        int | str | None, about("Maximum number of waits in a row without a completed turn.", COUNT)
    ] = 5
    wait: Annotated[float | str | None, about("Total time spent waiting for rate limits.", DURATION)] = (
        6 * 3600.0
    )
    unknown_cost: Annotated[
        UnknownCost, about("What to do when `cost` is limited and a turn does not report its cost.")
    ] = "refuse"
    token_price: Annotated[
        float | str | None, about('Dollars per million tokens, for `unknown_cost = "estimate"`.', MONEY)
    ] = None

    def __post_init__(self) -> None:
        """Read every value once, so that the rest of the core sees numbers only."""
        for key, kind in kinds_of(Limits).items():
            value, unit = getattr(self, key), unit_of(kind)
            if not unit or (key == "silence" and value == AUTO):
                continue
            unlimited = value is None or (isinstance(value, str) and value.strip().lower() == UNLIMITED)
            force_setattr(self, key, None if unlimited else _READERS[unit](value, f"limits.{key}"))
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
    """How long the next turn may take: what is left of the run's time, at most the limit of a lap."""
    limits = state.plan.limits
    return max(0.0, min(ceiling(limits.time) - state.elapsed, ceiling(limits.lap)))


def money_left(state: RunState) -> float | None:
    """What an agent that accepts a budget may spend; None without a cost limit."""
    cost = state.plan.limits.cost
    return None if cost is None else max(0.0, float(cost) - (state.spent.cost or 0.0))


def breached(state: RunState) -> Breach | None:
    """The first limit, in their fixed order, that forbids another lap."""
    return next(_breaches(state), None)


def breached_apart_from_laps(state: RunState) -> Breach | None:
    """The same for repeating an attempt that did not count as a lap."""
    return next((breach for breach in _breaches(state) if breach.limit != "iterations"), None)


def waited_too_long(state: RunState, seconds: float) -> Breach | None:
    """The limit that forbids another wait of this length; None if it is allowed."""
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
    laps = len(state.laps)
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
            f"last: {_first_and_last_line(state.last_error)}",
        )
    if state.takeovers >= MOST_TAKEOVERS:
        yield Breach(
            limit="errors",
            reason=f"errors: {several(state.takeovers, 'machine')} in a row died during a turn",
        )
    yield from _cost(state)
    yield from _tokens(state)


def _first_and_last_line(error: str) -> str:
    """How a turn ended and the agent's last words, joined, because a reason is one line."""
    lines = [" ".join(line.split()) for line in error.splitlines() if line.strip()]
    said = ": ".join(dict.fromkeys(lines[:1] + lines[-1:]))
    return said if len(said) <= LONGEST_ERROR else said[: LONGEST_ERROR - 1] + "…"


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
    prices = [lap.cost or 0.0 for lap in state.laps[-PROJECTED_LAPS:]]
    yield from _spending("cost", state.spent.cost or 0.0, prices, float(limit))


def _tokens(state: RunState) -> Iterator[Breach]:
    limit = state.plan.limits.tokens
    if limit is None:
        return
    prices = [lap.tokens or 0 for lap in state.laps[-PROJECTED_LAPS:]]
    yield from _spending("tokens", state.spent.tokens or 0, prices, int(limit))


def _spending(name: str, spent: float, prices: list[float] | list[int], limit: float) -> Iterator[Breach]:
    """A limit that is reached, or that another lap at the usual price would exceed."""
    show, participle = _SHOWN[name]
    projected = _typical(prices)
    if spent >= limit:
        yield Breach(limit=name, reason=f"{name}: {show(spent)} of {show(limit)} {participle}")
    elif spent + projected > limit:
        yield Breach(
            limit=name,
            reason=f"{name}: {show(spent)} {participle} and about {show(projected)} for another lap "
            f"would pass {show(limit)}",
        )


def _typical(prices: list[float] | list[int]) -> float:
    """The median lap: one expensive lap must not end an otherwise cheap run."""
    from statistics import median  # noqa: PLC0415 - with all it loads, a twentieth of a short command's time

    return float(median(prices)) if prices else 0.0
