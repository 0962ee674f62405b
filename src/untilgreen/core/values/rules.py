"""The two contracts for code that judges a run: detectors report, strategies decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from msgspec import Struct

from untilgreen.core.values.decision import Decision, Finish
from untilgreen.core.values.model import Outcome

if TYPE_CHECKING:
    from untilgreen.core.values.state import RunState


class Signal(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A pattern that a detector saw, with what a person needs to check it in ten seconds."""

    kind: str
    strength: Literal["nudge", "stuck"]
    laps: tuple[int, ...]
    """The laps that show it."""
    evidence: str
    """What they have in common, normalized."""
    advice: str = ""
    """What to tell the agent about it."""
    confidence: float = 0.9
    signature: str = ""
    """What repeats, as a short name; filled in if a detector leaves it empty."""
    digest: str = ""
    """The fingerprint behind the signature."""


@runtime_checkable
class Detector(Protocol):
    """Recognizes one pattern in the laps so far; pure, so asking twice gives the same answer."""

    def detect(self, state: RunState) -> Signal | None:
        """The signal after the last lap, if any."""


@runtime_checkable
class Strategy(Protocol):
    """Answers after each lap whose gates are not green and which no limit ended; pure and stateless."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Continue, finish, or ask."""


@runtime_checkable
class Settles(Protocol):
    """A strategy that may soften an end: asked before `exhausted` or `stuck` becomes final."""

    def settle(self, state: RunState, finish: Finish) -> Finish:
        """The same end, or a better one."""


@runtime_checkable
class Bounded(Protocol):
    """A strategy with its own maximum of laps; laps that try remedies count toward it."""

    def most_laps(self) -> int | None:
        """The most laps that a run can have with this strategy; None if unlimited."""


def most_laps(strategy: object) -> int | None:
    """The strategy's own maximum of laps, if it has one."""
    return strategy.most_laps() if isinstance(strategy, Bounded) else None


def stuck(signals: tuple[Signal, ...]) -> Signal | None:
    """The first signal that says the run is stuck."""
    return next((signal for signal in signals if signal.strength == "stuck"), None)


def give_up(signals: tuple[Signal, ...]) -> Finish | None:
    """What every strategy but `manual` answers when a signal says stuck."""
    signal = stuck(signals)
    if signal is None:
        return None
    laps = ", ".join(map(str, signal.laps))
    return Finish(
        outcome=Outcome.STUCK,
        reason=f"{signal.kind} in laps {laps}: {signal.evidence}",
        confidence=signal.confidence,
        metadata={"signal": signal.kind},
    )
