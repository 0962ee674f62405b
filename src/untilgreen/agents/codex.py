"""Codex: `codex exec --json`, a stream of JSON objects about threads, turns and items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents.cli import About, CommandLine, Ears, take_turn
from untilgreen.agents.homes import Home
from untilgreen.agents.stream import Said
from untilgreen.agents.turn import Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply, Usage
from untilgreen.ports import Desk

ABOUT = About(
    install="npm install -g @openai/codex",
    login="Run `codex login`, or set OPENAI_API_KEY.",
    fenced="write in the workspace, and run any command in its sandbox, without network",
    permit="Permit everything, outside of its sandbox, with --yolo.",
    help=("exec", "--help"),
    flags=(
        "--json",
        "--skip-git-repo-check",
        "--model",
        "--config",
        "--dangerously-bypass-approvals-and-sandbox",
        "resume",
    ),
    homes=(
        Home(
            place="~/.codex",
            moved=("CODEX_HOME", ""),
            reads=(
                "*config.toml",
                "AGENTS*.md",
                "instructions.md",
                "prompts",
                "rules",
                "skills",
                "hooks.json",
                "models_cache.json",
            ),
            writes=("sessions/", "archived_sessions/", "auth.json"),
        ),
    ),
    variables=("OPENAI_*", "CODEX_*", "AZURE_OPENAI_*"),
)
_RETRY = re.compile(r"^(?:reconnecting|retrying)\W+\d+/\d+\s*\(?(.*?)\)?$", re.IGNORECASE | re.DOTALL)
_REFUSED = ("declined", "rejected", "denied")
# A sandbox says nothing; the command fails, with the words of the system.
_FENCE = re.compile(r"read-only file system|operation not permitted|could not resolve host", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Codex:
    """Drives Codex; `args` go to its command line as they are."""

    model: str | None = None
    program: str = "codex"
    args: tuple[str, ...] = ()
    streams: ClassVar[bool] = True
    about: ClassVar[About] = ABOUT

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        return await take_turn(ABOUT, self.command, brief, desk, Ears(event=hear))

    def command(self, brief: Brief) -> CommandLine:
        """Its sandbox lets it write in the workspace and run commands without a network."""
        argv = [
            self.program,
            "exec",
            *(["resume"] if brief.session else []),
            "--json",
            "--skip-git-repo-check",
        ]
        if brief.permissions == "all":
            argv.append("--dangerously-bypass-approvals-and-sandbox")
        else:  # `exec resume` has no flag for it
            argv += ["-c", 'sandbox_mode="workspace-write"', "-c", 'approval_policy="never"']
        if self.model:
            argv += ["--model", self.model]
        return CommandLine(
            argv=[*argv, *self.args, *([brief.session] if brief.session else []), "-"], stdin=brief.text
        )


def hear(event: Said, turn: Turn) -> None:
    """One event; an item of type `error` is often a warning only, so the turn's own end decides."""
    match event.text("type"):
        case "thread.started":
            turn.session = event.text("thread_id") or turn.session
        case "item.started":
            _act(event.part("item"), turn)
        case "item.completed":
            _item(event.part("item"), turn)
        case "turn.completed":
            turn.over, turn.failure = True, ""
            turn.total = _total(event.part("usage"))
        case "turn.failed":
            turn.fail(event.text("error", "message") or "the turn failed", event.number("error", "status"))
        case "error":
            _error(event.text("message"), turn)


def _act(item: Said, turn: Turn) -> None:
    match item.text("type"):
        case "command_execution":
            turn.acts("command", item.text("command"))
        case "mcp_tool_call" | "web_search":
            turn.acts("tool", item.text("tool") or item.text("query"))


def _item(item: Said, turn: Turn) -> None:
    match item.text("type"):
        case "agent_message":
            turn.says(item.text("text"))
        case "file_change":
            for change in item.parts("changes"):
                turn.acts("edit", change.text("path"))
        case "error":
            turn.show("note", item.text("message"))
    if item.text("status") in _REFUSED or (turn.fenced and _FENCE.search(item.text("aggregated_output"))):
        turn.deny(item.text("command") or ", ".join(each.text("path") for each in item.parts("changes")))


def _error(message: str, turn: Turn) -> None:
    if retry := _RETRY.match(message):
        turn.retries(retry[1] or message)
    else:
        turn.fail(message)


def _total(usage: Said) -> Usage:
    """Counted over the whole thread; what was cached is part of the input."""
    return Usage(
        input_tokens=usage.count("input_tokens"),
        output_tokens=usage.count("output_tokens"),
        cached_tokens=usage.count("cached_input_tokens"),
    )
