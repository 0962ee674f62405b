"""Aider: no objects and no sessions, only lines of text, and exit code 0 whatever happened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents.cli import About, CommandLine, Ears, take_turn
from untilgreen.agents.homes import PROVIDERS, Home
from untilgreen.agents.stream import Said
from untilgreen.agents.turn import Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply, Usage
from untilgreen.ports import Desk

ABOUT = About(
    install="pip install aider-chat",
    login="Set your provider's key, for example ANTHROPIC_API_KEY or OPENAI_API_KEY.",
    fenced="edit files; it runs no command",
    permit="Let it run the commands it suggests with --yolo.",
    flags=("--yes-always", "--message-file", "--no-auto-commits", "--no-suggest-shell-commands", "--model"),
    homes=(Home(place="~", reads=(".aider.conf.yml", ".aider.model.*")),),
    variables=("AIDER_*", *PROVIDERS),
)
_TOKENS = re.compile(
    r"Tokens: ([\d.]+)(k|M)? sent, (?:.*? cache hit, )?([\d.]+)(k|M)? received\.?"
    r"(?: Cost: \$([\d.]+) message)?"
)
_EDIT = re.compile(r"(?:Applied edit to|Created|Did not apply edit to) (.+)")
_ERROR = re.compile(r"litellm\.\w*(?:Error|Exception)|^The API provider|Unable to .*model")
_RETRY = re.compile(r"Retrying in ([\d.]+) seconds")
_LAST_OF_BANNER = re.compile(
    r"^(?:Repo-map|Git repo|Model|Main model|Weak model|Editor model|Aider v|Added ):?"
)
_SCALE = {"k": 1_000, "M": 1_000_000, None: 1}
_MOST_RETRIES = 3


@dataclass(frozen=True, kw_only=True)
class Aider:
    """Drives Aider, a new conversation every lap; `args` go to its command line as they are."""

    model: str | None = None
    program: str = "aider"
    args: tuple[str, ...] = ()
    streams: ClassVar[bool] = True
    about: ClassVar[About] = ABOUT

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        return await take_turn(ABOUT, self.command, brief, desk, Ears(event=_no_event, line=hear_line))

    def command(self, brief: Brief) -> CommandLine:
        """It would commit by itself; the run keeps what each lap did without touching your branch."""
        argv = [self.program, "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore"]
        argv += ["--no-pretty", "--no-fancy-input", "--no-check-update", "--no-show-release-notes"]
        argv += ["--analytics-disable", "--no-show-model-warnings", "--message-file", "/dev/stdin"]
        if brief.permissions == "gates":
            argv.append("--no-suggest-shell-commands")
        if self.model:
            argv += ["--model", self.model]
        return CommandLine(argv=[*argv, *self.args], stdin=brief.text)


def _no_event(event: Said, turn: Turn) -> None:
    """An object among its lines is something it quotes."""


def hear_line(line: str, turn: Turn) -> None:
    """One line: of its banner, of its answer, or about what it did."""
    if _LAST_OF_BANNER.match(line):
        turn.acts("note", line)
        turn.text = ""
    elif found := _TOKENS.search(line):
        turn.over, turn.failure, turn.text = True, "", turn.text.strip()
        turn.usage = _more(turn.usage, found)
    elif found := _EDIT.match(line):
        turn.show("edit", found[1])
    elif found := _RETRY.search(line):
        turn.retries(turn.failure or line, None, float(found[1]), most=_MOST_RETRIES)
    elif _ERROR.search(line):
        turn.fail(line)
        turn.text = ""
    elif not turn.over and not turn.failure:
        turn.adds(f"{line}\n")


def _more(usage: Usage, found: re.Match[str]) -> Usage:
    sent, received = (int(float(found[at]) * _SCALE[found[at + 1]]) for at in (1, 3))
    cost = None if found[5] is None else (usage.cost or 0.0) + float(found[5])
    return Usage(
        input_tokens=usage.input_tokens + sent,
        output_tokens=usage.output_tokens + received,
        cost=cost,
        source="unknown" if cost is None else "reported",
    )
