"""Events as the protocol's updates: laps and gates are tool calls, the gates are the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from untilgreen.core.loop.step import gate_waiting_for_people
from untilgreen.core.values.events import (
    AgentSwitched,
    BriefOffered,
    Event,
    GateChecked,
    Halted,
    Interrupted,
    LapVoided,
    Paused,
    RunFinished,
    RunStarted,
    SnapshotTaken,
    TurnEnded,
)
from untilgreen.core.values.model import Reply
from untilgreen.core.values.state import RunState
from untilgreen.surfaces.text.questions import question_of
from untilgreen.surfaces.text.safe_text import inert, inert_lines, short

Update = dict[str, Any]


def updates(event: Event, state: RunState) -> Iterator[Update]:
    """The updates that an editor shows for one event."""
    match event:
        case RunStarted(run=run):
            yield message(f"Run {run}\n\n")
            yield _plan(state)
        case BriefOffered(lap=lap, agent=agent):
            yield {
                "sessionUpdate": "tool_call",
                "toolCallId": lap_call(state.run, lap),
                "title": f"Lap {lap}: {short(agent, 60)} is working",
                "kind": "edit",
                "status": "in_progress",
            }
        case TurnEnded(lap=lap, reply=reply):
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": lap_call(state.run, lap),
                "status": "failed" if reply.error else "completed",
                "content": [text_content(words_of(reply))],
            }
        case GateChecked(lap=lap, gate=gate, verdict=verdict):
            passed = verdict.status in ("pass", "skip")
            found = [each.id for each in verdict.findings] or [verdict.excerpt or verdict.status]
            yield {
                "sessionUpdate": "tool_call",
                "toolCallId": f"{state.run}-gate-{lap}-{gate}",
                "title": f"{inert(gate)}: {verdict.status}",
                "kind": "execute",
                "status": "completed" if passed else "failed",
                "content": [] if passed else [text_content("\n".join(found))],
            }
            yield _plan(state)
        case Paused(reason=reason):
            yield message(f"Paused: {reason}\n\n")
        case AgentSwitched(agent=agent, reason=reason):
            yield message(f"{agent} continues: {reason}\n\n")
        case LapVoided(lap=lap, reason=reason):
            yield message(f"Lap {lap} starts again: {reason}\n\n")
        case Halted(cause=cause, detail=detail):
            told = f"The agent can't be used ({cause}): {detail}"
            yield message(f"{told}\n\nWhen it is fixed: `untilgreen resume {state.run}`\n\n")
        case Interrupted():
            yield message(f"The run is saved. Continue it with `untilgreen resume {state.run}`\n\n")
        case RunFinished(outcome=outcome, reason=reason):
            yield message(f"**{outcome}**: {reason}\n\n`untilgreen why {state.run}` explains it.")
    if isinstance(event, GateChecked | SnapshotTaken) and gate_waiting_for_people(state) is not None:
        yield message(f"{question_of(state)} Answer in a terminal: `untilgreen answer {state.run}`\n\n")


def words_of(reply: Reply) -> str:
    """What a lap's tool call says when the turn is over."""
    return reply.text or reply.detail or reply.error or "The agent said nothing."


def lap_call(run: str, lap: int) -> str:
    """The tool call of a lap; a session may have several runs."""
    return f"{run}-lap-{lap}"


def _plan(state: RunState) -> Update:
    """The gates, each done if it passed in the newest lap."""
    lap = state.open or state.last
    verdicts = lap.verdicts if lap is not None else {}
    entries = [
        {
            "content": inert(gate.name),
            "priority": "high" if gate.required else "low",
            "status": "completed"
            if (seen := verdicts.get(gate.name)) and seen.status == "pass"
            else "pending",
        }
        for gate in state.plan.gates
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def message(text: str) -> Update:
    """Our own text in the conversation."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": inert_lines(text)}}


def text_content(text: str) -> dict[str, Any]:
    """Text in a tool call; what agents and gates print is shown without control characters."""
    return {"type": "content", "content": {"type": "text", "text": inert_lines(text)}}
