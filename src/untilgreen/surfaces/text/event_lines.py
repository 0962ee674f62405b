"""Events as lines of text; every view of a run uses them."""

from __future__ import annotations

import shlex
import time
from typing import assert_never

from untilgreen.core.values.decision import Ask, Continue, Finish
from untilgreen.core.values.events import (
    CLOCK,
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
    LapsAdded,
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
from untilgreen.core.values.model import Reply, Verdict
from untilgreen.core.values.state import WAITS, RunState
from untilgreen.core.values.units import several, show_duration
from untilgreen.surfaces.text.safe_text import inert, short

MARKS = {"pass": "✓", "fail": "✕", "error": "!", "skip": "·"}
ASCII_MARKS = {"pass": "ok", "fail": "x", "error": "!", "skip": "-"}
WIDTH = 200
DEMO = "demo"
"""The label of a run whose agent or model is a script."""
UNPAID = "you paid nothing"
_INTERRUPTED = {
    "SIGINT": "saving the run... press Ctrl-C again to kill the agent now",
    "SIGTERM": "SIGTERM: saving the run",
    "SIGHUP": "the terminal was closed: saving the run",
}


def line(event: Event, state: RunState, *, ascii_only: bool = False) -> str | None:  # noqa: C901 - one case per event
    """One line about an event, or None if a person doesn't need it."""
    marks = ASCII_MARKS if ascii_only else MARKS
    match event:
        case RunStarted():
            return f"task: {short(event.plan.title, WIDTH)}"
        case BriefOffered():
            return f"lap {event.lap}: {agent_words(event.agent)} is working"
        case TurnEnded():
            return f"lap {event.lap}: {_turn(event.reply)}" + (", says it is done" if event.claim else "")
        case SnapshotTaken(phase="turn") if event.lap > 0:
            count = len(event.changes) + event.more
            made = f"; committed itself: {short(', '.join(event.commits), WIDTH)}" if event.commits else ""
            return f"lap {event.lap}: {several(count, 'file') if count else 'no files'} changed{made}"
        case GateChecked():
            lap = f"lap {event.lap}" if event.lap else "baseline"
            return f"{lap}: {marks[event.verdict.status]} {inert(event.gate)} {verdict_words(event.verdict)}"
        case Decided():
            return _decided(event, state)
        case LetGo() | LapVoided():
            return f"lap {event.lap}: {short(event.reason, WIDTH)}"
        case RemedyTried():
            return f"lap {event.lap}: remedy {event.rung!r}"
        case Restored():
            kept = f"; not touched: {', '.join(map(inert, event.kept))}" if event.kept else ""
            why = "" if event.why == f"back to lap {event.lap}" else f" ({inert(event.why)})"
            return f"restored the files of lap {event.lap}{why}{kept}"
        case Paused():
            return pause_words(event, event.at)
        case Resumed(by=by):
            return "resumed: the wait is over" if by == CLOCK else f"resumed by {inert(by)}"
        case AgentSwitched():
            return f"{agent_words(event.agent)} takes over: {short(event.reason, WIDTH)}"
        case Halted():
            return f"stopped: {short(event.detail or event.cause, WIDTH)}"
        case Interrupted():
            return f"{_INTERRUPTED.get(event.signal, inert(event.signal))}"
        case LapsAdded():
            return f"{several(event.laps, 'lap')} added, {state.plan.most_laps or 'no limit'} in all"
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
            return f"{inert(event.by) or 'someone'} allowed changes to {inert(event.path)}"
        case Approved():
            return f"{inert(event.by)} {'approved' if event.yes else 'rejected'} {inert(event.gate)}"
        case RunFinished():
            return f"{event.outcome}: {short(event.reason, WIDTH)}"
        case Attached() | SnapshotTaken():
            return None
        case _:
            assert_never(event)


def _decided(event: Decided, state: RunState) -> str:
    """The decision after a lap; before the first one, the reason itself says when it was made."""
    if event.lap == 0 and isinstance(event.decision, Continue):
        return short(event.decision.reason, WIDTH)
    place = f"after lap {event.lap}" if event.lap else "before lap 1"
    return f"{place}: {claim_words(state, event.lap)}{escalation_words(event)}{decision_words(event)}"


def pause_words(paused: Paused, now: float, *, driven: bool = True) -> str:
    """Why a run waits, and until when; one that no process drives won't resume by itself."""
    why = WAITS.get(paused.reason.partition(":")[0], f"paused: {short(paused.reason, WIDTH)}")
    if not paused.until:
        return why
    clock = time.strftime("%H:%M:%S", time.localtime(paused.until))
    if not driven:
        return f"{why} until {clock}; no process is driving the run"
    return f"{why}; resuming at {clock} (in {show_duration(max(0.0, paused.until - now))})"


def verdict_words(verdict: Verdict) -> str:
    """What a gate concluded, in a few words."""
    flaky = f" ({flaky_words(verdict)})" if verdict.flaky else ""
    took = f" in {show_duration(verdict.duration)}" if verdict.duration >= 0.05 else ""
    if verdict.status == "pass":
        return f"passed{took}{flaky}"
    if verdict.status == "skip":
        return f"skipped: {short(verdict.excerpt, WIDTH)}" if verdict.excerpt else "skipped"
    first = verdict.findings[0] if verdict.findings else None
    if verdict.status == "error":
        why = first.message if first else verdict.excerpt
        return f"is broken: {short(why, WIDTH)}{flaky}"
    more = f" and {verdict.count - 1} more" if verdict.count > 1 else ""
    what = f": {short(first.id, 100)}{more}" if first else ""
    return f"failed{what}{took}{flaky}"


def flaky_words(verdict: Verdict) -> str:
    """Says that a gate was red and green on the same files, and what failed, if it is green now."""
    if verdict.status != "pass" or not verdict.findings:
        return "flaky"
    return f"flaky; it failed on the same files: {short(verdict.findings[0].id, 100)}"


def decision_words(event: Decided) -> str:
    """What was decided after a lap, and why."""
    seen = "".join(
        f" [{inert(signal.kind)} {signal.strength}: {short(signal.evidence, 100)}]"
        for signal in event.signals
    )
    match event.decision:
        case Continue(reason=reason):
            return f"continues: {short(reason, WIDTH)}{seen}"
        case Finish(outcome=outcome):  # the reason follows with the end of the run
            return f"ends as {outcome}{seen}"
        case Ask(question=question, choices=choices):
            first = question.partition("\n")[0]
            return f"asks: {short(first, WIDTH)} ({inert(', '.join(choices))})"
        case _:
            assert_never(event.decision)


def escalation_words(event: Decided) -> str:
    """Says which gates asked for a person while nobody could answer."""
    if not event.escalated or isinstance(event.decision, Ask):
        return ""
    return f"{inert(', '.join(event.escalated))} asked for a person, but nobody can answer; "


def how_to_answer(state: RunState, flags: str = "") -> str:
    """The command that answers a run's question."""
    choices = state.asked.choices if state.asked else ()
    first = shlex.quote(inert(choices[0])) if choices else "…"
    return f"Answer with: untilgreen answer {state.run} {first}{flags}  ({inert(' | '.join(choices))})"


def claim_words(state: RunState, lap: int) -> str:
    """Says that the agent's claim was rejected, if it made a false one."""
    last = state.last
    rejected = last is not None and last.number == lap and last.claim and not last.green
    return "claim rejected; " if rejected else ""


def agent_words(name: str) -> str:
    """An agent's name; a command is shortened to its program."""
    if not name.startswith("cmd:"):
        return inert(name)
    command = name[4:].strip()
    quote = command[0] if command.startswith(("'", '"')) else ""
    program, _, rest = command.removeprefix(quote).partition(quote or " ")
    return short(f"cmd:{program.rpartition('/')[2]} {rest.strip()}".strip(), 40)


def _failure(error: str, detail: str) -> str:
    """What went wrong, with the agent's own words where they say more."""
    kind = WAITS.get(error, error.replace("_", " "))
    said = short(detail, 120)
    return kind if kind.startswith(said.replace("_", "-")) else f"{kind}: {said}"


def _turn(reply: Reply) -> str:
    used = f", {reply.usage.tokens:,} tokens" if reply.usage.tokens else ""
    cost = f", ${reply.usage.cost:.2f}" if reply.usage.cost is not None else ""
    if reply.error:
        return f"turn failed: {_failure(reply.error, reply.detail)}{used}{cost}"
    denied = f"; {short(reply.detail, 160)}" if reply.denied else ""
    return f"turn done{used}{cost}{denied}"
