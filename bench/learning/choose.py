"""Choose the rules of the detectors by grouped cross-validation on recorded runs.

    python -m bench.learning.choose FILE...

Every variant of `cycle` and of `similar` is replayed on every run. For each fold, the pair is chosen on the
other folds: among those that lose no more successes than BARS allows, the one that saves most, averaged over
families of sources. It is then measured on the runs of that fold only. Folds are groups of tasks, and then of
models, so that no choice is measured on the task or model that it was made with. Differences from the
defaults come with 95 % intervals from a bootstrap over tasks, for each variant alone and for the choices out
of fold. In sources whose steps are tool calls nothing is stopped inside a turn, so only their successes are
replayed. Baseline: the defaults. Left out: claims, errors, times and files, which no source has.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.learning.kept_laps import LAPS, KeptRun, kept_runs, mark
from bench.learning.variants import (
    BY_THEMSELVES,
    CHOICES,
    CYCLES,
    EAGER_CYCLE,
    EAGER_SIMILAR,
    PRESENT,
    SAME_AS_PRESENT,
    SIMILARS,
    forget,
)
from untilgreen.backtest.parallel import cores
from untilgreen.backtest.replay import beginning
from untilgreen.core.loop.decide import signals_after
from untilgreen.core.values.rules import Detector, stuck
from untilgreen.core.values.state import Lap, RunState

BARS = {
    "intercode": 0.0065,
    "aider-swebench-lite": 0.08,
    "autoverus": 0.12,
    "gates": 0.0125,
    "tool calls": 0.06,
}
"""The share of successes that a rule may cut, in each family of sources."""
FOLDS = 5
SAMPLES = 500
Pair = tuple[str, str]
"""A variant of `cycle` and one of `similar`."""
NOW: Pair = (PRESENT, PRESENT)
ALONE: list[Pair] = [*((cycle, PRESENT) for cycle in CYCLES), *((PRESENT, similar) for similar in SIMILARS)]
"""Each variant with the present form of the other detector."""
TOOLS = "tool calls"


class Played(Struct, frozen=True, kw_only=True):
    """One run, and the lap after which each variant would have ended it."""

    source: str
    model: str
    task: str
    success: bool
    onset: int | None
    laps: int
    cycle: dict[str, int | None]
    similar: dict[str, int | None]
    restarts: dict[str, int]
    """Laps that new attempts instead of a stop would have saved, by variant of `cycle`."""

    def end(self, pair: Pair) -> int:
        """The lap after which this pair ends the run."""
        return min(self.cycle[pair[0]] or self.laps, self.similar[pair[1]] or self.laps)

    def lost(self, pair: Pair) -> bool:
        """Whether this pair ends a successful run before its last lap."""
        return self.success and self.end(pair) < self.laps

    def noticed(self, pair: Pair) -> bool:
        """Whether this pair notices a loop at most two laps after it began."""
        ends = [end for end in (self.cycle[pair[0]], self.similar[pair[1]]) if end is not None]
        return self.onset is not None and min(ends, default=self.laps + 1) - 1 <= self.onset + 2


def main(arguments: Sequence[str]) -> int:
    """Print every variant by family and source, and the result of choosing among them out of fold."""
    runs = _played([Path(each) for each in arguments])
    print(f"{len(runs):,} runs, {len(CYCLES)} variants of cycle, {len(SIMILARS)} of similar")
    parts = families(runs)
    for name in sorted(parts):
        _report(name, parts[name])
    _cross("task", runs, lambda run: str(int(sha256(run.task.encode()).hexdigest(), 16) % FOLDS))
    _cross("model", runs, lambda run: run.model)
    return 0


def families(runs: Iterable[Played]) -> dict[str, list[Played]]:
    """Runs by family: InterCode's sources, the gates of modern agents, and all tool calls are one each."""
    found: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        family = run.source if run.source in LAPS else TOOLS
        found[family.partition("-")[0] if family.startswith(("intercode", "gates")) else family].append(run)
    return found


class Sums(Struct, kw_only=True):
    """The effect of one pair on the runs of one family in one group."""

    successes: int = 0
    lost: int = 0
    laps: int = 0
    """The laps of failed runs."""
    ended: int = 0
    """The laps of failed runs up to where the pair ends them."""


Table = dict[Pair, dict[str, Sums]]
"""Sums for each pair, by family."""


def best(tables: Iterable[Table]) -> Pair:
    """The pair that saves most of those that meet the bars; if none does, the one that misses them least."""
    pooled: Table = {pair: defaultdict(Sums) for pair in CHOICES}
    for table in tables:
        for pair, parts in table.items():
            for family, part in parts.items():
                whole = pooled[pair][family]
                for field in part.__struct_fields__:
                    setattr(whole, field, getattr(whole, field) + getattr(part, field))

    def over(pair: Pair) -> float:
        rates = {name: each.lost / max(1, each.successes) for name, each in pooled[pair].items()}
        return sum(max(0.0, rate - BARS[name]) for name, rate in rates.items())

    def gain(pair: Pair) -> float:
        return sum(1 - each.ended / each.laps for each in pooled[pair].values() if each.laps)

    return min(CHOICES, key=lambda pair: (round(over(pair), 6), -gain(pair)))


def _summed(runs: Iterable[Played]) -> Table:
    table: Table = {pair: defaultdict(Sums) for pair in CHOICES}
    for family, its in families(runs).items():
        for run in its:
            for pair in CHOICES:
                sums = table[pair][family]
                end = run.end(pair)
                if run.success:
                    sums.successes += 1
                    sums.lost += end < run.laps
                else:
                    sums.laps += run.laps
                    sums.ended += end
    return table


def _cross(name: str, runs: Sequence[Played], group: Callable[[Played], str]) -> None:
    """Measure each group's runs with the pair that was chosen on the other groups."""
    groups: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        groups[group(run)].append(run)
    tables = {held: _summed(its) for held, its in groups.items()}
    chosen = {held: best(table for other, table in tables.items() if other != held) for held in groups}
    print(f"\nchosen without the {name} that it is measured on, {len(groups)} folds")
    for (cycle, similar), folds in Counter(chosen.values()).most_common():
        print(f"  {folds:3} folds chose cycle: {cycle}; similar: {similar}")
    for family, its in sorted(families(runs).items()):
        mine = [(run, chosen[group(run)]) for run in its]
        print(f"  {family:24} {_words([(run, NOW) for run in its])} -> {_words(mine)}; {_points(mine)}")


def _report(family: str, runs: Sequence[Played]) -> None:
    print(f"\n{family}: {len(runs):,} runs; now {_words([(run, NOW) for run in runs])}")
    for source in sorted({run.source for run in runs}):
        if source != family:
            print(f"  {source:64} {_words([(run, NOW) for run in runs if run.source == source])}")
    for pair in ALONE:
        mine = [(run, pair) for run in runs]
        if _differs(mine):
            name = f"cycle: {pair[0]}" if pair[0] != PRESENT else f"similar: {pair[1]}"
            print(f"  {name:64} {_words(mine)}; {_points(mine)}")


def _differs(judged: Iterable[tuple[Played, Pair]]) -> bool:
    return any(
        run.end(pair) != run.end(NOW) or run.restarts[pair[0]] != run.restarts[PRESENT]
        for run, pair in judged
    )


def _points(judged: Sequence[tuple[Played, Pair]]) -> str:
    """The difference from the defaults in percentage points, with intervals."""
    good = [(run, pair) for run, pair in judged if run.success]
    bad = [(run, pair) for run, pair in judged if not run.success]
    size = sum(run.laps for run, _ in bad) / max(1, len(bad))
    lost = _interval([(run.task, 100.0 * (run.lost(pair) - run.lost(NOW))) for run, pair in good])
    gain = _interval([(run.task, 100.0 * (run.end(NOW) - run.end(pair)) / size) for run, pair in bad])
    return f"points lost {lost}, saved {gain}"


def _words(judged: Sequence[tuple[Played, Pair]]) -> str:
    good = [run.lost(pair) for run, pair in judged if run.success]
    bad = [(run, pair) for run, pair in judged if not run.success]
    loops = [run.noticed(pair) for run, pair in judged if run.onset is not None]
    steps = sum(run.laps for run, _ in bad) or 1
    ended = sum(run.laps - run.end(pair) for run, pair in bad) / steps
    again = sum(run.restarts[pair[0]] for run, pair in bad) / steps
    seen = f", recall@2 {sum(loops) / len(loops):.1%}" if loops else ""
    restarts = f", with restarts {again:.1%}" if again else ""
    return f"{sum(good)} of {len(good)} lost, saved {ended:.1%}{seen}{restarts}"


def _interval(values: Sequence[tuple[str, float]]) -> str:
    """The mean of these values, and where it can lie when tasks are drawn again."""
    groups: dict[str, list[float]] = defaultdict(list)
    for task, value in values:
        groups[task].append(value)
    sums = [(sum(each), len(each)) for each in groups.values()]
    if not sums:
        return "unknown"
    mean = sum(part for part, _ in sums) / len(values)
    draw = random.Random(1)
    means = []
    for _ in range(SAMPLES):
        drawn = draw.choices(sums, k=len(sums))
        means.append(sum(part for part, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    return f"{mean:+.2f} [{means[int(0.025 * SAMPLES)]:+.2f}, {means[int(0.975 * SAMPLES)]:+.2f}]"


def _played(paths: Sequence[Path]) -> list[Played]:
    """Kept in the temporary directory, like the laps."""
    runs: list[Played] = []
    own = sha256((Path(__file__).parent / "variants.py").read_bytes()).hexdigest()[:8]
    for path in paths:
        made_by = mark(
            path, ("core/values", "core/scoring", "core/detectors", "core/briefing", "gates/output")
        )
        cache = Path(tempfile.gettempdir()) / f"untilgreen-choose-{path.stem}-{made_by}-{own}.json"
        if not cache.exists():
            with ProcessPoolExecutor(cores()) as pool:
                found = list(pool.map(_play, kept_runs([path]), chunksize=20))
            draft = cache.with_suffix(".draft")
            draft.write_bytes(msgspec.json.encode(found))
            draft.replace(cache)
        runs += msgspec.json.decode(cache.read_bytes(), type=list[Played])
    return runs


def _play(run: KeptRun) -> Played:
    forget()
    cycle = _firsts(run.laps, CYCLES, EAGER_CYCLE)
    similar = _firsts(run.laps, SIMILARS, EAGER_SIMILAR)
    now = cycle[PRESENT], similar[PRESENT]
    if now != (cycle[SAME_AS_PRESENT[0]], similar[SAME_AS_PRESENT[1]]):
        raise AssertionError(f"The variants of {run.source}/{run.id} do not decide as the product does.")
    return Played(
        source=run.source,
        model=run.model,
        task=run.task,
        success=run.success,
        onset=run.onset,
        laps=len(run.laps),
        cycle=cycle,
        similar=similar,
        restarts=_restarted(run.attempts),
    )


def _firsts(laps: Sequence[Lap], variants: Mapping[str, Detector], eager: Detector) -> dict[str, int | None]:
    """The lap after which each variant says stuck; none is asked before the most eager one says so."""
    begun = beginning("choose")
    states = [msgspec.structs.replace(begun, laps=tuple(laps[:count])) for count in range(2, len(laps) + 1)]
    since = next((place for place, state in enumerate(states) if _says(eager, state)), len(states))
    return {
        name: next(
            (
                len(state.laps)
                for state in (states if name in BY_THEMSELVES else states[since:])
                # A nudge doesn't end a run, and a run with fewer and fewer failures is not stuck.
                if _says(each, state) and stuck(signals_after(state, (each,)))
            ),
            None,
        )
        for name, each in variants.items()
    }


def _says(detector: Detector, state: RunState) -> bool:
    signal = detector.detect(state)
    return signal is not None and signal.strength == "stuck"


def _restarted(attempts: Sequence[Sequence[Lap]]) -> dict[str, int]:
    saved = dict.fromkeys(CYCLES, 0)
    for laps in attempts:
        forget()
        for name, end in _firsts(laps, CYCLES, EAGER_CYCLE).items():
            saved[name] += len(laps) - (end or len(laps))
    return saved


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
