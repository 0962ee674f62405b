"""Events as words: every surface starts here."""

from __future__ import annotations

import shlex
from typing import assert_never

from untilgreen.core.decision import Ask, Continue, Finish
from untilgreen.core.events import (
    AgentSwitched,
    Allowed,
    Answered,
    Approved,
    Attached,
    BriefOffered,
    Cancelled,
    Decided,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapVoided,
    LetGo,
    Paused,
    RemedyTried,
    Restored,
    Resumed,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    Steered,
    StopRequested,
    TurnEnded,
)
from untilgreen.core.model import Reply, Verdict
from untilgreen.core.state import RunState
from untilgreen.core.units import several, show_duration
from untilgreen.surfaces.text import inert, short

MARKS = {"pass": "✓", "fail": "✕", "error": "!", "skip": "·"}
ASCII_MARKS = {"pass": "ok", "fail": "x", "error": "!", "skip": "-"}
WIDTH = 200


def line(event: Event, state: RunState, *, ascii_only: bool = False) -> str | None:  # noqa: C901 - one case per event
    """One line about an event for a log, or None where a person needs none."""
    marks = ASCII_MARKS if ascii_only else MARKS
    match event:
        case RunStarted():
            return f"task: {short(event.plan.title, WIDTH)}"
        case BriefOffered():
            return f"lap {event.lap}: {agent_words(event.agent)} works"
        case TurnEnded():
            return f"lap {event.lap}: {_turn(event.reply)}" + (", claims to be done" if event.claim else "")
        case SnapshotTaken(phase="turn") if event.lap > 0:
            count = len(event.changes) + event.more
            made = f"; committed by itself: {short(', '.join(event.commits), WIDTH)}" if event.commits else ""
            return f"lap {event.lap}: {several(count, 'file') if count else 'no files'} changed{made}"
        case GateChecked():
            lap = f"lap {event.lap}" if event.lap else "baseline"
            return f"{lap}: {marks[event.verdict.status]} {inert(event.gate)} {verdict_words(event.verdict)}"
        case Decided():
            place = f"after lap {event.lap}" if event.lap else "before lap 1"
            return f"{place}: {claim_words(state, event.lap)}{decision_words(event)}"
        case LetGo():
            return f"lap {event.lap}: {short(event.reason, WIDTH)}"
        case LapVoided():
            return f"lap {event.lap}: {short(event.reason, WIDTH)}"
        case RemedyTried():
            return f"lap {event.lap}: remedy {event.rung!r}"
        case Restored():
            kept = f"; left alone: {', '.join(map(inert, event.kept))}" if event.kept else ""
            return f"files are back at lap {event.lap} ({inert(event.why)}){kept}"
        case Paused():
            until = f", goes on in {show_duration(max(0.0, event.until - event.at))}" if event.until else ""
            return f"paused: {short(event.reason, WIDTH)}{until}"
        case Resumed():
            return f"goes on (by {inert(event.by)})"
        case AgentSwitched():
            return f"{agent_words(event.agent)} takes over: {short(event.reason, WIDTH)}"
        case Halted():
            return f"halted: {short(event.detail or event.cause, WIDTH)}"
        case Interrupted():
            return f"{inert(event.signal)}: saves the run and leaves; once more ends what runs at once"
        case Steered():
            return f"note for the agent: {short(event.note, WIDTH)}"
        case StopRequested():
            return f"will stop after this lap: {short(event.reason, WIDTH)}"
        case Cancelled():
            return f"cancelled: {short(event.reason, WIDTH)}"
        case Answered():
            return f"answered: {short(event.choice, WIDTH)}" + (
                f" (by {inert(event.by)})" if event.by else ""
            )
        case Allowed():
            return f"{inert(event.by) or 'somebody'} lets {inert(event.path)} be changed"
        case Approved():
            return f"{inert(event.by)} says {'yes' if event.yes else 'no'} for {inert(event.gate)}"
        case RunFinished():
            return f"{event.outcome}: {short(event.reason, WIDTH)}"
        case Attached() | SnapshotTaken():
            return None
        case _:
            assert_never(event)


def verdict_words(verdict: Verdict) -> str:
    """What a gate concluded, in a few words."""
    flaky = f" ({flaky_words(verdict)})" if verdict.flaky else ""
    took = f" in {show_duration(verdict.duration)}" if verdict.duration >= 0.05 else ""
    if verdict.status == "pass":
        return f"passes{took}{flaky}"
    if verdict.status == "skip":
        return f"skipped: {short(verdict.excerpt, WIDTH)}" if verdict.excerpt else "skipped"
    first = verdict.findings[0] if verdict.findings else None
    if verdict.status == "error":
        why = first.message if first else verdict.excerpt
        return f"could not tell: {short(why, WIDTH)}{flaky}"
    more = f" and {verdict.count - 1} more" if verdict.count > 1 else ""
    what = f": {short(first.id, 100)}{more}" if first else ""
    return f"fails{what}{took}{flaky}"


def flaky_words(verdict: Verdict) -> str:
    """That a gate changed its mind, and over what, where it is green by now."""
    if verdict.status != "pass" or not verdict.findings:
        return "flaky"
    return f"flaky, on the same files it failed: {short(verdict.findings[0].id, 100)}"


def decision_words(event: Decided) -> str:
    """What follows from a lap, and why."""
    seen = "".join(
        f" [{inert(signal.kind)} {signal.strength}: {short(signal.evidence, 100)}]"
        for signal in event.signals
    )
    match event.decision:
        case Continue(reason=reason):
            return f"goes on, {short(reason, WIDTH)}{seen}"
        case Finish(outcome=outcome):  # the reason follows when it is the end
            return f"ends as {outcome}{seen}"
        case Ask(question=question, choices=choices):
            return f"asks: {short(question, WIDTH)} ({inert(', '.join(choices))})"
        case _:
            assert_never(event.decision)


def how_to_answer(state: RunState, flags: str = "") -> str:
    """The command that answers the question of a run."""
    choices = state.asked.choices if state.asked else ()
    first = shlex.quote(inert(choices[0])) if choices else "…"
    return f"Answer with: untilgreen answer {state.run} {first}{flags}  ({inert(' | '.join(choices))})"


def claim_words(state: RunState, lap: int) -> str:
    """What became of the agent's claim, where it made a false one."""
    last = state.last
    rejected = last is not None and last.number == lap and last.claim and not last.green
    return "claim rejected; " if rejected else ""


def agent_words(name: str) -> str:
    """An agent's name, short: a command by its program."""
    if not name.startswith("cmd:"):
        return inert(name)
    command = name[4:].strip()
    quote = command[0] if command.startswith(("'", '"')) else ""
    program, _, rest = command.removeprefix(quote).partition(quote or " ")
    return short(f"cmd:{program.rpartition('/')[2]} {rest.strip()}".strip(), 40)


def _turn(reply: Reply) -> str:
    used = f", {reply.usage.tokens:,} tokens" if reply.usage.tokens else ""
    cost = f", ${reply.usage.cost:.2f}" if reply.usage.cost is not None else ""
    if reply.error:
        return f"turn ended: {reply.error} {short(reply.detail, 120)}".rstrip() + used + cost
    denied = f"; {short(reply.detail, 160)}" if reply.denied else ""
    return f"turn over{used}{cost}{denied}"
