"""Choose the rules of the detectors by grouped cross-validation on recorded runs.

    python -m bench.learning.choose FILE...

Every variant of `cycle` and of `similar` is played to every run. In each fold the variant is chosen on the
other folds that saves most, the mean over families of sources, of those that lose no more successes than BARS
says. Then it is counted on the runs of the fold only. Folds are groups of tasks, and then models, so that
nothing of a task or a model is chosen on itself. Differences from the defaults come with 95 % intervals, by
drawing tasks again with replacement. In sources whose steps are tool calls only lost successes count, since
nothing is stopped inside a turn. Baseline: the defaults. Leaves out: claims, errors, times and files, which
no source has.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from itertools import product
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.learning.kept_laps import KeptRun, kept_runs, mark
from bench.learning.recorded import LAPS
from bench.learning.variants import CYCLES, PRESENT, SIMILARS
from untilgreen.backtest.parallel import cores
from untilgreen.backtest.playing import beginning
from untilgreen.core.loop.decide import signals_after
from untilgreen.core.values.rules import Detector, stuck
from untilgreen.core.values.state import Lap

BARS = {
    "intercode": 0.0065,
    "aider-swebench-lite": 0.08,
    "autoverus": 0.12,
    "gates": 0.0125,
    "tool calls": 0.06,
}
"""Successes that a rule may cut, as a share of all, in each family of sources."""
FOLDS = 5
SAMPLES = 2000
Pair = tuple[str, str]
"""A variant of `cycle` and one of `similar`."""
PAIRS: list[Pair] = [*product(CYCLES, [PRESENT]), *product([PRESENT], list(SIMILARS)[1:])]
"""Each variant beside the present form of the other detector."""


class Played(Struct, frozen=True, kw_only=True):
    """One run, and after how many laps each variant would have ended it."""

    source: str
    model: str
    task: str
    success: bool
    onset: int | None
    laps: int
    cycle: dict[str, int | None]
    similar: dict[str, int | None]
    restarts: dict[str, int]
    """Laps that new attempts in place of a stop would have saved, by variant of `cycle`."""

    def end(self, pair: Pair) -> int:
        """The lap after which it ends."""
        return min(self.cycle[pair[0]] or self.laps, self.similar[pair[1]] or self.laps)

    def lost(self, pair: Pair) -> bool:
        """Whether a success is cut before its last lap."""
        return self.success and self.end(pair) < self.laps

    def noticed(self, pair: Pair) -> bool:
        """Whether a loop is noticed at most two laps after it began."""
        ends = [end for end in (self.cycle[pair[0]], self.similar[pair[1]]) if end is not None]
        return self.onset is not None and min(ends, default=self.laps + 1) - 1 <= self.onset + 2


def main(arguments: Sequence[str]) -> int:
    """Print every variant by source, and what choosing among them gives out of fold."""
    runs = _played([Path(each) for each in arguments])
    print(f"{len(runs):,} runs, {len(CYCLES)} variants of cycle, {len(SIMILARS)} of similar")
    for source in sorted({run.source for run in runs}):
        _report(source, [run for run in runs if run.source == source])
    _cross("task", runs, lambda run: str(int(sha256(run.task.encode()).hexdigest(), 16) % FOLDS))
    _cross("model", runs, lambda run: run.model)
    return 0


def families(runs: Iterable[Played]) -> dict[str, list[Played]]:
    """InterCode's four sources, and the gates of modern agents, are one each; so are all tool calls."""
    found: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        family = run.source if run.source in LAPS else "tool calls"
        found[family.partition("-")[0] if family.startswith(("intercode", "gates")) else family].append(run)
    return found


def saved(runs: Iterable[Played], pair: Pair) -> float:
    """The share of the laps of failed runs that would not have happened."""
    bad = [run for run in runs if not run.success]
    return sum(run.laps - run.end(pair) for run in bad) / max(1, sum(run.laps for run in bad))


def best(runs: Sequence[Played]) -> Pair:
    """Of those that keep to the bars the one that saves most; if none does, the one that loses least."""
    parts = families(runs)

    def lost(pair: Pair) -> float:
        return sum(max(0.0, _rate(each, pair) - BARS[name]) for name, each in parts.items())

    def gain(pair: Pair) -> float:
        return sum(saved(each, pair) for name, each in parts.items() if name != "tool calls")

    return min(PAIRS, key=lambda pair: (lost(pair), -gain(pair)))


def _rate(runs: Iterable[Played], pair: Pair) -> float:
    good = [run for run in runs if run.success]
    return sum(run.lost(pair) for run in good) / max(1, len(good))


def _cross(name: str, runs: Sequence[Played], group: Callable[[Played], str]) -> None:
    """Each group's runs with the pair that the other groups chose."""
    groups: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        groups[group(run)].append(run)
    picked: Counter[Pair] = Counter()
    judged: list[tuple[Played, Pair]] = []
    for held, its in groups.items():
        others = [run for run in runs if group(run) != held]
        chosen = best(others)
        picked[chosen] += 1
        judged += [(run, chosen) for run in its]
    print(f"\nchosen without the {name} that it is counted on, {len(groups)} folds")
    for (cycle, similar), folds in picked.most_common():
        print(f"  {folds:3} times cycle: {cycle}; similar: {similar}")
    for source in sorted({run.source for run in runs}):
        mine = [(run, pair) for run, pair in judged if run.source == source]
        print(f"  {source:24} {_words([(run, (PRESENT, PRESENT)) for run, _ in mine])} -> {_words(mine)}")


def _report(source: str, runs: Sequence[Played]) -> None:
    now: Pair = (PRESENT, PRESENT)
    print(f"\n{source}: {len(runs):,} runs; now {_words([(run, now) for run in runs])}")
    for pair in PAIRS[1:]:
        if all(
            run.end(pair) == run.end(now) and run.restarts[pair[0]] == run.restarts[PRESENT] for run in runs
        ):
            continue
        lost = _interval(
            [(run.task, 100.0 * (run.lost(pair) - run.lost(now))) for run in runs if run.success]
        )
        bad = [run for run in runs if not run.success]
        size = sum(run.laps for run in bad) / max(1, len(bad))
        gain = _interval([(run.task, 100.0 * (run.end(now) - run.end(pair)) / size) for run in bad])
        name = f"cycle: {pair[0]}" if pair[0] != PRESENT else f"similar: {pair[1]}"
        print(f"  {name:48} {_words([(run, pair) for run in runs])}; points lost {lost}, saved {gain}")


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
    return Played(
        source=run.source,
        model=run.model,
        task=run.task,
        success=run.success,
        onset=run.onset,
        laps=len(run.laps),
        cycle={name: _first(run.laps, each) for name, each in CYCLES.items()},
        similar={name: _first(run.laps, each) for name, each in SIMILARS.items()},
        restarts={name: _restarted(run.attempts, each) for name, each in CYCLES.items()},
    )


def _first(laps: Sequence[Lap], detector: Detector) -> int | None:
    """After how many laps the detector says stuck."""
    begun = beginning("choose")
    for count in range(2, len(laps) + 1):
        state = msgspec.structs.replace(begun, laps=tuple(laps[:count]))
        if stuck(signals_after(state, (detector,))):
            return count
    return None


def _restarted(attempts: Sequence[Sequence[Lap]], detector: Detector) -> int:
    return sum(len(laps) - (_first(laps, detector) or len(laps)) for laps in attempts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
