"""Events as the protocol's updates: laps and gates are tool calls, the gates are the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from untilgreen.core.values.events import BriefOffered, Event, GateChecked, Paused, RunFinished, TurnEnded
from untilgreen.core.values.state import RunState
from untilgreen.surfaces.text.safe_text import inert, inert_lines

Update = dict[str, Any]
MOST_PATHS = 50


def updates(event: Event, state: RunState) -> Iterator[Update]:
    """The updates that an editor shows for one event."""
    match event:
        case BriefOffered(lap=lap, agent=agent):
            yield {
                "sessionUpdate": "tool_call",
                "toolCallId": f"lap-{lap}",
                "title": f"Lap {lap}: {inert(agent)} works",
                "kind": "think",
                "status": "in_progress",
            }
        case TurnEnded(lap=lap, reply=reply):
            words = reply.text or reply.detail or reply.error or "The agent said nothing."
            yield {
                "sessionUpdate": "tool_call_update",
                "toolCallId": f"lap-{lap}",
                "status": "failed" if reply.error else "completed",
                "content": [text_content(words)],
            }
        case GateChecked(lap=lap, gate=gate, verdict=verdict):
            passed = verdict.status == "pass"
            found = [each.id for each in verdict.findings] or [verdict.excerpt or verdict.status]
            yield {
                "sessionUpdate": "tool_call",
                "toolCallId": f"gate-{lap}-{gate}",
                "title": f"{inert(gate)}: {verdict.status}",
                "kind": "execute",
                "status": "completed" if passed else "failed",
                "content": [] if passed else [text_content("\n".join(found))],
            }
            yield {"sessionUpdate": "plan", "entries": plan_entries(state)}
        case Paused(reason=reason):
            yield message(f"Paused: {reason}\n")
        case RunFinished(outcome=outcome, reason=reason):
            yield message(f"**{outcome}**: {reason}\n\n`untilgreen why {state.run}` explains it.")


def changes(state: RunState) -> list[dict[str, str]]:
    """The files that the last lap changed, for editors that follow along."""
    return [{"path": each.path} for each in (state.laps[-1].changes if state.laps else ())[:MOST_PATHS]]


def plan_entries(state: RunState) -> list[dict[str, str]]:
    """The gates, each done if it passed in the newest lap."""
    lap = state.open or state.last
    verdicts = lap.verdicts if lap is not None else {}
    return [
        {
            "content": inert(gate.name),
            "priority": "high" if gate.required else "low",
            "status": "completed"
            if (seen := verdicts.get(gate.name)) and seen.status == "pass"
            else "pending",
        }
        for gate in state.plan.gates
    ]


def message(text: str) -> Update:
    """Our own text in the conversation."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": inert_lines(text)}}


def text_content(text: str) -> dict[str, Any]:
    """Text in a tool call; what agents and gates print is shown without control characters."""
    return {"type": "content", "content": {"type": "text", "text": inert_lines(text)}}
