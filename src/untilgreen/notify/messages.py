"""Which events are worth a message, and its text: pure, so a restart sends nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal, get_args

from msgspec import Struct

from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.scoring.weakened_tests import ending_reason
from untilgreen.core.values.decision import Ask, Continue
from untilgreen.core.values.events import (
    BriefOffered,
    Decided,
    Event,
    GateChecked,
    Halted,
    Paused,
    RunFinished,
    SnapshotTaken,
)
from untilgreen.core.values.limits import ceiling
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.state import WAITS, Lap, RunState
from untilgreen.core.values.units import several, show_duration
from untilgreen.errors import ConfigError, nearest

Kind = Literal["finished", "stuck", "waiting", "escalated", "paused", "budget", "started", "lap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
USUAL: tuple[Kind, ...] = KINDS[:-2]
"""Sent unless `on` says otherwise; `started` and `lap` only on request."""
Wanted = Annotated[Sequence[str], about(f"The kinds of messages to send: {', '.join(KINDS)}.")]
NEARLY = 0.8
"""The share of a limit that is worth a warning."""
LONGEST = 600


class News(Struct, frozen=True, kw_only=True):
    """One message; `text` is complete in itself."""

    news: Kind
    run: str
    task: str
    text: str
    outcome: str | None = None
    laps: int = 0
    score: float = 0.0
    cost: float | None = None
    tokens: int | None = None
    command: str = ""
    """The command to continue with."""

    @property
    def well(self) -> bool:
        """Whether the run ended in success."""
        return self.outcome is not None and Outcome(self.outcome).good

    @property
    def body(self) -> str:
        """The message with the command to continue with, for people."""
        return f"{self.text}\n{self.command}".strip()


def news(event: Event, state: RunState, kinds: Collection[str] = USUAL) -> News | None:
    """The message about an event; None for most."""
    told = _told(event, state)
    return told if told is not None and told.news in kinds else None


def check_kinds(kinds: Collection[str], who: str) -> None:
    """Refuse kinds of messages that don't exist."""
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(
                f"The notifier {who!r} has no kind of message called {kind!r}. {nearest(kind, KINDS)}"
            )


def _told(event: Event, state: RunState) -> News | None:
    run = state.run
    match event:
        case RunFinished(outcome=outcome):
            kind: Kind = "stuck" if outcome is Outcome.STUCK else "finished"
            verb = "show" if outcome is Outcome.CONVERGED else "why"
            return _news(
                kind, state, f"{outcome}: {ending_reason(state)}{_spent(state)}", f"untilgreen {verb} {run}"
            )
        case Decided(decision=Ask() as asked) if state.answers or asked.until is None:
            answer = f"untilgreen answer {run} {asked.choices[0]!r}" if asked.choices else ""
            return _news("waiting", state, f"waiting for your answer: {asked.question}", answer)
        case Decided(decision=Continue() as decision) if _newly_escalated(state):
            gates = ", ".join(_newly_escalated(state))
            text = f"{gates} failed, and nobody can answer, so the run continues"
            return _news("escalated", state, f"{text}: {decision.reason}", f"untilgreen why {run}")
        case Decided(lap=lap) if state.last is not None and state.last.number == lap and lap > 0:
            spent = "; ".join(_nearly_used_up(state, state.last))
            return _news("budget", state, spent, f"untilgreen show {run}") if spent else None
        case GateChecked() | SnapshotTaken(phase="turn") if (
            gate := gate_waiting_for_people(state)
        ) is not None:
            people = ", ".join(map(str, gate.options.get("people", ()))) or "anyone"
            text = f"gate {gate.name!r} is waiting for approval by {people}"
            return _news("waiting", state, text, f"untilgreen answer {run} approve")
        case Halted(cause=cause, detail=detail):
            text = f"the agent can't be used ({cause}): {detail}"
            return _news("waiting", state, text, f"untilgreen resume {run}")
        case Paused(until=None):
            return _news("paused", state, f"paused: {event.reason}", f"untilgreen resume {run}")
        case Paused():
            why = WAITS.get(event.cause or "", event.reason)
            then = f"resuming in {show_duration(max(0.0, (event.until or 0.0) - event.at))}"
            return _news("paused", state, f"{why}; {then}", f"untilgreen follow {run}")
        case BriefOffered(lap=lap):
            most = state.plan.most_laps
            of = f"lap {lap} of {most}" if most else f"lap {lap}"
            first = lap == 1 and (state.open is None or state.open.attempt == 1)
            text = f"started, {of}" if first else of
            return _news("started" if first else "lap", state, text, f"untilgreen show {run}")
        case _:
            return None


def _newly_escalated(state: RunState) -> tuple[str, ...]:
    """Gates that need a person although nobody can answer, and did not after the previous lap."""
    if state.answers or not state.laps:
        return ()
    told = state.laps[-2].unanswered if len(state.laps) > 1 else ()
    return tuple(gate for gate in state.laps[-1].unanswered if gate not in told)


def _news(kind: Kind, state: RunState, text: str, command: str) -> News:
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return News(
        news=kind,
        run=state.run,
        task=state.plan.title,
        text=f"{state.plan.title.rstrip('.')}: {short}",
        outcome=None if state.outcome is None else str(state.outcome),
        laps=len(state.laps),
        score=state.last.score if state.last else 0.0,
        cost=state.spent.cost,
        tokens=state.spent.tokens,
        command=command,
    )


def _spent(state: RunState) -> str:
    cost = f", ${state.spent.cost:.2f}" if state.spent.cost else ""
    return f" ({several(len(state.laps), 'lap')} in {show_duration(state.elapsed)}{cost})"


def _nearly_used_up(state: RunState, last: Lap) -> Iterator[str]:
    """The limits that reached 80 % with this lap."""
    limits, laps = state.plan.limits, len(state.laps)
    cost, tokens = state.spent.cost or 0.0, state.spent.tokens or 0
    rows = (
        ("laps", float(laps), laps - 1.0, state.plan.most_laps, "{:.0f}".format),
        ("time", state.elapsed, state.elapsed - last.duration, limits.time, show_duration),
        ("cost", cost, cost - (last.cost or 0.0), limits.cost, "${:.2f}".format),
        ("tokens", float(tokens), float(tokens - (last.tokens or 0)), limits.tokens, "{:,.0f}".format),
    )
    for name, now, before, limit, shown in rows:
        edge = NEARLY * ceiling(limit)
        if before < edge <= now:
            yield f"{shown(now)} of {shown(ceiling(limit))} {name} used"
