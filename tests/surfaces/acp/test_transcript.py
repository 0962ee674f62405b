"""The messages between an editor and `untilgreen acp` are those that docs/acp.md shows."""

from __future__ import annotations

import json
import re
from operator import itemgetter
from typing import Any

import pytest

from tests.surfaces.acp.editor import Editor
from tests.transcripts import same_as_the_page

SHOWN = ("sessionUpdate", "title", "status", "entries", "content", "kind")


def shown(editor: Editor, message: dict[str, Any], session: str) -> str:
    """A message on one line, with placeholders for what differs between runs."""
    update = message.get("params", {}).get("update")
    if update is not None:
        message = {key: value for key, value in update.items() if key in SHOWN}
        content = message.get("content")
        if isinstance(content, dict):
            message["content"] = content["text"]
        if isinstance(content, list):
            message["content"] = [
                {key: value for key, value in part.items() if key != "type"}
                if part["type"] == "diff"
                else part["content"]["text"]
                for part in content
            ]
        text = f"session/update {json.dumps(message)}"
    elif "method" in message:
        text = f"{message['method']} {json.dumps(message['params'])}"
    else:
        text = json.dumps(message["result"])
    text = re.sub(r"\(\d+\.\ds\)", "(0.5s)", text)
    for name, value in (("/project", editor.project), ("SESSION", session), ("2pn3fjzqg", editor.run)):
        text = text.replace(str(value), name)
    return text


@pytest.mark.timeout(120)
def test_the_page_shows_what_is_said(editor: Editor) -> None:
    editor.spec(gate="test $(wc -l < lines) -ge 2")
    session = editor.session()
    answer = editor.prompt(session, "Write two lines.")

    kinds = ("plan", "tool_call", "tool_call_update", "agent_message_chunk")
    told = [
        each
        for each in editor.heard
        if (each.get("params", {}).get("update") or {}).get("sessionUpdate") in kinds
    ]
    told = _diffs_with_their_lap(told)
    lines = [f"> {shown(editor, each, session)}" for each in editor.said]
    lines[1:1] = ['< {"protocolVersion": 1, "agentCapabilities": {"loadSession": true, …}, …}']
    lines[3:3] = [f"< {json.dumps({'sessionId': 'SESSION'})}"]
    lines += [f"< {shown(editor, each, session)}" for each in told]
    lines.append(f"< {shown(editor, answer, session)}")
    same_as_the_page("acp.md", "a prompt", "\n".join(lines))


def _diffs_with_their_lap(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move each lap's diffs, which are made in parallel and arrive at any time, to the end of its turn."""
    places: dict[str, float] = {}
    placed = []
    for place, each in enumerate(told):
        update = each["params"]["update"]
        call = update.get("toolCallId", "")
        if "locations" in update:
            placed.append((places[call] + 0.5, each))
        else:
            places[call] = place
            placed.append((float(place), each))
    return [each for _, each in sorted(placed, key=itemgetter(0))]
