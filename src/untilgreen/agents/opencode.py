"""OpenCode: `opencode run --format json`, a stream of steps and their parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.gate_commands import simple_commands
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.sandbox_homes import ITSELF, PROVIDERS, Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage, cost_source
from untilgreen.regex import regex

ABOUT = About(
    tells_cost=True,
    install="npm install -g opencode-ai",
    login="Run `opencode auth login`, or set your provider's key.",
    permit="Allow more with `permission` in opencode.json.",
    help=("run", "--help"),
    flags=("--format", "--model", "--session", "--print-logs", "--log-level", "--auto"),
    homes=(
        Home(place="~/.config/opencode", moved=("XDG_CONFIG_HOME", "opencode"), reads=("*",)),
        Home(place="~/.cache/opencode", moved=("XDG_CACHE_HOME", "opencode"), reads=("*",)),
        Home(place="~/.local/state/opencode", moved=("XDG_STATE_HOME", "opencode"), reads=("*",)),
        Home(
            place="~/.local/share/opencode",
            moved=("XDG_DATA_HOME", "opencode"),
            reads=("bin",),
            writes=(ITSELF,),
        ),
    ),
    variables=("OPENCODE_*", *PROVIDERS),
)
MOST_RETRIES = 3
_RETRY = regex(r'level=ERROR .*message="stream error".*error\.error="(.*)"$')
_REFUSED = regex(r"rule which prevents|rejected permission|permission denied", re.IGNORECASE)
_EDITS = ("write", "edit", "patch", "multiedit", "apply_patch")


def permission_rules(brief: Brief) -> str:
    """Its permission rules; the last one that matches counts."""
    if brief.permissions == "all":
        return '{"edit":"allow","bash":"allow","webfetch":"allow","external_directory":"allow"}'
    commands = simple_commands(brief.commands)
    bash = {"*": "deny", **{f"{command}{rest}": "allow" for command in commands for rest in ("", " *")}}
    rules: dict[str, Any] = {"edit": "allow", "bash": bash, "webfetch": "deny", "external_directory": "deny"}
    return msgspec.json.encode(rules).decode()


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; the turn is over when a step finishes with the reason `stop`."""
    turn.session = event.text("sessionID") or turn.session
    part = event.part("part")
    match event.text("type"):
        case "text":
            turn.says(part.text("text"))
        case "tool_use":
            _act(part, turn)
        case "step_finish":
            turn.over = part.text("reason") == "stop"
            turn.usage = _more(turn.usage, part)
        case "error":
            error = event.part("error")
            turn.fail(error.text("data", "message") or error.text("name"), error.number("data", "statusCode"))


def hear_error(line: str, turn: Turn) -> None:
    """Its retries are reported only in its log."""
    if found := _RETRY.search(line):
        turn.retries(found[1], most=MOST_RETRIES)
    elif "permission requested" in line:
        turn.deny(line.partition("permission requested:")[2].partition(";")[0].strip())


def _act(part: JsonObject, turn: Turn) -> None:
    tool, given = part.text("tool"), part.part("state", "input")
    path, command = given.text("filePath") or given.text("path"), given.text("command")
    turn.uses(tool, path=path, command=command, edits=_EDITS)
    if _REFUSED.search(part.text("state", "error")):
        turn.deny(f"{tool}({command or path})")


def _more(usage: Usage, part: JsonObject) -> Usage:
    """Add the usage of one step."""
    tokens, cost = part.part("tokens"), part.number("cost")
    cached = tokens.count("cache", "read")
    known = cost is not None or usage.cost is not None
    total = (usage.cost or 0.0) + (cost or 0.0) if known else None
    return replace(
        usage,
        input_tokens=usage.input_tokens + tokens.count("input") + tokens.count("cache", "write") + cached,
        output_tokens=usage.output_tokens + tokens.count("output") + tokens.count("reasoning"),
        cached_tokens=usage.cached_tokens + cached,
        cost=total,
        source=cost_source(total),
    )


@dataclass(frozen=True, kw_only=True)
class OpenCode(CliAgent):
    """Drives OpenCode; models are named `provider/model`, `args` are added to its command line."""

    program: Program = "opencode"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear, error_line=hear_error)

    def command(self, brief: Brief) -> CommandLine:
        """It retries forever and reports that only in its error log, so the log is printed."""
        argv = [self.program, "run", "--format", "json", "--print-logs", "--log-level", "ERROR"]
        if brief.permissions == "all":
            argv.append("--auto")
        if self.model:
            argv += ["--model", self.model]
        if brief.session:
            argv += ["--session", brief.session]
        env = {"OPENCODE_PERMISSION": permission_rules(brief), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        return CommandLine(argv=[*argv, *self.args], env=env, stdin=brief.text)
