"""Choose the rules of the detectors by grouped cross-validation on recorded runs.

    python -m bench.learning.choose FILE...

Every variant of `cycle` and of `similar` is played to every run. In each fold the pair is chosen on the
other folds that saves most, the mean over families of sources, of those that lose no more successes than BARS
says. Then it is counted on the runs of the fold only. Folds are groups of tasks, and then models, so that
nothing of a task or a model is chosen on itself. Differences from the defaults come with 95 % intervals, by
drawing tasks again with replacement; of each variant alone, and of what was chosen out of fold. In sources
whose steps are tool calls nothing is stopped inside a turn, so only their successes are played. Baseline: the
defaults. Leaves out: claims, errors, times and files, which no source has.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.learning.kept_laps import KeptRun, kept_runs, mark
from bench.learning.recorded import LAPS
from bench.learning.variants import CHOICES, CYCLES, PRESENT, SAME_AS_PRESENT, SIMILARS, forget
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
SAMPLES = 500
Pair = tuple[str, str]
"""A variant of `cycle` and one of `similar`."""
NOW: Pair = (PRESENT, PRESENT)
ALONE: list[Pair] = [*((cycle, PRESENT) for cycle in CYCLES), *((PRESENT, similar) for similar in SIMILARS)]
"""Each variant beside the present form of the other detector."""
TOOLS = "tool calls"


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
    """Print every variant by family and source, and what choosing among them gives out of fold."""
    runs = _played([Path(each) for each in arguments])
    print(f"{len(runs):,} runs, {len(CYCLES)} variants of cycle, {len(SIMILARS)} of similar")
    parts = families(runs)
    for name in sorted(parts):
        _report(name, parts[name])
    _cross("task", runs, lambda run: str(int(sha256(run.task.encode()).hexdigest(), 16) % FOLDS))
    _cross("model", runs, lambda run: run.model)
    return 0


def families(runs: Iterable[Played]) -> dict[str, list[Played]]:
    """InterCode's four sources, and the gates of modern agents, are one each; so are all tool calls."""
    found: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        family = run.source if run.source in LAPS else TOOLS
        found[family.partition("-")[0] if family.startswith(("intercode", "gates")) else family].append(run)
    return found


def best(runs: Sequence[Played]) -> Pair:
    """Of those that keep to the bars the one that saves most; if none does, the one that loses least."""
    parts = families(runs)
    successes = {name: [run for run in each if run.success] for name, each in parts.items()}
    failures = {name: [run for run in each if not run.success] for name, each in parts.items()}
    laps = {name: sum(run.laps for run in each) for name, each in failures.items()}

    def over(pair: Pair) -> float:
        rates = {
            name: sum(run.lost(pair) for run in each) / max(1, len(each)) for name, each in successes.items()
        }
        return sum(max(0.0, rate - BARS[name]) for name, rate in rates.items())

    def gain(pair: Pair) -> float:
        ends = {name: sum(run.end(pair) for run in each) for name, each in failures.items()}
        return sum(1 - ends[name] / laps[name] for name in ends if laps[name])

    return min(CHOICES, key=lambda pair: (round(over(pair), 6), -gain(pair)))


def _cross(name: str, runs: Sequence[Played], group: Callable[[Played], str]) -> None:
    """Each group's runs with the pair that the other groups chose."""
    groups: dict[str, list[Played]] = defaultdict(list)
    for run in runs:
        groups[group(run)].append(run)
    picked: Counter[Pair] = Counter()
    judged: list[tuple[Played, Pair]] = []
    for held, its in groups.items():
        chosen = best([run for other, each in groups.items() if other != held for run in each])
        picked[chosen] += 1
        judged += [(run, chosen) for run in its]
    print(f"\nchosen without the {name} that it is counted on, {len(groups)} folds")
    for (cycle, similar), folds in picked.most_common():
        print(f"  {folds:3} times cycle: {cycle}; similar: {similar}")
    pairs = {id(run): pair for run, pair in judged}
    for family, its in sorted(families(runs).items()):
        mine = [(run, pairs[id(run)]) for run in its]
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
    """How far it is from the defaults, in points, with intervals."""
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
            counted = (run for run in kept_runs([path]) if run.success or run.source in LAPS)
            with ProcessPoolExecutor(cores()) as pool:
                found = list(pool.map(_play, counted, chunksize=20))
            draft = cache.with_suffix(".draft")
            draft.write_bytes(msgspec.json.encode(found))
            draft.replace(cache)
        runs += msgspec.json.decode(cache.read_bytes(), type=list[Played])
    return runs


def _play(run: KeptRun) -> Played:
    forget()
    cycle = {name: _first(run.laps, each) for name, each in CYCLES.items()}
    similar = {name: _first(run.laps, each) for name, each in SIMILARS.items()}
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


def _first(laps: Sequence[Lap], detector: Detector) -> int | None:
    """After how many laps the detector says stuck."""
    begun = beginning("choose")
    for count in range(2, len(laps) + 1):
        state = msgspec.structs.replace(begun, laps=tuple(laps[:count]))
        seen = detector.detect(state)  # a nudge ends nothing, so it needs no signature
        if seen is not None and seen.strength == "stuck" and stuck(signals_after(state, (detector,))):
            return count
    return None


def _restarted(attempts: Sequence[Sequence[Lap]]) -> dict[str, int]:
    saved = dict.fromkeys(CYCLES, 0)
    for laps in attempts:
        forget()
        for name, each in CYCLES.items():
            saved[name] += len(laps) - (_first(laps, each) or len(laps))
    return saved


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
