"""Plays recorded streams to an adapter, through a real process."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply
from untilgreen.ports import Activity, Agent, TurnContext

HERE = Path(__file__).parent
PLAYER = HERE.parent / "fake_clis" / "player.py"
BRIEF = Brief(lap=1, text="Make it green.", commands=("pytest -q",))
UNKNOWN = [
    '{"type":"quantum_state","superposed":true}',
    '{"type":["not","a","name"],"message":7}',
    '{"type":"assistant","message":{"content":"a text where blocks were"}}',
    '{"type":"result"}{"type":"result"}',
    '{"type":"item.completed","item":[1,2,3]}',
    '{"type":"step_finish","part":null}',
    "A banner, and half an object: {",
]
"""Lines that a newer version may send."""


@dataclass(frozen=True)
class Played:
    """One turn: its reply, what was shown, and how the agent was started."""

    reply: Reply
    shown: list[tuple[str, str]]
    argv: list[str]
    stdin: str
    env: dict[str, str]
    transcript: str


def stream(name: str) -> str:
    return (HERE / "streams" / f"{name}.jsonl").read_text()


def player(folder: Path) -> str:
    """Write a program that plays a stream with this interpreter, whatever `python3` is."""
    path = folder / "player"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PLAYER}" "$@"\n')
    path.chmod(0o755)
    return str(path)


async def play(agent: Agent, text: str, folder: Path, brief: Brief = BRIEF, **variables: str) -> Played:
    """Take a turn with the agent, whose program must be `player(folder)`."""
    (folder / "stream").write_text(text)
    seen: list[Activity] = []
    context = TurnContext(
        root=folder,
        env={"STREAM": str(folder / "stream"), "HEARD": str(folder / "heard"), **variables},
        report=seen.append,
        transcript=folder / "transcript.jsonl",
    )
    reply = await agent.work(brief, context)
    heard: dict[str, Any] = json.loads((folder / "heard").read_text())
    return Played(
        reply=reply,
        shown=[(each.kind, each.text) for each in seen],
        argv=heard["argv"],
        stdin=heard["stdin"],
        env=heard["env"],
        transcript=transcript.read_text() if (transcript := folder / "transcript.jsonl").exists() else "",
    )
