"""Stop rules of other tools, ours, and fixed numbers of laps, on the same recorded runs.

    python -m bench.backtest FILE... [--figures FILE] [--decisions NAME=FILE]...

Cells: successes that would have been cut, and the share of the steps of failed runs that would have been
saved, each with a 95 % interval: Wilson's, and a bootstrap over tasks. Then the bars of the detectors
(bars.py) and of `adaptive` (streams.py); if one is missed, the exit code is 1. `--decisions` adds what
another version decided about the same runs: it writes the file with `untilgreen backtest --trajectories FILE
--decisions OUT`.

The rules of other tools are reimplemented from their documentation and sources, only for this measurement:
how a tool handles events that recorded runs don't have (thoughts, error classes, streamed text, a second
model) is left out, and errors are recognized by words. The rule of 90 % likeness uses difflib's upper bound
instead of rapidfuzz, so it stops somewhat more often. goose and LangGraph have no rule that is on by default.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from bench.learning import bars
from bench.learning.kept_laps import LAPS, names
from bench.learning.recorded import load
from bench.learning.refit import FEWEST, fit, streams
from bench.learning.streams import main as learns
from bench.learning.streams import play
from untilgreen.backtest.parallel import cores
from untilgreen.backtest.replay import decide
from untilgreen.backtest.score import Played, interval, played
from untilgreen.backtest.trajectories import lines, parse
from untilgreen.core.defaults import default_detectors

Pair = tuple[str, str]
Rule = Callable[[Sequence[Pair]], bool]
"""Whether to stop after the last of these steps, each an action and its observation."""
_LONGEST = 2_000
"""The characters of a step that are compared for likeness; comparing all of them would take hours."""
ERRORS = ("error", "traceback", "exception", "failed")


class Ended(NamedTuple):
    """Where a rule ends a run."""

    task: str
    success: bool
    steps: int
    stop: int


Tables = dict[str, dict[str, list[Ended]]]
"""The ends of runs, by source and rule."""


class Figure(NamedTuple):
    """How a rule does on a source."""

    cut: int
    successes: int
    saved: int
    steps: int

    @classmethod
    def of(cls, ends: Iterable[Ended]) -> Figure:
        """Sum up these runs."""
        every = list(ends)
        good = [each for each in every if each.success]
        bad = [each for each in every if not each.success]
        return cls(
            cut=sum(each.stop < each.steps for each in good),
            successes=len(good),
            saved=sum(each.steps - each.stop for each in bad),
            steps=sum(each.steps for each in bad),
        )


def same_run(times: int, key: Callable[[Pair], object]) -> Rule:
    """The last `times` steps have the same key."""
    return lambda seen: len(seen) >= times and len({key(each) for each in seen[-times:]}) == 1


def both(pair: Pair) -> object:
    """Action and observation."""
    return pair


def action(pair: Pair) -> object:
    """The action alone."""
    return pair[0]


def observed(pair: Pair) -> object:
    """The observation alone."""
    return pair[1]


def cycles(longest: int, times: int) -> Rule:
    """A cycle of up to `longest` actions, repeated `times` times."""

    def rule(seen: Sequence[Pair]) -> bool:
        actions = [pair[0] for pair in seen[-longest * times :]]
        return any(
            len(actions) >= size * times and actions[-size * times : -size] == actions[-size * (times - 1) :]
            for size in range(1, longest + 1)
        )

    return rule


def alternating(key: Callable[[Pair], object]) -> Rule:
    """Two steps alternate three times: A, B, A, B, A, B."""

    def rule(seen: Sequence[Pair]) -> bool:
        last = [key(each) for each in seen[-6:]]
        return len(last) == 6 and len(set(last[::2])) == 1 == len(set(last[1::2])) and last[0] != last[1]

    return rule


def failing(times: int) -> Rule:
    """The same action, with an error each time."""

    def rule(seen: Sequence[Pair]) -> bool:
        last = seen[-times:]
        wrong = all(any(word in pair[1].lower() for word in ERRORS) for pair in last)
        return len(last) == times and len({pair[0] for pair in last}) == 1 and wrong

    return rule


def anywhere(times: int, key: Callable[[Pair], object]) -> Rule:
    """The last step was seen this many times, anywhere in the run."""
    return lambda seen: sum(key(each) == key(seen[-1]) for each in seen) >= times


def alike(share: float, window: int, text: Callable[[Pair], str] = "\n".join) -> Rule:
    """The last step is nearly the same as one of the few before it."""

    def rule(seen: Sequence[Pair]) -> bool:
        last = text(seen[-1])[:_LONGEST]
        return bool(last) and any(
            _most_alike(text(pair)[:_LONGEST], last) >= share for pair in seen[-1 - window : -1]
        )

    return rule


def _most_alike(one: str, other: str) -> float:
    """difflib's `quick_ratio`: an upper bound for the likeness of two texts with these characters."""
    mine, yours = _characters(one), _characters(other)
    shared = sum(min(count, yours[each]) for each, count in mine.items() if each in yours)
    return 2 * shared / (len(one) + len(other))


@lru_cache(64)
def _characters(text: str) -> Counter[str]:
    return Counter(text)


def same_error_lines(times: int) -> Rule:
    """Every error line of the last output is also in each of the outputs before it."""

    def rule(seen: Sequence[Pair]) -> bool:
        told = [_error_lines(pair[1]) for pair in seen[-times:]]
        return len(told) == times and bool(told[-1]) and all(told[-1] <= each for each in told)

    return rule


def _error_lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines() if any(word in line.lower() for word in ERRORS)}


def signature(pair: Pair) -> str:
    """An output's signature, as in the code of the document about loop detection."""
    text = pair[1]
    if found := re.search(r"error:?\s*(\w+).*?at\s*(\S+)", text, re.IGNORECASE):
        return f"error:{found[1]}-{found[2]}"
    if re.search(r"\d+\s*(?:tests?\s*)?fail", text, re.IGNORECASE):
        return "test-fail:" + ",".join(re.findall(r"fail.*?:\s*\S+", text, re.IGNORECASE)[:2])
    if found := re.search(
        r"(?:modified|changed|updated|fixed)\s+(\S+\.(?:ts|js|go|py))", text, re.IGNORECASE
    ):
        did = re.search(r"(?:added|removed|fixed|updated|changed)\s+(\w+)", text, re.IGNORECASE)
        return f"file:{found[1]}-{did[1] if did else 'modified'}"
    return "-".join(text[:50].lower().split())


def signatures(times: int) -> Rule:
    """The last signature occurs `times - 1` times among the `times` before it."""

    def rule(seen: Sequence[Pair]) -> bool:
        before = [signature(pair) for pair in seen[-1 - times : -1]]
        return before.count(signature(seen[-1])) >= times - 1

    return rule


def words_alike(share: float, window: int) -> Rule:
    """The sets of words of the last steps hardly differ."""

    def rule(seen: Sequence[Pair]) -> bool:
        last = [set("\n".join(pair).lower().split()) for pair in seen[-window:]]
        return len(last) == window and all(
            len(one & other) >= share * max(1, len(one | other)) for one, other in pairwise(last)
        )

    return rule


def any_of(*rules: Rule) -> Rule:
    """Stop as soon as one of these rules does."""
    return lambda seen: any(rule(seen) for rule in rules)


PEERS: dict[str, Rule] = {
    "same action and output, 3 times": same_run(3, both),
    "same output, 3 times": same_run(3, observed),
    "OpenHands, legacy": any_of(same_run(4, both), failing(3), alternating(both)),
    "OpenHands, SDK": any_of(same_run(4, both), failing(4), alternating(both)),
    "gemini-cli, tool calls": cycles(5, 5),
    "qwen-code, repetition": any_of(same_run(5, action), anywhere(6, action), alternating(action)),
    "Roo": same_run(4, action),
    "Cline, warning": same_run(3, action),
    "Cline, stop": same_run(5, action),
    "ralph-orchestrator, 90 % alike": alike(0.9, 5),
    "the same, output only": alike(0.9, 5, itemgetter(1)),
    "ralph-claude-code, error lines": same_error_lines(4),
    "Reflexion, an action twice": same_run(2, action),
    "signatures, 3 of the last 4": signatures(3),
    "words 95 % alike, 3 times": words_alike(0.95, 3),
    "a pair seen 3 times": anywhere(3, both),
}


def main(arguments: Sequence[str]) -> int:
    """Print a table for each source; with --figures, also write the figures for the picture."""
    flags = iter(arguments)
    files, figures = [], None
    others: dict[str, Path] = {}
    for each in flags:
        if each == "--figures":
            figures = Path(next(flags))
        elif each == "--decisions":
            name, _, path = next(flags).partition("=")
            others[name] = Path(path)
        else:
            files.append(Path(each))
    tables, decided = _peers(files, {name: _decisions(path) for name, path in others.items()})
    for source, rows in _ours(files).items():
        tables.setdefault(source, {}).update(rows)
    for source in sorted(tables):
        print(f"\n{source}")
        for name, ends in tables[source].items():
            print(f"  {name:34} {_cell(ends)}")
    if figures is not None:
        figures.write_text(json.dumps(_pooled(tables), indent=1) + "\n")
    kept = bars.printed(decided)
    print()
    missed = learns(list(map(str, files)))
    return missed or int(not kept)


def _cell(ends: Sequence[Ended]) -> str:
    figure = Figure.of(ends)
    between = interval(figure.cut, figure.successes) or (0.0, 1.0)
    saved = figure.saved / figure.steps if figure.steps else 0.0
    low, high = bars.drawn(
        (each.task, each.steps - each.stop, each.steps) for each in ends if not each.success
    )
    rate = figure.cut / figure.successes if figure.successes else 0.0
    share = f"({rate:5.1%}, {between[0]:.1%} to {between[1]:.1%})"
    return f"{figure.cut:4} of {figure.successes:5,} {share:24} saved {saved:5.1%} ({low:.1%} to {high:.1%})"


def _decisions(path: Path) -> dict[tuple[str, str], int | None]:
    """The step after which another version stops each run."""
    told = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(each["source"], each["id"]): each["stop"] for each in told}


def _peers(
    files: Sequence[Path], others: dict[str, dict[tuple[str, str], int | None]]
) -> tuple[Tables, list[tuple[str, Played]]]:
    tables: Tables = {}
    decided: list[tuple[str, Played]] = []
    with ProcessPoolExecutor(cores()) as pool:
        for file in files:
            texts = [(line.text, line.number, str(file)) for line in lines(file)]
            for ours, ends in pool.map(partial(_ended, others=others), texts, chunksize=50):
                decided.append((next(iter(ends.values())).task, ours))
                rows = tables.setdefault(ours.decision.source, {})
                for name, end in ends.items():
                    rows.setdefault(name, []).append(end)
    return tables, decided


def _ended(
    line: tuple[bytes, int, str], others: dict[str, dict[tuple[str, str], int | None]]
) -> tuple[Played, dict[str, Ended]]:
    """What our detectors decide about a run, and where each rule ends it."""
    run = parse(*line)
    ours = played(run, decide(run, default_detectors()))
    pairs = [(step.action, step.observation) for step in run.steps]
    stops = {
        name: next((end for end in range(1, len(pairs) + 1) if rule(pairs[:end])), len(pairs))
        for name, rule in PEERS.items()
    }
    for name, decided in others.items():
        stops[name] = _steps(decided.get((run.source, run.id)), len(pairs))
    stops["untilgreen's detectors"] = _steps(ours.decision.stop, len(pairs))
    _, task = names(run.id, json.loads(line[0]))
    good, size = bool(run.success), len(pairs)
    return ours, {name: Ended(task, good, size, stop) for name, stop in stops.items()}


def _steps(stop: int | None, steps: int) -> int:
    return steps if stop is None else stop + 1


def _ours(files: Sequence[Path]) -> Tables:
    """Our detectors with fixed, with hybrid, and with adaptive as it learns; only sources with laps."""
    runs = load(files)
    tables: Tables = {}
    learned: dict[str, int] = {}
    sources = {run.source for run in runs}
    priors = {source: fit(run for run in runs if run.source != source) for source in sources}
    for stream in streams(runs).values():
        ends = play(stream, priors[stream[0].source], 50.0, 0)[1] if len(stream) >= FEWEST else []
        learned.update({run.id: end for run, (_, end) in zip(stream, ends, strict=False)})
    for run in runs:
        rows = tables.setdefault(run.source, {})
        stops = {
            **{f"fixed {laps}": min(laps, run.detected) for laps in (3, 5, 8, 12)},
            **{f"hybrid {name}": min(end, run.detected) for name, end in run.hybrids.items()},
            "hybrid 8+12": min(run.course.hybrid, run.detected),
            "adaptive, learning, worth 50": learned.get(run.id, min(run.course.hybrid, run.detected)),
        }
        for name, stop in stops.items():
            rows.setdefault(name, []).append(Ended(run.task, run.course.green, run.course.laps, stop))
    return tables


def _pooled(tables: Tables) -> dict[str, dict[str, float]]:
    """The shares of kept successes and saved steps over InterCode's sources, for the picture."""
    found: dict[str, list[Ended]] = {}
    for source, rows in tables.items():
        if source in LAPS and source.startswith("intercode"):
            for name, ends in rows.items():
                found.setdefault(name, []).extend(ends)
    figures = {name: Figure.of(ends) for name, ends in found.items()}
    return {
        name: {"kept": round(1 - each.cut / each.successes, 4), "saved": round(each.saved / each.steps, 4)}
        for name, each in figures.items()
    }
