"""Going in circles: repetition is a cycle of period one, ping-pong one of period two."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from msgspec import Struct

from untilgreen.core.options import at_least
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration, RunState

_SHOWN = 3


def failing_set(lap: Iteration) -> Hashable:
    """What the gates complain about."""
    return lap.failing or None


def tree(lap: Iteration) -> Hashable:
    """What the workspace holds."""
    return lap.snapshot


def action_and_output(lap: Iteration) -> Hashable:
    """What the agent said and what the gates answered, without numbers, times, paths and ids."""
    answers = tuple(
        sorted((name, verdict.digest) for name, verdict in lap.verdicts.items() if verdict.digest)
    )
    return (lap.reply.digest, answers) if lap.reply.digest and answers else None


_KEYS: dict[str, Callable[[Iteration], Hashable]] = {
    "the same failures": failing_set,
    "the same tree": tree,
    "the same answer and output": action_and_output,
}


class Cycle(Struct, frozen=True, kw_only=True):
    """The last laps repeat with a period of one to three, and nothing improved meanwhile."""

    repeats: int = 3
    longest_period: int = 3

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 2, "repeats")
        at_least(self, 1, "longest_period")

    def detect(self, state: RunState) -> Signal | None:
        """The shortest cycle that stands after the last lap."""
        if not state.iterations or not state.iterations[-1].evidence:
            return None
        longest = self.repeats * self.longest_period
        laps = [lap for lap in state.iterations[-3 * longest :] if lap.evidence][-longest:]
        for period in range(1, self.longest_period + 1):
            window = laps[-period * self.repeats :]
            if len(window) < period * self.repeats or any(lap.improved for lap in window[period:]):
                continue
            for what, key in _KEYS.items():
                if _repeats([key(lap) for lap in window], period):
                    return _signal(what, window, period, self.repeats)
        return None


def _repeats(keys: list[Hashable], period: int) -> bool:
    return None not in keys and all(keys[i] == keys[i - period] for i in range(period, len(keys)))


def _signal(what: str, window: list[Iteration], period: int, repeats: int) -> Signal:
    failing = sorted(window[-1].failing)
    named = ", ".join(failing[:_SHOWN]) + (f" and {len(failing) - _SHOWN} more" if failing[_SHOWN:] else "")
    pattern = what if period == 1 else f"{what} in turns of {period}"
    return Signal(
        kind="cycle",
        strength="stuck",
        laps=tuple(lap.number for lap in window),
        evidence=f"{pattern}, {repeats} times: {named or 'no findings'}",
        advice=f"The last {len(window)} laps repeated {pattern}: {named or 'no findings'}.",
        confidence=0.9,
    )
