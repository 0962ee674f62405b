"""Recorded runs in the order of the file, each decided by what the runs before it taught about its agent.

A run teaches only up to where it was ended: as in real life, nobody sees what would have followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from untilgreen.backtest.replay import beginning, decide, lap_of
from untilgreen.backtest.score import Played, played
from untilgreen.backtest.strategies import Candidate, PastRun, Replayed, replay
from untilgreen.backtest.trajectories import Trajectory, lines, parse
from untilgreen.core.learning.course import Course, course_of
from untilgreen.core.learning.estimate import OwnEstimate
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.strategies.adaptive import Adaptive
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.rules import Detector
from untilgreen.engine.store.notes.lesson_book import lesson_of
from untilgreen.engine.wiring.learned import own_numbers, shared_prior

EVERY = 20
"""Refit an agent's numbers after this many runs; a real run refits them whenever it begins."""


class Learner:
    """Gives each run an adaptive strategy that has learned from the runs before it."""

    def __init__(self, strategy: Adaptive, every: int = EVERY) -> None:
        self._every = every
        self._strategy = replace(strategy, prior=strategy.prior or shared_prior())
        self._past: dict[str, list[Course]] = {}
        self._own: dict[str, OwnEstimate] = dict(strategy.own)

    def strategy(self, agent: str, name: str | None = None) -> Adaptive:
        """The strategy for the next run of this agent; its plan may use another name for it."""
        known = {} if agent not in self._own else {agent if name is None else name: self._own[agent]}
        return replace(self._strategy, own=known)

    def learn(self, agent: str, course: Course) -> None:
        """Learn from a finished run of this agent."""
        past = self._past.setdefault(agent, [])
        past.append(course)
        if len(past) % self._every == 0:
            self._own[agent] = own_numbers(past, self._strategy.worth, self._strategy.prior)


def play_learning(
    path: Path, detectors: Sequence[Detector], strategy: Adaptive, read: Callable[[int], None]
) -> list[Played]:
    """Play every run of the file, one after another, since order matters for learning."""
    return list(_played(path, detectors, Learner(strategy), read))


def replay_learning(runs: Sequence[PastRun], candidate: Candidate, strategy: Adaptive) -> list[Replayed]:
    """Your own runs, the oldest first, each with what those before it taught."""
    learner = Learner(strategy, every=1)
    replayed = []
    for run in runs:
        taught = lesson_of(run.state)
        agent = taught.agent if taught else ""
        mine = learner.strategy(agent, run.state.laps[0].agent)
        replayed.append(replay(run, Candidate(name=candidate.name, strategy=mine)))
        if taught:
            learner.learn(agent, taught.course)
    return replayed


def _played(
    path: Path, detectors: Sequence[Detector], learner: Learner, read: Callable[[int], None]
) -> Iterator[Played]:
    for line in lines(path):
        run = parse(line.text, line.number, str(path))
        decision = decide(run, detectors, learner.strategy(run.agent))
        learner.learn(run.agent, _course(run, decision.stop))
        read(line.read)
        yield played(run, decision)


def _course(run: Trajectory, stop: int | None) -> Course:
    """The part of the run before it was ended."""
    seen = len(run.steps) if stop is None else stop + 1
    state = beginning(run.id)
    for place in range(seen):
        state = close_lap(state, lap_of(run.steps[place], place + 1, run.agent))
    return course_of(state, Hybrid(), green=bool(run.success) and seen == len(run.steps))
