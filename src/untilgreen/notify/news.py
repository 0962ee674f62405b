"""What is worth telling somebody who is not looking: pure, so that a restart tells nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, get_args

from msgspec import Struct

from untilgreen.core.decision import Ask
from untilgreen.core.events import (
    BriefOffered,
    Decided,
    Event,
    GateChecked,
    Halted,
    Paused,
    RunFinished,
    SnapshotTaken,
)
from untilgreen.core.limits import ceiling
from untilgreen.core.model import Outcome
from untilgreen.core.state import Iteration, RunState
from untilgreen.core.step import undecided
from untilgreen.core.units import show_duration
from untilgreen.errors import ConfigError, nearest

Kind = Literal["finished", "stuck", "waiting", "paused", "budget", "started", "lap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
USUAL: tuple[Kind, ...] = KINDS[:-2]
"""What is told to who does not say what they want; each lap is for those who ask."""
NEARLY = 0.8
"""The share of a limit that is worth a word before it ends the run."""
LONGEST = 600


class News(Struct, frozen=True, kw_only=True):
    """One message; `text` says all of it in a sentence or two."""

    news: Kind
    run: str
    task: str
    text: str
    outcome: str | None = None
    laps: int = 0
    score: float = 0.0
    cost: float = 0.0
    tokens: int = 0
    command: str = ""
    """What a person would type next."""


def news(event: Event, state: RunState, kinds: Collection[str] = USUAL) -> News | None:
    """What an event means to somebody far away; None for most."""
    told = _told(event, state)
    return told if told is not None and told.news in kinds else None


def known(kinds: Collection[str], who: str) -> None:
    """Complain about kinds of news that there are not."""
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(f"The notifier {who!r} knows no news called {kind!r}. {nearest(kind, KINDS)}")


def _told(event: Event, state: RunState) -> News | None:
    run = state.run
    match event:
        case RunFinished(outcome=outcome, reason=reason):
            kind: Kind = "stuck" if outcome is Outcome.STUCK else "finished"
            verb = "show" if outcome is Outcome.CONVERGED else "why"
            return _news(kind, state, f"{outcome}: {reason}", f"untilgreen {verb} {run}")
        case Decided(decision=Ask() as asked) if state.answers or asked.until is None:
            answer = f"untilgreen answer {run} {asked.choices[0]!r}" if asked.choices else ""
            return _news("waiting", state, f"waits for an answer: {asked.question}", answer)
        case Decided(lap=lap) if state.last is not None and state.last.number == lap and lap > 0:
            spent = "; ".join(_nearly_used_up(state, state.last))
            return _news("budget", state, spent, f"untilgreen show {run}") if spent else None
        case GateChecked() | SnapshotTaken(phase="turn") if (gate := undecided(state)) is not None:
            people = ", ".join(map(str, gate.options.get("people", ()))) or "somebody"
            text = f"gate {gate.name!r} waits for {people} to approve"
            return _news("waiting", state, text, f"untilgreen answer {run} approve")
        case Halted(cause=cause, detail=detail):
            text = f"the agent can't be used ({cause}): {detail}"
            return _news("waiting", state, text, f"untilgreen resume {run}")
        case Paused(reason=reason, until=until):
            for_ = f", goes on in {show_duration(max(0.0, until - event.at))}" if until else ""
            return _news("paused", state, f"paused{for_}: {reason}", f"untilgreen resume {run}")
        case BriefOffered(lap=lap):
            most = state.plan.limits.iterations
            of = f"lap {lap} of {most}" if most else f"lap {lap}"
            first = lap == 1 and (state.open is None or state.open.attempt == 1)
            text = f"started, {of}" if first else of
            return _news("started" if first else "lap", state, text, f"untilgreen show {run}")
        case _:
            return None


def _news(kind: Kind, state: RunState, text: str, command: str) -> News:
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return News(
        news=kind,
        run=state.run,
        task=state.plan.title,
        text=f"{state.plan.title}: {short}",
        outcome=None if state.outcome is None else str(state.outcome),
        laps=len(state.iterations),
        score=state.last.score if state.last else 0.0,
        cost=state.spent.cost,
        tokens=state.spent.tokens,
        command=command,
    )


def _nearly_used_up(state: RunState, last: Iteration) -> Iterator[str]:
    """The limits that this very lap brought to four fifths."""
    limits, spent, laps = state.plan.limits, state.spent, len(state.iterations)
    rows = (
        ("laps", float(laps), laps - 1.0, limits.iterations, "{:.0f}".format),
        ("time", state.elapsed, state.elapsed - last.duration, limits.time, show_duration),
        ("cost", spent.cost, spent.cost - last.cost, limits.cost, "${:.2f}".format),
        ("tokens", float(spent.tokens), float(spent.tokens - last.tokens), limits.tokens, "{:,.0f}".format),
    )
    for name, now, before, limit, shown in rows:
        edge = NEARLY * ceiling(limit)
        if before < edge <= now:
            yield f"{shown(now)} of {shown(ceiling(limit))} {name} used"
