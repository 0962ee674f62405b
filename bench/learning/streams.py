"""adaptive, learning run by run, compared with hybrid: laps gained per run, for each agent of recorded runs.

    python -m bench.learning.streams FILE... [--worth 50]

A stream is one agent's runs in a random order. The prior comes from the other sources, so nothing of a
stream's source is known before. Utility is worth x successes - laps; the detectors end runs for both.
adaptive sees only the laps of a run before it ended it. Baseline: hybrid with the same detectors, on the same
runs. Left out: remedies, which recorded runs can't have, and sources whose steps are tool calls.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from time import process_time

from bench.learning.recorded import Recorded, load
from bench.learning.refit import FEWEST, fit
from bench.learning.refit import streams as by_model
from untilgreen.backtest.replay import beginning, lap_of
from untilgreen.backtest.trajectories import Step
from untilgreen.core.learning.course import Course
from untilgreen.core.learning.estimate import OwnEstimate, Prior
from untilgreen.core.learning.track_record import end_by, learned
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.strategies.adaptive import Adaptive, explores
from untilgreen.engine.wiring.learned import MOST_RUNS, shared_prior

EVERY = 20
ORDERS = 6
SAMPLES = 1000
EXPLORE = 0.1
BARS = (0.5, 15 / 20, -0.9)
"""Laps gained per run, the share of streams that are not worse, and laps per run in the worst stream."""


def main(arguments: Sequence[str]) -> int:
    """Print each stream and the total, and fail when a bar is missed."""
    flags = iter(arguments)
    worth, files = 50.0, []
    for each in flags:
        if each == "--worth":
            worth = float(next(flags))
        else:
            files.append(Path(each))
    runs = load(files)
    streams = {name: each for name, each in by_model(runs).items() if len(each) >= FEWEST}
    priors = {
        source: fit(run for run in runs if run.source != source) for source in {run.source for run in runs}
    }
    gains: dict[str, list[float]] = {}
    print(f"{'stream':58} runs  kept hybrid adaptive  saved hybrid adaptive  laps per run")
    for name, stream in sorted(streams.items()):
        played = [play(stream, priors[stream[0].source], worth, order) for order in range(ORDERS)]
        gains[name] = [fmean(each) for each in zip(*(gained for gained, _ in played), strict=True)]
        low, high = _interval(gains[name])
        mean = f"{fmean(gains[name]):+.2f} [{low:+.2f}, {high:+.2f}]"
        print(f"{name[:58]:58} {len(stream):4}  {_words(stream, played[0][1])}  {mean}")
    return _conclusion(gains, worth)


def play(
    stream: Sequence[Recorded], prior: Prior, worth: float, order: int
) -> tuple[list[float], list[tuple[int, int]]]:
    """For each run, the gain of adaptive, and the laps after which hybrid and adaptive end it."""
    drawn = sorted(
        range(len(stream)), key=lambda place: random.Random(f"{order} {stream[place].id}").random()
    )
    past: list[Course] = []
    own = OwnEstimate()
    gained, ends = [0.0] * len(stream), [(0, 0)] * len(stream)
    for count, place in enumerate(drawn, 1):
        run = stream[place]
        theirs = min(run.course.hybrid, run.detected)
        mine = theirs if not own.active else _end(prior, own, run, worth)
        gained[place] = _value(run, mine, worth) - _value(run, theirs, worth)
        ends[place] = theirs, mine
        past.append(_seen(run.course, mine))
        if count % EVERY == 0:
            own = learned(prior, past[-MOST_RUNS:], worth)
    return gained, ends


def _end(prior: Prior, own: OwnEstimate, run: Recorded, worth: float) -> int:
    end = min(end_by(prior, own, run.course, 1 / worth), run.detected)
    if explores(f"{run.source}/{run.id}", EXPLORE):
        return max(end, min(run.course.hybrid, run.detected))
    return end


def _seen(course: Course, end: int) -> Course:
    """The part of a run that adaptive sees if it ends the run after this lap."""
    return Course(
        seen=course.seen[:end], green=course.green and end == course.laps, hybrid=min(course.hybrid, end)
    )


def _value(run: Recorded, end: int, worth: float) -> float:
    return worth * (run.course.green and end == run.course.laps) - end


def _words(stream: Sequence[Recorded], ends: Sequence[tuple[int, int]]) -> str:
    good = [place for place, run in enumerate(stream) if run.course.green]
    bad = [place for place, run in enumerate(stream) if not run.course.green]
    laps = sum(stream[place].course.laps for place in bad) or 1
    kept = [
        sum(ends[place][who] == stream[place].course.laps for place in good) / max(1, len(good))
        for who in (0, 1)
    ]
    saved = [sum(stream[place].course.laps - ends[place][who] for place in bad) / laps for who in (0, 1)]
    return f"{kept[0]:11.1%} {kept[1]:8.1%}  {saved[0]:12.1%} {saved[1]:8.1%}"


def _conclusion(gains: dict[str, list[float]], worth: float) -> int:
    means = [fmean(each) for each in gains.values()]
    every = [gain for each in gains.values() for gain in each]
    low, high = _interval(every)
    level = _interval(means)
    print(f"\nall runs at worth {worth:g}: {fmean(every):+.2f} laps per run [{low:+.2f}, {high:+.2f}]")
    print(f"mean of {len(means)} streams: {fmean(means):+.2f} [{level[0]:+.2f}, {level[1]:+.2f}]")
    print(f"streams not worse: {sum(mean >= 0 for mean in means)} of {len(means)}, worst {min(means):+.2f}")
    print(f"a decision takes {_milliseconds(8, 100):.3f} ms after 8 laps of 1 kB (bar 0.1 ms)")
    print(f"and {_milliseconds(60, 700):.3f} ms after 60 laps of 10 kB")
    if worth != 50:
        return 0
    share = sum(mean >= 0 for mean in means) / len(means)
    return int(fmean(every) < BARS[0] or share < BARS[1] or min(means) < BARS[2])


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean, by bootstrap."""
    chance_ = random.Random(1)
    means = sorted(fmean(chance_.choices(values, k=len(values))) for _ in range(SAMPLES))
    return means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES)]


def _milliseconds(laps: int, size: int) -> float:
    """The CPU time of a decision after this many laps of this many words, including the features."""
    draw = random.Random(1)
    words = [f"word{number}" for number in range(400)]
    state = beginning("bench")
    for number in range(1, laps + 1):
        said, printed = (" ".join(draw.choices(words, k=size)) for _ in range(2))
        step = Step(action=said, observation=printed)
        state = close_lap(state, lap_of(step, number, "agent"))
    strategy = Adaptive(prior=shared_prior(), own={"agent": OwnEstimate(active=True)})
    started = process_time()
    for _ in range(200):
        strategy.decide(state, ())
    return (process_time() - started) / 200 * 1000


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
