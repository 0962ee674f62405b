"""The bars of the detectors on recorded runs: figures with 95 % intervals, and what they were before.

Before: in the first measured version (commit 317bdef), on the same runs.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from untilgreen.backtest.score import Played, interval

SAMPLES = 500
_LATE = 2
"""The number of steps within which a loop has to be noticed."""
Part = tuple[str, float, float]
"""A task, and the numerator and denominator of its share."""


class Before(Struct, frozen=True, kw_only=True):
    """The figures of the first version; None where unknown."""

    false_stops: int | None = None
    recall: float | None = None
    saved: float | None = None
    restarts: float | None = None


class Bar(Struct, frozen=True, kw_only=True):
    """The bars for sources that are counted together: a maximum of false stops, a minimum of the others."""

    name: str
    sources: tuple[str, ...]
    successes: int
    """The number of successes in the runs that the bar was set on; for other runs, the bar is skipped."""
    false_stops: int | None = None
    recall: float | None = None
    """The share of loops that are noticed at most two steps after they began."""
    saved: float | None = None
    restarts: float | None = None
    """The share saved if a run starts a new attempt instead of stopping."""
    before: Before


BARS = (
    Bar(
        name="InterCode",
        sources=("intercode-bash", "intercode-ctf", "intercode-python", "intercode-sql"),
        successes=1480,
        false_stops=9,
        recall=0.95,
        saved=0.36,
        before=Before(false_stops=9, recall=0.953, saved=0.363),
    ),
    Bar(
        name="of it, ctf",
        sources=("intercode-ctf",),
        successes=21,
        before=Before(false_stops=0, saved=0.115),
    ),
    Bar(
        name="tool calls",
        sources=("mini-swe-agent-sonnet4", "sweagent-gpt4"),
        successes=77,
        false_stops=2,
        before=Before(false_stops=2),
    ),
    Bar(
        name="aider",
        sources=("aider-swebench-lite",),
        successes=38,
        false_stops=3,
        saved=0.38,
        restarts=0.08,
        before=Before(false_stops=3, saved=0.402, restarts=0.084),
    ),
    Bar(
        name="modern gates",
        sources=("gates-gemini3", "gates-kernel"),
        successes=249,
        false_stops=3,
        before=Before(false_stops=8),
    ),
    Bar(
        name="mini-gemini3",
        sources=("mini-gemini3",),
        successes=197,
        false_stops=3,
        before=Before(false_stops=6),
    ),
    Bar(name="autoverus", sources=("autoverus",), successes=17, saved=0.25, before=Before(saved=0.285)),
)


def printed(runs: Sequence[tuple[str, Played]]) -> bool:
    """Print the figures of these runs with their bars; return whether all bars are met."""
    print("\nbars of the detectors")
    return all([_row(bar, [each for each in runs if each[1].decision.source in bar.sources]) for bar in BARS])


def drawn(parts: Iterable[Part]) -> tuple[float, float]:
    """The 95 % interval of a share, from a bootstrap over tasks."""
    tasks: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for task, part, whole in parts:
        tasks[task] = tasks[task][0] + part, tasks[task][1] + whole
    if not tasks:
        return 0.0, 0.0
    draw, every = random.Random(1), list(tasks.values())
    shares = []
    for _ in range(SAMPLES):
        again = draw.choices(every, k=len(every))
        shares.append(sum(part for part, _ in again) / max(1.0, sum(whole for _, whole in again)))
    shares.sort()
    return shares[int(0.025 * SAMPLES)], shares[int(0.975 * SAMPLES)]


def _row(bar: Bar, runs: Sequence[tuple[str, Played]]) -> bool:
    good = [run for _, run in runs if run.success]
    if len(good) != bar.successes:
        print(f"  {bar.name:14} skipped: not the same runs, {len(good)} successes instead of {bar.successes}")
        return True
    bad = [(task, run) for task, run in runs if not run.success]
    cut = sum(_saved(run) > 0 for run in good)
    low, high = interval(cut, len(good)) or (0.0, 1.0)
    met = bar.false_stops is None or cut <= bar.false_stops
    compared = _compared(bar.before.false_stops, bar.false_stops, "d")
    cells = [f"{cut} of {len(good):,} false stops ({low:.1%} to {high:.1%}{compared})"]
    for name, least, was, parts in (
        (
            "recall@2",
            bar.recall,
            bar.before.recall,
            [(task, _noticed(run), 1.0) for task, run in bad if run.onset is not None],
        ),
        ("saved", bar.saved, bar.before.saved, [(task, _saved(run), run.steps) for task, run in bad]),
        (
            "with restarts",
            bar.restarts,
            bar.before.restarts,
            [(task, _restarted(run), run.steps) for task, run in bad],
        ),
    ):
        if least is not None or was is not None:
            share = sum(part for _, part, _ in parts) / sum(whole for _, _, whole in parts)
            met = met and (least is None or share >= least)
            low, high = drawn(parts)
            cells.append(f"{name} {share:.2%} ({low:.1%} to {high:.1%}{_compared(was, least, '.1%')})")
    print(f"  {bar.name:14} {'met   ' if met else 'MISSED'} {'; '.join(cells)}")
    return met


def _compared(was: float | None, bar: float | None, form: str) -> str:
    """The figure's value before, and its bar, as far as there are any."""
    parts = [f", {name} {value:{form}}" for name, value in (("was", was), ("bar", bar)) if value is not None]
    return "".join(parts)


def _saved(run: Played) -> int:
    """The number of steps that a stop would have saved."""
    return 0 if run.decision.stop is None else run.steps - 1 - run.decision.stop


def _noticed(run: Played) -> float:
    at = run.decision.stop
    return float(at is not None and run.onset is not None and at <= run.onset + _LATE)


def _restarted(run: Played) -> int:
    return sum(
        end - 1 - at for _, at in run.decision.restarts for _, begin, end in run.attempts if begin <= at < end
    )
