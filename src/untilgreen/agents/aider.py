"""Aider: lines of text, no JSON and no sessions; its exit code is always 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.sandbox_homes import PROVIDERS, Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage, cost_source
from untilgreen.regex import regex

ABOUT = About(
    tells_cost=True,
    install="pip install aider-chat",
    login="Set your provider's key, for example ANTHROPIC_API_KEY or OPENAI_API_KEY.",
    fenced="edit files, and run no commands",
    permit="It suggests commands and runs none of them.",
    flags=("--yes-always", "--message-file", "--no-auto-commits", "--no-suggest-shell-commands", "--model"),
    homes=(Home(place="~", reads=(".aider.conf.yml", ".aider.model.*")),),
    variables=("AIDER_*", *PROVIDERS),
)
_TOKENS = regex(
    r"Tokens: ([\d.]+)(k|M)? sent, (?:.*? cache hit, )?([\d.]+)(k|M)? received\.?"
    r"(?: Cost: \$([\d.]+) message)?"
)
_EDIT = regex(r"(?:Applied edit to|Created|Did not apply edit to) (.+)")
_ERROR = regex(r"litellm\.\w*(?:Error|Exception)|^The API provider|Unable to .*model")
_RETRY = regex(r"Retrying in ([\d.]+) seconds")
_LAST_OF_BANNER = regex(r"^(?:Repo-map|Git repo|Model|Main model|Weak model|Editor model|Aider v|Added ):?")
_SCALE = {"k": 1_000, "M": 1_000_000, None: 1}
_MOST_RETRIES = 3


def _no_event(event: JsonObject, turn: Turn) -> None:
    """A JSON object in its output is a quotation."""


def hear_line(line: str, turn: Turn) -> None:
    """Handle one line: of its banner, of its answer, or about what it did."""
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
        source=cost_source(cost),
    )


@dataclass(frozen=True, kw_only=True)
class Aider(CliAgent):
    """Drives Aider, in a new conversation every lap; `args` are added to its command line."""

    program: Program = "aider"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=_no_event, line=hear_line)

    def command(self, brief: Brief) -> CommandLine:
        """Aider makes no commits here: the run saves each lap's work without touching your branch."""
        argv = [self.program, "--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore"]
        argv += ["--no-pretty", "--no-fancy-input", "--no-check-update", "--no-show-release-notes"]
        argv += ["--analytics-disable", "--no-show-model-warnings", "--message-file", "/dev/stdin"]
        if brief.permissions == "gates":
            argv.append("--no-suggest-shell-commands")
        if self.model:
            argv += ["--model", self.model]
        return CommandLine(argv=[*argv, *self.args], stdin=brief.text)
