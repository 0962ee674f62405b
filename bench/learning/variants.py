"""Variants of `cycle` and `similar` to choose from: other options, former rules and possible rules.

Only what a variant changes is written here; the rest is the product's code. Comparisons of two laps are
cached for the current run, since many variants need the same ones.
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
    """Clear the cache; needed before each run, as its laps have the same numbers."""
    _seen.clear()


T = TypeVar("T")


def _once(what: Callable[..., T], *laps: Lap, **options: float) -> T:
    key = (what, *(lap.number for lap in laps), *options.values())
    if key not in _seen:
        _seen[key] = what(*laps, **options)
    return _seen[key]  # type: ignore[return-value] # the function is part of the key


class CycleVariant(Cycle, frozen=True, kw_only=True):
    """`cycle` with its constants as options; the defaults are the product's."""

    enough: int = ENOUGH
    """The number of chunks from which an output counts like failures."""
    short: int = SHORT
    """The number of chunks from which an output counts if it occurs once more often."""
    told: int = 1
    """How many laps must have reported something for "no others so far"."""
    silent: bool = True
    """Whether "no others so far" needs a lap that reported nothing."""
    margin: Literal["unnamed", "always", "never"] = "unnamed"
    """When "no others so far" gives a run near the goal one more lap: if its failures have no names."""
    turns: bool = True
    """Whether replies that repeat in turns together with their outcomes need one round less."""
    outputs: float = 0.0
    """How much alike the outputs must be if there is a single failure."""
    contained: bool = True
    """Whether twice as many failures may differ if one lap has all failures of the other."""

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
    """Whether the two laps share at least this part of all their failures."""
    mine, yours = _said(one), _said(other)
    return mine == yours or len(mine & yours) >= overlap * len(mine | yours)


def _printed(one: Lap, other: Lap) -> float:
    pairs = [(one.verdicts[name], other.verdicts[name]) for name in one.verdicts if name in other.verdicts]
    return min((similarity(mine.sketch, yours.sketch) or 0.0 for mine, yours in pairs), default=0.0)


class SimilarVariant(Similar, frozen=True, kw_only=True):
    """`similar` with its own threshold for punctuation; only the part that ends a run with gates."""

    marks: float | None = None
    """How much alike punctuation must be; if None, as much as the replies."""

    def detect(self, state: RunState) -> Signal | None:
        """Stuck or nothing, as a nudge doesn't end a run."""
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
"""Lengths from which an output counts if it occurs once more often; with the last, there is no exception."""

_SETS = {
    "overlap 0.75": (0.75, False),
    "contained sets differ more": (0.75, True),
    "overlap 0.5": (0.5, False),
}
"""When two sets of failures count as the same."""

_MORE: dict[str, Literal["unnamed", "always", "never"]] = {
    "a lap more": "always",
    "a lap more without names": "unnamed",
    "no lap more": "never",
}
"""Which runs near the goal get one more lap under "no others so far"."""

_GRID = {
    f"{short} chunks, {more}, {sets}": CycleVariant(
        short=short, margin=_MORE[more], overlap=_SETS[sets][0], contained=_SETS[sets][1]
    )
    for short, more, sets in product(SHORTEST, _MORE, _SETS)
}
"""Options that are chosen together: the shortest output, the extra lap, and how sets are compared."""
EAGER_CYCLE = CycleVariant(short=min(SHORTEST), margin="never", silent=False, overlap=0.5, near=1.0)
"""Says stuck whenever one of CYCLES does, except for BY_THEMSELVES; none has to be asked before it does."""
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
"""The pairs to choose from out of fold; other variants are measured only with the other's present form."""
SAME_AS_PRESENT = (
    f"{SHORT} chunks, a lap more without names, contained sets differ more",
    "punctuation as the replies",
)
"""The pair that must decide like the product; this is checked on every run."""
