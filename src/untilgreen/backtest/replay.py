"""A recorded run played to detectors and a strategy, lap by lap, as the engine would have done.

A step is a lap: its action is the agent's reply, its observation the output of one gate, its reward that
gate's score. The files are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.backtest.trajectories import Step, Trajectory
from untilgreen.core.briefing.excerpt import EXCERPT_BYTES, kept_reply, kept_verdict, trim
from untilgreen.core.loop.decide import signals_after
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.values.decision import Finish
from untilgreen.core.values.fingerprint import output_fingerprint
from untilgreen.core.values.model import GateSpec, Plan, Reply, Verdict
from untilgreen.core.values.rules import Detector, Strategy, stuck
from untilgreen.core.values.state import Open, RunState
from untilgreen.gates.command import findings_in
from untilgreen.gates.output.plain_text import plain
from untilgreen.gates.output.recognize import recognize_all

GATE = "gate"
_PLAN = Plan(task="", gates=(GateSpec(name=GATE),), baseline=False)


class Stops(Struct, frozen=True, kw_only=True):
    """Where a run would have been stopped, and where each attempt would have been restarted."""

    source: str
    id: str
    stop: int | None
    """The step after which it would have been ended."""
    restarts: tuple[tuple[int, int], ...]
    """The same within each attempt, with everything starting over: (attempt, step)."""


def decide(run: Trajectory, detectors: Sequence[Detector], strategy: Strategy | None = None) -> Stops:
    """What is decided about one run; steps count from 0 over the whole run.

    Without a strategy the first stuck signal ends it.
    """

    @cache
    def lap(place: int) -> Open:
        return lap_of(run.steps[place], place + 1, run.agent)

    play = partial(first_end, name=f"{run.source}/{run.id}", lap=lap, detectors=detectors, strategy=strategy)
    stop = play(range(len(run.steps)))
    restarts = [
        (attempt, at) for attempt, begin, end in run.attempts if (at := play(range(begin, end))) is not None
    ]
    return Stops(source=run.source, id=run.id, stop=stop, restarts=tuple(restarts))


def first_end(
    places: range,
    *,
    name: str,
    lap: Callable[[int], Open],
    detectors: Sequence[Detector],
    strategy: Strategy | None = None,
) -> int | None:
    """The first of these places after which the run is ended; later laps are not built."""
    state = beginning(name)
    for place in places:
        state = close_lap(state, lap(place))
        signals = signals_after(state, detectors)
        seen = replace(state.laps[-1], signals=signals)
        state = replace(state, laps=(*state.laps[:-1], seen))
        if strategy is None:
            if stuck(signals):
                return place
        elif not state.laps[-1].green and isinstance(strategy.decide(state, signals), Finish):
            return place
    return None


def beginning(name: str) -> RunState:
    """A recorded run before its first lap."""
    return RunState(run=name, plan=_PLAN, now=0.0)


def lap_of(step: Step, number: int, agent: str = "") -> Open:
    """The step as a lap that is over but not yet measured."""
    return Open(
        number=number,
        agent=agent,
        reply=kept_reply(Reply(text=step.action)),
        verdicts={GATE: kept_verdict(_verdict(step))},
    )


def _verdict(step: Step) -> Verdict:
    """The verdict of a gate that printed this; only a full score is a pass."""
    text = plain(step.observation)
    if step.reward is not None and step.reward >= 1:
        return Verdict(status="pass", score=1.0, excerpt=trim(text, EXCERPT_BYTES))
    printed = recognize_all(text)
    findings = findings_in(None, printed, text)
    score = step.reward if step.reward is not None else printed[0].score if printed else 0.0
    return Verdict(
        status="fail",
        score=score,
        findings=findings,
        digest="" if findings else output_fingerprint(text),
        excerpt=trim(text, EXCERPT_BYTES),
    )
