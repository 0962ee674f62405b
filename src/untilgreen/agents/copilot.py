"""GitHub Copilot CLI: a stream of JSON objects about messages and tools.

Its usage is not in that stream but in the session's own file, one record for each answer of the model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.gate_commands import simple_commands
from untilgreen.agents.kit.json_lines import JsonObject, read
from untilgreen.agents.kit.sandbox_homes import Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage

ABOUT = About(
    install="npm install -g @github/copilot",
    login="Start `copilot` and use /login, or set COPILOT_GITHUB_TOKEN.",
    permit="Allow one more tool with args = ['--allow-tool', 'shell(make)'].",
    flags=(
        "--output-format",
        "--no-auto-update",
        "--allow-tool",
        "--allow-all",
        "--resume",
        "--session-id",
        "--model",
    ),
    homes=(
        Home(
            place="~/.copilot",
            moved=("COPILOT_HOME", ""),
            reads=("*.json", "*.md", "hooks", "agents", "skills"),
            writes=("session-state/", "logs/"),
        ),
    ),
    variables=("COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"),
)
LARGEST_SESSION = 100_000_000
"""The largest usage file that is read, in bytes; the agent can write anything there."""
_RECORD = "session.usage_record"
_EDITS = ("create", "edit", "str_replace", "apply_patch", "write")


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; pieces of a message are ignored, since the whole message follows."""
    data = event.part("data")
    match event.text("type"):
        case "assistant.message" if not data.text("parentToolCallId"):
            turn.says(data.text("content"))
        case "tool.execution_start":
            _act(data, turn)
        case "tool.execution_complete" if data.text("error", "code") == "denied":
            turn.deny(turn.calls.get(data.text("toolCallId"), data.text("toolCallId")))
        case "session.error" | "error":
            turn.fail(data.text("message") or event.text("message"), data.number("statusCode"))
        case "result":
            turn.session = event.text("sessionId") or turn.session
            turn.over = event.number("exitCode") == 0


def _act(data: JsonObject, turn: Turn) -> None:
    tool, given = data.text("toolName"), data.part("arguments")
    path, command = given.text("path") or given.text("file_path"), given.text("command")
    turn.calls[data.text("toolCallId")] = f"{tool}({command or path})"
    turn.uses(tool, path=path, command=command, edits=_EDITS)


def count(turn: Turn) -> None:
    """Add up the usage of the whole session; nothing if this version stores it elsewhere."""
    records = [said.part("data", "usage") for said in _written(turn) if said.text("type") == _RECORD]
    if records:
        turn.total = Usage(
            input_tokens=sum(each.count("inputTokens") for each in records),
            output_tokens=sum(each.count("outputTokens") for each in records),
            cached_tokens=sum(each.count("cacheReadTokens") for each in records),
        )


def _written(turn: Turn) -> Iterator[JsonObject]:
    """The events in the session's file that may be usage records."""
    variables = {**os.environ, **turn.context.env}
    home = variables.get("COPILOT_HOME") or Path(variables.get("HOME") or Path.home()) / ".copilot"
    path = Path(home) / "session-state" / (turn.session or "none") / "events.jsonl"
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_SESSION:
            return
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if _RECORD in line and (said := read(line)) is not None:
                    yield said
    except OSError:
        return


@dataclass(frozen=True, kw_only=True)
class Copilot(CliAgent):
    """Drives Copilot CLI; `args` are added to its command line."""

    program: Program = "copilot"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear, end=count)

    def command(self, brief: Brief) -> CommandLine:
        """The prompt is passed on stdin; we choose the session id, so it is known however the turn ends."""
        argv = [self.program, "--output-format", "json", "--no-auto-update"]
        if brief.permissions == "all":
            argv.append("--allow-all")
        else:
            argv += ["--allow-tool", "write"]
            for command in simple_commands(brief.commands):
                argv += ["--allow-tool", f"shell({command})"]
        if self.model:
            argv += ["--model", self.model]
        session = brief.session or str(uuid4())
        argv.append(f"--resume={session}" if brief.session else f"--session-id={session}")
        return CommandLine(argv=[*argv, *self.args], stdin=brief.text, session=session)
