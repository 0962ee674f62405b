"""Codex: `codex exec --json`, a stream of JSON objects about threads, turns and items."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.readiness import Conditions, check_ready
from untilgreen.agents.kit.sandbox_homes import Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage
from untilgreen.regex import regex

ABOUT = About(
    install="npm install -g @openai/codex",
    login="Run `codex login`, or set OPENAI_API_KEY.",
    status=("login", "status"),
    logged_out=r"^Not logged in",
    fenced="write in the workspace, and run any command in its own sandbox, without network",
    permit="Allow network access with args = ['-c', 'sandbox_workspace_write.network_access=true'].",
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
_RETRY = regex(r"^(?:reconnecting|retrying)\W+\d+/\d+\s*\(?(.*?)\)?$", re.IGNORECASE | re.DOTALL)
_REFUSED = ("declined", "rejected", "denied")
# Its sandbox reports nothing: the command just fails with the system's error message.
_FENCE = regex(r"read-only file system|operation not permitted|could not resolve host", re.IGNORECASE)


def _needs_no_login(env: Mapping[str, str]) -> bool:
    settings = Path(env.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"
    try:
        provided = "model_provider" in settings.read_text(encoding="utf-8", errors="replace")
    except OSError:
        provided = False
    return provided or any(env.get(name) for name in ("CODEX_API_KEY", "OPENAI_API_KEY"))


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; an item of type `error` is often just a warning, so the end of the turn decides."""
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


def _act(item: JsonObject, turn: Turn) -> None:
    match item.text("type"):
        case "command_execution":
            turn.acts("command", item.text("command"))
        case "mcp_tool_call" | "web_search":
            turn.acts("tool", item.text("tool") or item.text("query"))


def _item(item: JsonObject, turn: Turn) -> None:
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


def _total(usage: JsonObject) -> Usage:
    """The usage of the whole thread; cached tokens are part of the input."""
    return Usage(
        input_tokens=usage.count("input_tokens"),
        output_tokens=usage.count("output_tokens"),
        cached_tokens=usage.count("cached_input_tokens"),
    )


@dataclass(frozen=True, kw_only=True)
class Codex(CliAgent):
    """Drives Codex; `args` are added to its command line."""

    program: Program = "codex"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear)

    async def ready(self, conditions: Conditions) -> None:
        """A key in the environment, or a custom provider, needs no login."""
        ask = not self.args and not _needs_no_login(os.environ)
        await check_ready(self.about, self.program, conditions, ask=ask)

    def command(self, brief: Brief) -> CommandLine:
        """Its sandbox lets it write in the workspace and run commands without network."""
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
