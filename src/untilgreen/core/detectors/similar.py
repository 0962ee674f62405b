"""Saying the same again while nothing moves, or in a run where only the reply can tell.

Two measures say how much of two replies is the same, from 0 to 1. `chunks` compares runs of about four words,
so that a changed word costs its chunk: order matters, and a long text is cheap. `jaccard` compares the sets
of words without articles, as |both| / |either|: order does not matter, and short replies count as well.
With either, punctuation and operators have to be just as alike: `{} +` and `{} \\;` are different commands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, starmap
from typing import Annotated, Literal

from msgspec import Struct

from untilgreen.core.scoring.measure import judged
from untilgreen.core.scoring.same_outcome import replies_alike
from untilgreen.core.values.fingerprint import jaccard, marks_alike, plain_numbers
from untilgreen.core.values.option_checks import FromTwo, Share, about, check_options
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.signature import signature
from untilgreen.core.values.state import Lap, RunState

Measure = Literal["chunks", "jaccard"]
MEASURES: tuple[Measure, ...] = ("chunks", "jaccard")
CHUNKS, JACCARD = MEASURES
Likeness = Callable[[Lap, Lap], float]


class Similar(Struct, frozen=True, kw_only=True):
    """The last `window` replies are at least this `similarity` alike, by this `measure`.

    Stuck if neither files nor findings changed between them. If they did, the same reply is a nudge, and
    stuck only in a run without gates, where nothing else can tell.
    """

    similarity: Annotated[Share, about("How alike replies must be, from 0 to 1, by the measure.")] = 0.95
    window: Annotated[FromTwo, about("How many replies in a row must be alike.")] = 3
    measure: Annotated[
        Measure,
        about(
            'How alike two replies are: "chunks" compares runs of about four words, so order matters; '
            '"jaccard" compares sets of words: how many both replies have, out of all.'
        ),
    ] = "chunks"

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def detect(self, state: RunState) -> Signal | None:
        """Stuck when each of the last replies is like the one before it; a nudge while one is missing."""
        laps = state.laps[-self.window :]
        if len(laps) == self.window and (alike := self._alike_where_nothing_moved(laps)):
            return _signal("stuck", laps, f"replies {alike:.0%} alike, the same files and findings")
        if len(laps) == self.window and self._alike(laps) and all(starmap(_the_same_words, pairwise(laps))):
            strength: Literal["nudge", "stuck"] = "nudge" if judged(state.plan) else "stuck"
            return _signal(strength, laps, f"the same reply {self.window} times")
        fewer = state.laps[1 - self.window :]
        if len(fewer) == self.window - 1 > 1 and (alike := self._alike_where_nothing_moved(fewer)):
            return _signal("nudge", fewer, f"replies {alike:.0%} alike, the same files and findings")
        return None

    def _alike_where_nothing_moved(self, laps: Sequence[Lap]) -> float:
        return self._alike(laps) if all(starmap(_nothing_moved, pairwise(laps))) else 0.0

    def _alike(self, laps: Sequence[Lap]) -> float:
        """How alike the least similar two replies in a row are; 0 if that is not enough."""
        if any(lap.failed for lap in laps) or any(lap.improved for lap in laps[1:]):
            return 0.0
        least = 1.0
        for measure in (_MEASURES[self.measure], _marks_alike):  # the first costs less
            least = min(least, *starmap(measure, pairwise(laps)))
            if least < self.similarity:
                return 0.0
        return least


def _nothing_moved(one: Lap, other: Lap) -> bool:
    return one.snapshot == other.snapshot and one.failing == other.failing


def _the_same_words(one: Lap, other: Lap) -> bool:
    """Including their numbers: step 3 and step 4 are not the same step."""
    return bool(one.reply.text.strip()) and plain_numbers(one.reply.text) == plain_numbers(other.reply.text)


def _marks_alike(one: Lap, other: Lap) -> float:
    """How much of the punctuation is the same: a sign or a bracket can be the whole difference."""
    return marks_alike(one.reply.text, other.reply.text)


def _by_words(one: Lap, other: Lap) -> float:
    return jaccard(one.reply.text, other.reply.text)


_MEASURES: dict[str, Likeness] = {CHUNKS: replies_alike, JACCARD: _by_words}


def _signal(strength: Literal["nudge", "stuck"], laps: Sequence[Lap], evidence: str) -> Signal:
    said = laps[-1].reply
    return Signal(
        kind="similar",
        strength=strength,
        laps=tuple(lap.number for lap in laps),
        evidence=evidence,
        advice=f"Your last {len(laps)} replies said the same, and nothing improved.",
        confidence=0.85 if strength == "stuck" else 0.7,
        signature=signature(said.text),
        digest=said.digest,
    )
