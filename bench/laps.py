"""The cost of one more lap as a run grows, and how long it takes to fold a long journal.

A lap here is what the core does in it: fold its events, run every detector, ask the strategy.
Baseline: lap 10 of the same run. Bars: lap 1,000 takes at most twice as long; 10,000 laps fold in under
2 seconds.
"""

from __future__ import annotations

import sys
from itertools import islice
from statistics import median
from time import perf_counter

from untilgreen import Fixed, Limits
from untilgreen.core.loop.decide import decide
from untilgreen.core.loop.fold import apply, fold
from untilgreen.core.loop.step import Decide, next_step
from untilgreen.core.values.events import Decided, Event
from untilgreen.core.values.state import RunState
from untilgreen.testing.stories import Play

LAPS = 10_000
WORDS = [first + second for first in "abcdefghij" for second in "klmnopqrst"]


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    limits = Limits(iterations=LAPS, time="unlimited")
    play = Play(" ".join(WORDS * (LAPS // len(WORDS))), Fixed(iterations=LAPS), limits=limits)
    events = [event for _, event in play.start()]
    started = perf_counter()
    state = fold(events)
    seconds = perf_counter() - started
    assert state is not None
    laps = len(state.laps)
    early, late = one_lap(events, play, 10), one_lap(events, play, 1_000)
    print(f"fold of {laps:,} laps ({len(events):,} events): {seconds:.2f} s, bar 2 s")
    print(f"one lap at lap 10: {early * 1e6:.0f} µs, at lap 1,000: {late * 1e6:.0f} µs")
    print(f"ratio lap 1,000 / lap 10 (baseline): {late / early:.2f}, bar 2.00")
    return int(seconds > 2 or late > 2 * early or laps != LAPS)


def one_lap(events: list[Event], play: Play, lap: int) -> float:
    """The median of many measurements of the same lap, so that outliers don't count."""
    ends = [place for place, event in enumerate(events) if isinstance(event, Decided)]
    before = fold(islice(events, ends[lap - 1] + 1))
    assert before is not None
    following = events[ends[lap - 1] + 1 : ends[lap]]
    return median(_measure(before, following, play) for _ in range(301))


def _measure(state: RunState, events: list[Event], play: Play) -> float:
    started = perf_counter()
    for event in events:
        state = apply(state, event)
        step = next_step(state)
    assert isinstance(step, Decide)
    apply(state, decide(state, play.policy, state.now + 1))
    return perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
