"""Qwen Code: Gemini CLI's command line with Claude Code's stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents import claude, gemini
from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.sandbox_homes import Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.regex import regex

ABOUT = About(
    install="npm install -g @qwen-code/qwen-code",
    login="Start `qwen` and use /auth, or set OPENAI_API_KEY and OPENAI_BASE_URL.",
    permit="Allow one more tool with args = ['--allowed-tools', 'run_shell_command(make)'].",
    flags=("--output-format", "--approval-mode", "--allowed-tools", "--resume", "--model"),
    homes=(
        Home(
            place="~/.qwen",
            reads=("settings.json", "QWEN.md", ".env", "commands", "extensions", "skills", "agents"),
            writes=("tmp/", "projects/", "oauth_creds.json"),
        ),
    ),
    variables=("QWEN_*", "OPENAI_*", "DASHSCOPE_*"),
)
_RETRY = regex(r"Retrying in (\d+(?:\.\d+)?)s \(attempt \d+/\d+\)(?:: (.*))?")


def hear(event: JsonObject, turn: Turn) -> None:
    """Like Claude Code, but usage counts the whole session, and retries name no cause."""
    if event.text("subtype") != "retry":
        claude.hear(event, turn)
    if event.text("type") == "result":
        turn.total = turn.usage


def hear_error(line: str, turn: Turn) -> None:
    """Why it waits is reported only here; retries within a minute are not reported at all."""
    if found := _RETRY.match(line):
        turn.retries(found[2] or "", seconds=float(found[1]))


@dataclass(frozen=True, kw_only=True)
class Qwen(CliAgent):
    """Drives Qwen Code; `args` are added to its command line."""

    program: Program = "qwen"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear, error_line=hear_error)

    def command(self, brief: Brief) -> CommandLine:
        """The same as for Gemini CLI."""
        argv = [self.program, "--output-format", "stream-json", "--approval-mode"]
        argv.append("yolo" if brief.permissions == "all" else "auto-edit")
        argv += gemini.shared_options(brief, self.model)
        return CommandLine(argv=[*argv, *self.args], stdin=brief.text)
