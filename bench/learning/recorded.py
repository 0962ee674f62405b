"""Recorded runs as numbers: the features of each lap, and where detectors and hybrid would have ended them.

Replaying tens of thousands of laps takes minutes, so the result is cached in the temporary directory. The
cache is rebuilt when the data, the detectors, the features or the parsers change.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.learning.kept_laps import LAPS, mark, names
from untilgreen.backtest.replay import beginning, lap_of
from untilgreen.backtest.trajectories import lines, parse
from untilgreen.core.defaults import default_detectors
from untilgreen.core.learning.course import Course, end_with
from untilgreen.core.learning.features import features
from untilgreen.core.loop.decide import signals_after
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.rules import stuck

_BONUSES = ((3, 4), (5, 5), (12, 8))
"""Settings of hybrid other than its default of 8 and 12 laps."""
_CODE = ("core/scoring", "core/detectors", "core/learning", "core/values", "gates/output")


class Recorded(Struct, frozen=True, kw_only=True):
    """One run in numbers."""

    source: str
    id: str
    model: str
    task: str
    course: Course
    stuck: int | None
    """The lap after which the detectors say stuck."""
    hybrids: dict[str, int]
    """The lap after which hybrid with other settings would have ended it."""

    @property
    def detected(self) -> int:
        """The lap after which the detectors alone end it; the last lap if they never do."""
        return min(self.stuck or self.course.laps, self.course.laps)


def load(paths: Sequence[Path]) -> list[Recorded]:
    """All runs of these files whose steps are laps."""
    return [run for path in paths for run in _load(path) if run.source in LAPS]


def _load(path: Path) -> list[Recorded]:
    cache = Path(tempfile.gettempdir()) / f"untilgreen-{path.stem}-{mark(path, _CODE)}.json"
    if not cache.exists():
        draft = cache.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(list(_played(path))))
        draft.replace(cache)
    return msgspec.json.decode(cache.read_bytes(), type=list[Recorded])


def _played(path: Path) -> Iterator[Recorded]:
    detectors, hybrid = default_detectors(), Hybrid()
    for line in lines(path):
        run = parse(line.text, line.number, str(path))
        if run.source not in LAPS:
            continue
        state, first, seen = beginning(run.id), None, []
        for place, step in enumerate(run.steps):
            state = close_lap(state, lap_of(step, place + 1))
            seen.append(features(state.laps))
            if first is None and stuck(signals_after(state, detectors)):
                first = place + 1
        model, task = names(run.id, json.loads(line.text))
        yield Recorded(
            source=run.source,
            id=run.id,
            model=model,
            task=task,
            course=Course(seen=tuple(seen), green=bool(run.success), hybrid=end_with(hybrid, state)),
            stuck=first,
            hybrids={
                f"{base}+{bonus}": end_with(Hybrid(base=base, bonus=bonus), state) for base, bonus in _BONUSES
            },
        )
