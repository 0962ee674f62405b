"""Qwen Code: made from Gemini CLI's command line, speaking Claude Code's stream."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents import claude
from untilgreen.agents.cli import About, CommandLine, Ears, take_turn
from untilgreen.agents.homes import Home
from untilgreen.agents.permissions import simple_commands
from untilgreen.agents.stream import Said
from untilgreen.agents.turn import Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply
from untilgreen.ports import Desk

ABOUT = About(
    install="npm install -g @qwen-code/qwen-code",
    login="Start `qwen` and use /auth, or set OPENAI_API_KEY and OPENAI_BASE_URL.",
    permit="Permit all with --yolo, or a tool with args = ['--allowed-tools', 'run_shell_command(make)'].",
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
_RETRY = re.compile(r"Retrying in (\d+(?:\.\d+)?)s \(attempt \d+/\d+\)(?:: (.*))?")


@dataclass(frozen=True, kw_only=True)
class Qwen:
    """Drives Qwen Code; `args` go to its command line as they are."""

    model: str | None = None
    program: str = "qwen"
    args: tuple[str, ...] = ()
    streams: ClassVar[bool] = True
    about: ClassVar[About] = ABOUT

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        return await take_turn(ABOUT, self.command, brief, desk, Ears(event=hear, error_line=hear_error))

    def command(self, brief: Brief) -> CommandLine:
        """As Gemini CLI would be started."""
        argv = [self.program, "--output-format", "stream-json", "--approval-mode"]
        argv.append("yolo" if brief.permissions == "all" else "auto-edit")
        if brief.permissions == "gates":
            for command in simple_commands(brief.commands):
                argv += ["--allowed-tools", f"run_shell_command({command})"]
        if self.model:
            argv += ["--model", self.model]
        if brief.session:
            argv += ["--resume", brief.session]
        return CommandLine(argv=[*argv, *self.args], stdin=brief.text)


def hear(event: Said, turn: Turn) -> None:
    """As Claude Code speaks, but that usage is counted over the whole session, and retries have no cause."""
    if event.text("subtype") != "retry":
        claude.hear(event, turn)
    if event.text("type") == "result":
        turn.total = turn.usage


def hear_error(line: str, turn: Turn) -> None:
    """Why it waits is told here only; what it retries within a minute is told nowhere."""
    if found := _RETRY.match(line):
        turn.retries(found[2] or "", seconds=float(found[1]))
