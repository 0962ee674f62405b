"""Variants of `cycle` and `similar` to choose from: other options, and rules that were or could be.

Only what a variant changes is written here; the rest is the product's code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from untilgreen.core.detectors.cycle import Cycle, _Found, _turns
from untilgreen.core.detectors.similar import _MEASURES, Similar
from untilgreen.core.scoring.same_outcome import comparable, likeness, same
from untilgreen.core.values.fingerprint import marks_alike, similarity
from untilgreen.core.values.state import Lap

PRESENT = "present"


class ShortOutputs(Cycle, frozen=True, kw_only=True):
    """Repetition is also seen in outputs of this many chunks; "no others so far" wants as many as ever."""

    fewest: int = 5

    def _same(self, one: Lap, other: Lap) -> bool:
        told = comparable(one, self.fewest) and comparable(other, self.fewest)
        return told and same(one, other, self.overlap)


class ShortAgain(Cycle, frozen=True, kw_only=True):
    """Outputs of so many chunks are evidence where they come once more often than failures."""

    fewest: int = 10

    def _alike(self, one: Lap, other: Lap) -> bool:
        return self._alike_again(one, other) and comparable(one) and comparable(other)

    def _alike_again(self, one: Lap, other: Lap) -> bool:
        alike = same(one, other, self.overlap) or likeness(one, other) >= self.alike
        return alike and comparable(one, self.fewest) and comparable(other, self.fewest)


class NeverOther(Cycle, frozen=True, kw_only=True):
    """Other conditions of "no others so far"."""

    told: int = 2
    """How many laps must have told something."""
    silent: bool = True
    """Whether a lap must have said nothing, so that the ordinary rules have no say."""
    margin: bool = True
    """Whether a run with a score of `near` gets one more lap."""

    def _never_other(self, laps: Sequence[Lap]) -> _Found | None:
        more = self.margin and laps[-1].score >= self.near
        streak = laps[-max(self.repeats - 1, 2) - more :]
        if len(laps) < self.repeats or not _turns(streak, 1, self._alike):
            return None
        told = [lap for lap in laps if comparable(lap)]
        if len(told) < self.told or (self.silent and len(told) == len(laps)):
            return None
        if any(lap.improved for lap in told[1:]) or not all(self._alike(lap, laps[-1]) for lap in told):
            return None
        return _Found(what="the same failures and no others so far", laps=told, times=len(told))


class WholeTurns(Cycle, frozen=True, kw_only=True):
    """Turns of answers with their outcomes need as many rounds as everything else."""

    def _moves_in_turns(self, laps: Sequence[Lap]) -> _Found | None:
        return None


class OneFailure(Cycle, frozen=True, kw_only=True):
    """A single failure counts as the same only where the outputs are about as much alike, too."""

    outputs: float = 0.5

    def _same(self, one: Lap, other: Lap) -> bool:
        if not Cycle._same(self, one, other):
            return False
        return min(len(one.failing), len(other.failing)) > 1 or self._printed(one, other) >= self.outputs

    def _printed(self, one: Lap, other: Lap) -> float:
        pairs = [
            (one.verdicts[name], other.verdicts[name]) for name in one.verdicts if name in other.verdicts
        ]
        return min((similarity(mine.sketch, yours.sketch) or 0.0 for mine, yours in pairs), default=0.0)


class Marks(Similar, frozen=True, kw_only=True):
    """Punctuation has to be this much alike, in replies of at most so many words."""

    marks: float = 0.0
    longest: int = 1_000_000

    def _alike(self, laps: Sequence[Lap], comparable: Callable[[Lap, Lap], bool]) -> float:
        if any(lap.failed for lap in laps) or any(lap.improved for lap in laps[1:]):
            return 0.0
        pairs = list(pairwise(laps))
        if not all(comparable(one, other) for one, other in pairs):
            return 0.0
        least = min(_MEASURES[self.measure](one, other) for one, other in pairs)
        alike = least >= self.similarity and all(self._marked(one, other) for one, other in pairs)
        return least if alike else 0.0

    def _marked(self, one: Lap, other: Lap) -> bool:
        long = len(one.reply.text.split()) > self.longest
        return long or marks_alike(one.reply.text, other.reply.text) >= self.marks


CYCLES: dict[str, Cycle] = {
    PRESENT: Cycle(),
    "repeats 4": Cycle(repeats=4),
    "longest_period 2": Cycle(longest_period=2),
    "overlap 0.5": Cycle(overlap=0.5),
    "near 1": Cycle(near=1.0),
    "outputs of 5 chunks": ShortOutputs(fewest=5),
    "outputs of 10 chunks, 4 times": ShortAgain(fewest=10),
    "outputs of 5 chunks, 4 times": ShortAgain(fewest=5),
    "outputs of 3 chunks, 4 times": ShortAgain(fewest=3),
    "no others so far: first version": NeverOther(silent=False, margin=False),
    "no others so far: without the lap more": NeverOther(margin=False),
    "no others so far: 3 told laps": NeverOther(told=3),
    "turns need all rounds": WholeTurns(),
    "one failure only with its output": OneFailure(),
}
SIMILARS: dict[str, Similar] = {
    PRESENT: Similar(),
    "without punctuation": Marks(),
    "punctuation 0.9": Marks(marks=0.9),
    "similarity 0.98": Similar(similarity=0.98),
    "similarity 0.9": Similar(similarity=0.9),
    "window 4": Similar(window=4),
    "jaccard": Similar(measure="jaccard"),
}
