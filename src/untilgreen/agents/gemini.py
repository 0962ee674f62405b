"""Gemini CLI: a stream of JSON objects, with messages in pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents.cli import About, CommandLine, Ears, take_turn
from untilgreen.agents.homes import Home
from untilgreen.agents.permissions import simple_commands
from untilgreen.agents.stream import Said
from untilgreen.agents.turn import Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply, Usage
from untilgreen.ports import Desk

ABOUT = About(
    install="npm install -g @google/gemini-cli",
    login="Start `gemini` and choose how to log in, or set GEMINI_API_KEY.",
    permit="Permit all with --yolo, or a tool with args = ['--allowed-tools', 'run_shell_command(make)'].",
    flags=("--output-format", "--approval-mode", "--allowed-tools", "--skip-trust", "--resume", "--model"),
    homes=(
        Home(
            place="~/.gemini",
            reads=(
                "settings.json",
                "GEMINI.md",
                ".env",
                "commands",
                "extensions",
                "policies",
                "skills",
                "agents",
            ),
            writes=("tmp/", "history/", "projects.json", "oauth_creds.json", "google_accounts.json"),
        ),
    ),
    variables=("GEMINI_*", "GOOGLE_*"),
)
MOST_RETRIES = 3
_RETRY = re.compile(r"Attempt \d+ failed(?: with status (\d+))?[^{]*(.*)")
_EDITS = ("write_file", "replace", "edit")
_REFUSED = ("policy_violation", "permission_denied")


@dataclass(frozen=True, kw_only=True)
class Gemini:
    """Drives Gemini CLI; `args` go to its command line as they are."""

    model: str | None = None
    program: str = "gemini"
    args: tuple[str, ...] = ()
    streams: ClassVar[bool] = True
    about: ClassVar[About] = ABOUT

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        ears = Ears(event=hear, error_line=hear_error, status=_status)
        return await take_turn(ABOUT, self.command, brief, desk, ears)

    def command(self, brief: Brief) -> CommandLine:
        """Without a relaunch of itself, a signal ends it; the run decides whether the folder is trusted."""
        argv = [self.program, "--output-format", "stream-json", "--skip-trust", "--approval-mode"]
        argv.append("yolo" if brief.permissions == "all" else "auto_edit")
        if brief.permissions == "gates":
            for command in simple_commands(brief.commands):
                argv += ["--allowed-tools", f"run_shell_command({command})"]
        if self.model:
            argv += ["--model", self.model]
        if brief.session:
            argv += ["--resume", brief.session]
        return CommandLine(argv=[*argv, *self.args], env={"GEMINI_CLI_NO_RELAUNCH": "true"}, stdin=brief.text)


def hear(event: Said, turn: Turn) -> None:
    """One event; a promise may be cut in two, so pieces are joined."""
    turn.session = event.text("session_id") or turn.session
    match event.text("type"):
        case "message" if event.text("role") == "assistant":
            turn.adds(event.text("content"))
        case "tool_use":
            _act(event, turn)
        case "tool_result" if event.text("error", "type") in _REFUSED:
            turn.deny(turn.calls.get(event.text("tool_id"), event.text("tool_id")))
        case "error":
            turn.show("note", event.text("message"))
        case "result":
            _result(event, turn)


def hear_error(line: str, turn: Turn) -> None:
    """Its retries are told here only, without an end of their own."""
    if found := _RETRY.match(line):
        why = f"{found[2]} status {found[1]}" if found[1] else line
        turn.retries(why.strip(), float(found[1]) if found[1] else None, most=MOST_RETRIES)


def _act(event: Said, turn: Turn) -> None:
    tool, given = event.text("tool_name"), event.part("parameters")
    path, command = given.text("file_path") or given.text("path"), given.text("command")
    turn.calls[event.text("tool_id")] = f"{tool}({command or path})"
    turn.uses(tool, path=path, command=command, edits=_EDITS)


def _result(event: Said, turn: Turn) -> None:
    stats = event.part("stats")
    turn.usage = Usage(
        input_tokens=stats.count("input_tokens"),
        output_tokens=stats.count("output_tokens"),
        cached_tokens=stats.count("cached"),
    )
    if event.text("status") == "success":
        turn.over = True
    else:
        turn.fail(event.text("error", "message") or "the turn failed")


def _status(code: int) -> int | None:
    """Its exit code is the provider's status, of which a process can only say the rest."""
    return code + 256 if code + 256 in (401, 403, 429, 500, 503) else None
