"""Gemini CLI: a stream of JSON objects, with messages in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.gate_commands import simple_commands
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.sandbox_homes import Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage
from untilgreen.regex import regex

ABOUT = About(
    install="npm install -g @google/gemini-cli",
    login="Start `gemini` and choose how to log in, or set GEMINI_API_KEY.",
    permit="Allow one more tool with args = ['--allowed-tools', 'run_shell_command(make)'].",
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
_RETRY = regex(r"Attempt \d+ failed(?: with status (\d+))?[^{]*(.*)")
_EDITS = ("write_file", "replace", "edit")
_REFUSED = ("policy_violation", "permission_denied")


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; a promise may be split over pieces, so they are joined."""
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
    """Its retries are reported only here."""
    if found := _RETRY.match(line):
        why = f"{found[2]} status {found[1]}" if found[1] else line
        turn.retries(why.strip(), float(found[1]) if found[1] else None, most=MOST_RETRIES)


def _act(event: JsonObject, turn: Turn) -> None:
    tool, given = event.text("tool_name"), event.part("parameters")
    path, command = given.text("file_path") or given.text("path"), given.text("command")
    turn.calls[event.text("tool_id")] = f"{tool}({command or path})"
    turn.uses(tool, path=path, command=command, edits=_EDITS)


def _result(event: JsonObject, turn: Turn) -> None:
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
    """Its exit code is the provider's status modulo 256."""
    return code + 256 if code + 256 in (401, 403, 429, 500, 503) else None


def shared_options(brief: Brief, model: str | None) -> list[str]:
    """The options that its forks have kept: permitted commands, model and session."""
    argv: list[str] = []
    if brief.permissions == "gates":
        for command in simple_commands(brief.commands):
            argv += ["--allowed-tools", f"run_shell_command({command})"]
    if model:
        argv += ["--model", model]
    if brief.session:
        argv += ["--resume", brief.session]
    return argv


@dataclass(frozen=True, kw_only=True)
class Gemini(CliAgent):
    """Drives Gemini CLI; `args` are added to its command line."""

    program: Program = "gemini"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear, error_line=hear_error, status=_status)

    def command(self, brief: Brief) -> CommandLine:
        """It neither relaunches itself, so that a signal ends it, nor asks about trust in the directory."""
        argv = [self.program, "--output-format", "stream-json", "--skip-trust", "--approval-mode"]
        argv.append("yolo" if brief.permissions == "all" else "auto_edit")
        argv += shared_options(brief, self.model)
        return CommandLine(argv=[*argv, *self.args], env={"GEMINI_CLI_NO_RELAUNCH": "true"}, stdin=brief.text)
