"""Fit the shared prior on recorded runs, and report how it does on tasks, models and sources it has not seen.

    python -m bench.learning.refit FILE... [--write]

Logistic regression of "the next lap is green" on the four features, each source weighted by the square root
of its laps. Baselines in the same run: the base rate of each source (Brier), and the prior that ships now.
Left out: sources whose steps are tool calls; and claims, times and changed files, which no source has.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from math import sqrt
from pathlib import Path

from bench.learning.recorded import Recorded, load
from untilgreen.core.learning.estimate import Prior, sigmoid
from untilgreen.engine.wiring.learned import shared_prior

PRIOR = Path(__file__).parents[2] / "src" / "untilgreen" / "engine" / "wiring" / "prior.json"
FOLDS = 5
FEWEST = 40
"""Fewer runs than this of a model are held out together with those of its source's other rare models."""
RIDGE = 1.0
Row = tuple[tuple[float, ...], bool]


def main(arguments: Sequence[str]) -> int:
    """Print how the prior changes and how it generalizes; with --write, write it to its file."""
    files = [Path(each) for each in arguments if not each.startswith("-")]
    runs = load(files)
    print(f"{len(runs):,} runs, {sum(len(rows(run)) for run in runs):,} laps that were not the last")
    old, new = shared_prior(), fit(runs)
    print(f"now     {old.version}: {old.intercept:+.4f} {tuple(old.weights)}")
    print(f"refit: {new.intercept:+.4f} {tuple(round(each, 4) for each in new.weights)}")
    names = {run.id: name for name, stream in streams(runs).items() for run in stream}
    grouped: dict[str, Callable[[Recorded], str]] = {
        "by task, 5 parts": lambda run: str(_fold(f"{run.source} {run.task}")),
        "by model": lambda run: names[run.id],
        "by source": lambda run: run.source,
    }
    for name, group in grouped.items():
        _report(name, _held_out(runs, group))
    _report("the prior that ships, not held out", [(run, old) for run in runs])
    if "--write" in arguments:
        kept = {
            "version": new.version,
            "intercept": round(new.intercept, 4),
            "weights": [round(each, 4) for each in new.weights],
            "intercept_sd": new.intercept_sd,
            "slope_sd": new.slope_sd,
        }
        PRIOR.write_text(json.dumps(kept, indent=2) + "\n")
        print(f"wrote {PRIOR}")
    return 0


def streams(runs: Iterable[Recorded]) -> dict[str, list[Recorded]]:
    """The runs of each model; models with too few runs are put together by source."""
    by_model: dict[str, list[Recorded]] = defaultdict(list)
    for run in runs:
        by_model[f"{run.source} {run.model}".strip()].append(run)
    whole: dict[str, list[Recorded]] = defaultdict(list)
    for name, each in by_model.items():
        whole[name if len(each) >= FEWEST else f"{each[0].source} (others)"] += each
    return whole


def rows(run: Recorded) -> list[Row]:
    """Each lap but the last, and whether the next one was green."""
    course = run.course
    return [
        (seen.vector, course.green and number == course.laps - 1)
        for number, seen in enumerate(course.seen[:-1], 1)
    ]


def fit(runs: Iterable[Recorded], version: str = "2026.11-2") -> Prior:
    """Fit the prior to these runs with Newton's method; equal laps are counted, not repeated."""
    heaps: dict[tuple[str, Row], int] = defaultdict(int)
    laps: dict[str, int] = defaultdict(int)
    for run in runs:
        for vector, green in rows(run):
            heaps[run.source, (tuple(round(each, 2) for each in vector), green)] += 1
            laps[run.source] += 1
    told = [
        ((1.0, *vector), green, count / sqrt(laps[source]))
        for (source, (vector, green)), count in heaps.items()
    ]
    scale = sum(laps.values()) / sum(weight for _, _, weight in told)
    beta = [-3.0, 0.0, 0.0, 0.0, 0.0]
    for _ in range(40):
        slope = [0.0] * 5
        bend = [[RIDGE * (one == other and one > 0) for other in range(5)] for one in range(5)]
        for place in range(1, 5):
            slope[place] -= RIDGE * beta[place]
        for vector, green, weight in told:
            said = sigmoid(sum(map(float.__mul__, beta, vector)))
            off, curve = scale * weight * (green - said), scale * weight * said * (1 - said)
            for one in range(5):
                slope[one] += off * vector[one]
                for other in range(5):
                    bend[one][other] += curve * vector[one] * vector[other]
        step = solved(bend, slope)
        length = sqrt(sum(each * each for each in step))
        beta = [
            at + each * min(1.0, 2 / length if length else 1.0) for at, each in zip(beta, step, strict=True)
        ]
        if length < 1e-7:
            break
    first, *weights = beta
    return Prior(version=version, intercept=first, weights=tuple(weights))  # type: ignore[arg-type]  # four


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a system of linear equations by Gaussian elimination with pivots."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(table[row][column]))
        table[column], table[pivot] = table[pivot], table[column]
        for row in range(size):
            if row != column:
                factor = table[row][column] / table[column][column]
                table[row] = [a - factor * b for a, b in zip(table[row], table[column], strict=True)]
    return [table[row][size] / table[row][row] for row in range(size)]


def _fold(text: str) -> int:
    return blake2b(text.encode(), digest_size=2).digest()[0] % FOLDS


def _held_out(runs: Sequence[Recorded], group: Callable[[Recorded], str]) -> list[tuple[Recorded, Prior]]:
    """Each run with a prior that was fitted to the other groups."""
    groups = {group(run) for run in runs}
    priors = {name: fit(run for run in runs if group(run) != name) for name in groups}
    return [(run, priors[group(run)]) for run in runs]


def _report(name: str, judged: Sequence[tuple[Recorded, Prior]]) -> None:
    print(f"\n{name}")
    by_source: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for run, prior in judged:
        for number, seen in enumerate(run.course.seen[:-1], 1):
            green = run.course.green and number == run.course.laps - 1
            by_source[run.source].append((sigmoid(prior.logit(seen)), green))
    for source, said in sorted(by_source.items()):
        base = sum(green for _, green in said) / len(said)
        brier = sum((chance - green) ** 2 for chance, green in said) / len(said)
        mean = sum(chance for chance, _ in said) / len(said)
        print(
            f"  {source:20} laps {len(said):6,}  AUC {auc(said):.3f}  Brier {brier:.4f} "
            f"(base rate {base * (1 - base):.4f})  predicted/actual {mean:.1%}/{base:.1%}"
        )


def auc(said: Sequence[tuple[float, bool]]) -> float:
    """The area under the ROC curve: how often a lap before a green one was given the higher chance."""
    ranked = sorted(said)
    good, seen, place, score = sum(green for _, green in said), 0, 0, 0.0
    while place < len(ranked):
        end = place
        while end < len(ranked) and ranked[end][0] == ranked[place][0]:
            end += 1
        hits = sum(green for _, green in ranked[place:end])
        bad = end - place - hits
        score += hits * (seen + bad / 2)
        seen += bad
        place = end
    return score / (good * seen) if good and seen else 0.5


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
