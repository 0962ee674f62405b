"""A lap as programs and pages read it: the one view that the result, the report and `why` share."""

from __future__ import annotations

from msgspec import Struct

from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.model import Change, ErrorClass, Verdict
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Lap


class LapView(Struct, frozen=True, kw_only=True):
    """One lap that is over; lap 0 is the baseline, before the first turn."""

    number: int
    agent: str
    started: float
    duration: float
    """Seconds from the brief to the decision."""
    tokens: int | None
    """None if they are unknown; so is the cost."""
    cost: float | None
    """US dollars."""
    error: ErrorClass | None
    """How the turn failed; null where it did not."""
    reply: str
    """The agent's last message."""
    claim: bool
    """Whether the agent said that it was done."""
    remedy: str | None
    """The remedy that was tried in this lap."""
    changes: tuple[Change, ...]
    """Files that the turn changed."""
    snapshot: str | None
    score: float
    findings: int
    improved: bool
    """A new best score, or fewer findings than ever before."""
    verdicts: dict[str, Verdict]
    failing: tuple[str, ...]
    """Ids of the findings of required gates."""
    signals: tuple[Signal, ...]
    decision: Continue | Finish | Ask | None
    unanswered: tuple[str, ...] = ()
    """Gates that asked for a person while nobody could answer."""


def lap_view(lap: Lap) -> LapView:
    """The view of a lap."""
    return LapView(
        number=lap.number,
        agent=lap.agent,
        started=lap.started,
        duration=lap.duration,
        tokens=lap.tokens,
        cost=lap.cost,
        error=lap.reply.error,
        reply=lap.reply.text,
        claim=lap.claim,
        remedy=lap.remedy,
        changes=lap.changes,
        snapshot=lap.snapshot,
        score=lap.score,
        findings=lap.count,
        improved=lap.improved,
        verdicts=dict(lap.verdicts),
        failing=tuple(sorted(lap.failing)),
        signals=lap.signals,
        decision=lap.decision,
        unanswered=lap.unanswered,
    )
