"""What stopping there would have saved, and what it would have lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt

from msgspec import Struct

from untilgreen.backtest.replay import Stops
from untilgreen.backtest.trajectories import Trajectory

LOOKS = (1, 2, 3)
"""Within how many steps of its start a loop should be noticed."""
_Z = 1.959964
"""Standard deviations that cover 95 % of a normal distribution."""


class Played(Struct, frozen=True, kw_only=True):
    """A decision, and what is needed to judge it."""

    decision: Stops
    steps: int
    success: bool | None
    onset: int | None
    attempts: tuple[tuple[int, int, int], ...]
    """Each fresh start as (its number, its first step, the step after its last)."""


class Figures(Struct, frozen=True, kw_only=True):
    """The measures of one source; rates are fractions of 1, and None if there is nothing to divide by."""

    successes: int
    false_stops: int
    """Successes that would have been cut before their last step."""
    false_stop_rate: float | None
    false_stop_interval: tuple[float, float] | None
    """The 95 % confidence interval of the rate."""
    loops: int
    recall: dict[str, float | None]
    """Share of loops noticed at most this many steps after they began."""
    failed_steps: int
    saved_steps: int
    """Steps of failed runs that would not have happened."""
    saved: float | None


class Source(Struct, frozen=True, kw_only=True):
    """One source of runs: the figures if stuck runs are stopped, and if they are restarted instead."""

    source: str
    runs: int
    stops: int
    labeled: int
    stop: Figures | None
    """None if no run has a known outcome."""
    restart: Figures | None
    """None if no run numbers its attempts."""


def played(run: Trajectory, decision: Stops) -> Played:
    """Keep only what the figures need."""
    return Played(
        decision=decision,
        steps=len(run.steps),
        success=run.success,
        onset=run.terminal_loop_onset if run.terminal_loop else None,
        attempts=tuple(run.attempts),
    )


def figures(runs: Iterable[Played]) -> list[Source]:
    """One row for each source, by name; sources are never pooled."""
    by_source: dict[str, list[Played]] = {}
    for run in runs:
        by_source.setdefault(run.decision.source, []).append(run)
    return [_source(name, by_source[name]) for name in sorted(by_source)]


def interval(hits: int, of: int) -> tuple[float, float] | None:
    """Wilson's 95 % confidence interval of a rate."""
    if not of:
        return None
    rate, spread = hits / of, _Z * _Z / of
    middle = (rate + spread / 2) / (1 + spread)
    width = _Z * sqrt(rate * (1 - rate) / of + spread / of / 4) / (1 + spread)
    return max(0.0, middle - width), min(1.0, middle + width)


def _source(name: str, runs: Sequence[Played]) -> Source:
    labeled = [run for run in runs if run.success is not None]
    attempted = [run for run in labeled if run.attempts]
    return Source(
        source=name,
        runs=len(runs),
        stops=sum(run.decision.stop is not None for run in runs),
        labeled=len(labeled),
        stop=_figures([_stopped(run) for run in labeled]) if labeled else None,
        restart=_figures([_restarted(run) for run in attempted]) if attempted else None,
    )


class _Cut(Struct, frozen=True, kw_only=True):
    """The result for one run."""

    run: Played
    at: int | None
    """The first cut."""
    saved: int
    lost: bool


def _stopped(run: Played) -> _Cut:
    at = run.decision.stop
    saved = 0 if at is None else run.steps - 1 - at
    return _Cut(run=run, at=at, saved=saved, lost=saved > 0)


def _restarted(run: Played) -> _Cut:
    """Each attempt ends where it is stuck; a success is lost if its last attempt is cut."""
    cuts = [at for _, at in run.decision.restarts]
    saved = [sum(end - 1 - at for at in cuts if begin <= at < end) for _, begin, end in run.attempts]
    return _Cut(run=run, at=min(cuts, default=None), saved=sum(saved), lost=saved[-1] > 0)


def _figures(cuts: Sequence[_Cut]) -> Figures:
    good = [cut for cut in cuts if cut.run.success]
    bad = [cut for cut in cuts if not cut.run.success]
    loops = [(cut.at, cut.run.onset) for cut in cuts if cut.run.onset is not None]
    lost, steps = sum(cut.lost for cut in good), sum(cut.run.steps for cut in bad)
    saved = sum(cut.saved for cut in bad)
    return Figures(
        successes=len(good),
        false_stops=lost,
        false_stop_rate=_share(lost, len(good)),
        false_stop_interval=interval(lost, len(good)),
        loops=len(loops),
        recall={
            str(late): _share(sum(at is not None and at <= onset + late for at, onset in loops), len(loops))
            for late in LOOKS
        },
        failed_steps=steps,
        saved_steps=saved,
        saved=_share(saved, steps),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
