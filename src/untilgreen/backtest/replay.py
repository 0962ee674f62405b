"""A recorded run played to the detectors, lap by lap, as the engine would have done.

A step is a lap: its action is the agent's reply, its observation the output of one gate, its reward that
gate's score. The files are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

from untilgreen.backtest.trajectories import Step, Trajectory
from untilgreen.core.excerpt import EXCERPT_BYTES, kept_reply, kept_verdict, trim
from untilgreen.core.fingerprint import fingerprint
from untilgreen.core.measure import close
from untilgreen.core.model import GateSpec, Plan, Reply, Verdict
from untilgreen.core.rules import Detector, stuck
from untilgreen.core.state import Open, RunState
from untilgreen.gates.command import complaints
from untilgreen.gates.recognise import recognise
from untilgreen.gates.text import plain

GATE = "gate"
_PLAN = Plan(task="", gates=(GateSpec(name=GATE),), baseline=False)
_NOTHING = RunState(run="", plan=_PLAN, now=0.0)


class Decision(Struct, frozen=True, kw_only=True):
    """Where a run would have been stopped, and where each attempt at it would have been started anew."""

    source: str
    id: str
    stop: int | None
    """The step at which the first stuck signal stands."""
    restarts: tuple[tuple[int, int], ...]
    """The same within each attempt, the detectors starting anew with it: (attempt, step)."""


def decide(run: Trajectory, detectors: Sequence[Detector]) -> Decision:
    """All that the detectors say about one run; steps count from 0 over the whole of it."""

    @cache
    def lap(place: int) -> Open:
        return lap_of(run.steps[place], place + 1)

    stop = first_stuck(range(len(run.steps)), lap, detectors)
    restarts = [
        (attempt, at)
        for attempt, begin, end in run.attempts
        if (at := first_stuck(range(begin, end), lap, detectors)) is not None
    ]
    return Decision(source=run.source, id=run.id, stop=stop, restarts=tuple(restarts))


def first_stuck(places: range, lap: Callable[[int], Open], detectors: Sequence[Detector]) -> int | None:
    """The first of these places after which a detector says stuck; no lap behind it is looked at."""
    state = _NOTHING
    for place in places:
        state = close(state, lap(place))
        if stuck(tuple(signal for each in detectors if (signal := each.detect(state)) is not None)):
            return place
    return None


def lap_of(step: Step, number: int) -> Open:
    """The step as a lap that is over but for being measured."""
    return Open(
        number=number,
        reply=kept_reply(Reply(text=step.action)),
        verdicts={GATE: kept_verdict(_verdict(step))},
    )


def _verdict(step: Step) -> Verdict:
    """What a gate would have said that printed this; only a full score is a pass."""
    text = plain(step.observation)
    if step.reward is not None and step.reward >= 1:
        return Verdict(status="pass", score=1.0, excerpt=trim(text, EXCERPT_BYTES))
    printed = recognise(text)
    findings = complaints(None, printed, text)
    score = step.reward if step.reward is not None else printed.score if printed is not None else 0.0
    return Verdict(
        status="fail",
        score=score,
        findings=findings,
        digest="" if findings else fingerprint(text),
        excerpt=trim(text, EXCERPT_BYTES),
    )
