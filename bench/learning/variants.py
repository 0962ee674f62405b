"""Variants of `cycle` and `similar` to choose from: other options, and rules that were or could be.

Only what a variant changes is written here; the rest is the product's code. Comparisons of two laps are
remembered for the run at hand, since many variants ask for the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Literal, TypeVar

from untilgreen.core.detectors.cycle import Cycle, _Found, _turns
from untilgreen.core.detectors.similar import _MEASURES, Similar, _nothing_moved
from untilgreen.core.scoring.same_outcome import (
    ENOUGH,
    SHORT,
    _said,
    comparable,
    likeness,
    names_failures,
    same,
)
from untilgreen.core.values.fingerprint import marks_alike, similarity
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Lap, RunState

PRESENT = "present"
_seen: dict[tuple[object, ...], object] = {}


def forget() -> None:
    """Before another run, whose laps have the same numbers."""
    _seen.clear()


T = TypeVar("T")


def _once(what: Callable[..., T], *laps: Lap, **options: float) -> T:
    key = (what, *(lap.number for lap in laps), *options.values())
    if key not in _seen:
        _seen[key] = what(*laps, **options)
    return _seen[key]  # type: ignore[return-value] # the function is part of the key


class CycleVariant(Cycle, frozen=True, kw_only=True):
    """`cycle` with what its code fixes as options; without any it is the product's."""

    enough: int = ENOUGH
    """Chunks of an output that counts as often as failures do."""
    short: int = SHORT
    """Chunks of an output that counts once more often."""
    told: int = 1
    """How many laps must have told something for "no others so far"."""
    silent: bool = True
    """Whether a lap must have said nothing for it."""
    margin: Literal["unnamed", "always", "never"] = "unnamed"
    """Whether a run with a score of `near` gets one more lap there: if its failures have no names."""
    turns: bool = True
    """Whether answers that repeat with their outcomes in turns need one round less."""
    outputs: float = 0.0
    """How much alike the outputs must be where there is a single failure."""
    contained: bool = True
    """Whether twice as many failures may differ where one lap has all of the other's."""

    def _moves_in_turns(self, laps: Sequence[Lap]) -> _Found | None:
        return Cycle._moves_in_turns(self, laps) if self.turns else None

    def _never_other(self, laps: Sequence[Lap]) -> _Found | None:
        close = laps[-1].score >= self.near
        more = close and (self.margin == "always" or (self.margin == "unnamed" and not _named(laps[-1])))
        streak = laps[-max(self.repeats - 1, 2) - more :]
        if len(laps) < self.repeats or not _turns(streak, 1, self._alike):
            return None
        told = [lap for lap in laps if _once(comparable, lap, fewest=self.enough)]
        if len(told) < self.told or (self.silent and len(told) == len(laps)):
            return None
        if any(lap.improved for lap in told[1:]) or not all(self._alike(lap, laps[-1]) for lap in told):
            return None
        return _Found(what="the same failures and no others so far", laps=told, times=len(told))

    def _same(self, one: Lap, other: Lap) -> bool:
        if not self._shared(one, other) or not self._told(one, other, self.enough):
            return False
        single = min(len(one.failing), len(other.failing)) <= 1
        return not (self.outputs and single) or _once(_printed, one, other) >= self.outputs

    def _alike(self, one: Lap, other: Lap) -> bool:
        return self._alike_again(one, other) and self._told(one, other, self.enough)

    def _alike_again(self, one: Lap, other: Lap) -> bool:
        alike = self._shared(one, other) or _once(likeness, one, other) >= self.alike
        return alike and self._told(one, other, self.short)

    def _shared(self, one: Lap, other: Lap) -> bool:
        return _once(same if self.contained else _share, one, other, overlap=self.overlap)

    def _told(self, one: Lap, other: Lap, fewest: int) -> bool:
        return _once(comparable, one, fewest=fewest) and _once(comparable, other, fewest=fewest)


def _named(lap: Lap) -> bool:
    return _once(names_failures, lap)


def _share(one: Lap, other: Lap, overlap: float) -> bool:
    """At least this share of all failures, whichever lap has more."""
    mine, yours = _said(one), _said(other)
    return mine == yours or len(mine & yours) >= overlap * len(mine | yours)


def _printed(one: Lap, other: Lap) -> float:
    pairs = [(one.verdicts[name], other.verdicts[name]) for name in one.verdicts if name in other.verdicts]
    return min((similarity(mine.sketch, yours.sketch) or 0.0 for mine, yours in pairs), default=0.0)


class SimilarVariant(Similar, frozen=True, kw_only=True):
    """`similar` where punctuation has to be this much alike; only what ends a run that has gates."""

    marks: float | None = None
    """As much as the replies, unless another share is given."""

    def detect(self, state: RunState) -> Signal | None:
        """Stuck or nothing: a nudge ends no run."""
        laps = state.laps[-self.window :]
        if len(laps) < self.window or any(lap.failed for lap in laps):
            return None
        marks = self.similarity if self.marks is None else self.marks
        if any(lap.improved for lap in laps[1:]) or not all(
            _nothing_moved(one, other)
            and _once(_MEASURES[self.measure], one, other) >= self.similarity
            and _once(_marks, one, other) >= marks
            for one, other in pairwise(laps)
        ):
            return None
        return Signal(kind="similar", strength="stuck", laps=tuple(lap.number for lap in laps), evidence="")


def _marks(one: Lap, other: Lap) -> float:
    return marks_alike(one.reply.text, other.reply.text)


SHORTEST = (3, 4, 5, 6, 8, ENOUGH)
"""Of the shortest output that counts where it comes once more often; the last one is no shorter at all."""

_SETS = {
    "overlap 0.75": (0.75, False),
    "contained sets differ more": (0.75, True),
    "overlap 0.5": (0.5, False),
}
"""When two sets of failures are the same."""

_MORE: dict[str, Literal["unnamed", "always", "never"]] = {
    "a lap more": "always",
    "a lap more without names": "unnamed",
    "no lap more": "never",
}
"""Who gets one more lap near the goal where there were no other failures so far."""

_GRID = {
    f"{short} chunks, {more}, {sets}": CycleVariant(
        short=short, margin=_MORE[more], overlap=_SETS[sets][0], contained=_SETS[sets][1]
    )
    for short, more, sets in product(SHORTEST, _MORE, _SETS)
}
"""What is chosen from together: the shortest output, the lap more of "no others so far", and the sets."""
EAGER_CYCLE = CycleVariant(short=min(SHORTEST), margin="never", silent=False, overlap=0.5, near=1.0)
"""Says stuck wherever one of CYCLES does, but for those of BY_THEMSELVES: they need not be asked before."""
EAGER_SIMILAR = SimilarVariant(similarity=0.9, marks=0.0)
BY_THEMSELVES = frozenset({"outputs of 5 chunks, 3 times", "jaccard"})
CYCLES: dict[str, Cycle] = {
    PRESENT: Cycle(),
    **_GRID,
    "repeats 4": CycleVariant(repeats=4),
    "longest_period 2": CycleVariant(longest_period=2),
    "near 1": CycleVariant(near=1.0),
    "outputs of 5 chunks, 3 times": CycleVariant(enough=5),
    "no others so far: first version": CycleVariant(silent=False, margin="never"),
    "no others so far: 3 told laps": CycleVariant(told=3),
    "turns need all rounds": CycleVariant(turns=False),
    "one failure only with its output": CycleVariant(outputs=0.5),
}
SIMILARS: dict[str, Similar] = {
    PRESENT: Similar(),
    "punctuation as the replies": SimilarVariant(),
    "without punctuation": SimilarVariant(marks=0.0),
    "punctuation 0.9": SimilarVariant(marks=0.9),
    "similarity 0.98": SimilarVariant(similarity=0.98),
    "similarity 0.9": SimilarVariant(similarity=0.9),
    "window 4": SimilarVariant(window=4),
    "jaccard": SimilarVariant(measure="jaccard"),
}
CHOICES: list[tuple[str, str]] = list(
    product(_GRID, ["punctuation as the replies", "punctuation 0.9", "similarity 0.98", "window 4"])
)
"""Pairs that the choice out of fold is made from; the rest is measured beside the present form only."""
SAME_AS_PRESENT = (
    f"{SHORT} chunks, a lap more without names, contained sets differ more",
    "punctuation as the replies",
)
"""The pair that must decide as the product does; every run is checked."""
