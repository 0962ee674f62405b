"""Claude Code: `claude -p` with a stream of JSON objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.gate_commands import simple_commands
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.sandbox_homes import Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Usage, cost_source

ABOUT = About(
    tells_cost=True,
    install="npm install -g @anthropic-ai/claude-code",
    login="Start `claude` and use /login, or set ANTHROPIC_API_KEY.",
    status=("auth", "status", "--json"),  # versions without it refuse the flag, and start no turn
    logged_out=r'"loggedIn":\s*false',
    root_needs="IS_SANDBOX",
    permit="Allow one more tool with args = ['--allowedTools', 'Bash(make *)'].",
    flags=(
        "--print",
        "--output-format",
        "--verbose",
        "--permission-mode",
        "--settings",
        "--resume",
        "--model",
        "--max-budget-usd",
    ),
    homes=(
        Home(
            place="~/.claude",
            moved=("CLAUDE_CONFIG_DIR", ""),
            reads=(
                "settings*.json",
                "CLAUDE.md",
                "agents",
                "commands",
                "skills",
                "plugins",
                "hooks",
                "rules",
                "output-styles",
                ".claude.json",
            ),
            writes=("projects/", "todos/", "tasks/", "file-history/", ".credentials.json"),
        ),
        Home(place="~", reads=(".claude.json",)),
    ),
    variables=("ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "MCP_*", "BASH_*", "API_TIMEOUT_MS"),
)
# The default is ten, even with a wrong key; for a longer wait we pause the run.
_ENV = {"CLAUDE_CODE_MAX_RETRIES": "3", "DISABLE_AUTOUPDATER": "1"}
_EDITS = ("Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "edit", "notebook_edit")
_NOBODY = "<synthetic>"
"""The model name in messages about provider errors."""
_QUESTION = "AskUserQuestion"


def _permits(brief: Brief) -> list[str]:
    if brief.permissions == "all":
        return ["--permission-mode", "bypassPermissions"]
    rules = [f"Bash({command}{rest})" for command in simple_commands(brief.commands) for rest in ("", ":*")]
    settings = msgspec.json.encode({"permissions": {"allow": rules}}).decode()
    return ["--permission-mode", "acceptEdits", "--settings", settings]


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; Qwen Code uses the same format."""
    turn.session = event.text("session_id") or turn.session
    match event.text("type"), event.text("subtype"):
        case "system", "api_retry" | "retry":
            _retry(event, turn)
        case "rate_limit_event", _ if event.text("rate_limit_info", "status") == "rejected":
            turn.again = event.number("rate_limit_info", "resetsAt")
        case "assistant", _:
            _message(event, turn)
        case "result", subtype:
            _result(event, turn, subtype)


def _retry(event: JsonObject, turn: Turn) -> None:
    delay = event.number("retry_delay_ms")
    why = event.text("error_message") or event.text("error") or event.text("error", "message")
    turn.retries(why, event.number("error_status"), None if delay is None else delay / 1000)


def _message(event: JsonObject, turn: Turn) -> None:
    """What the agent says and does; its subagents do not speak for it."""
    own = not event.text("parent_tool_use_id") and event.text("message", "model") != _NOBODY
    for block in event.parts("message", "content"):
        if block.text("type") == "text":
            text = block.text("text")
            turn.says(text) if own else turn.show("text", text)
        elif block.text("type") == "tool_use":
            _act(block.text("name"), block.part("input"), turn)


def _act(tool: str, given: JsonObject, turn: Turn) -> None:
    path = given.text("file_path") or given.text("notebook_path") or given.text("path")
    what = (
        path or given.text("pattern") or given.text("description") or given.text("query") or given.text("url")
    )
    turn.uses(tool, path=what, command=given.text("command"), edits=_EDITS)


def _result(event: JsonObject, turn: Turn, subtype: str) -> None:
    """The end of the turn; the subtype can say success although the turn failed."""
    for denial in event.parts("permission_denials"):
        _denied(denial, turn)
    turn.usage = _used(event.part("usage"))
    turn.total = _total(event) if event.part("modelUsage") else None
    if event.flag("is_error") or subtype != "success":
        errors = (
            event.text("error", "message")
            or "; ".join(event.texts("errors"))
            or event.text("result")
            or subtype
        )
        turn.fail(errors, event.number("api_error_status"))
        return
    turn.over = True
    if not turn.text:
        turn.says(event.text("result"))


def _denied(denial: JsonObject, turn: Turn) -> None:
    tool, given = denial.text("tool_name"), denial.part("tool_input")
    if tool == _QUESTION:
        turn.question = "; ".join(each.text("question") for each in given.parts("questions")) or tool
        return
    what = given.text("command") or given.text("file_path") or given.text("url")
    turn.deny(f"{tool}({what})" if what else tool)


def _used(usage: JsonObject) -> Usage:
    cached = usage.count("cache_read_input_tokens")
    return Usage(
        input_tokens=usage.count("input_tokens") + usage.count("cache_creation_input_tokens") + cached,
        output_tokens=usage.count("output_tokens"),
        cached_tokens=cached,
    )


def _total(event: JsonObject) -> Usage:
    """The usage of the whole session, including subagents; the cost is reported only this way."""
    models = event.part("modelUsage").values()
    cached = sum(each.count("cacheReadInputTokens") for each in models)
    fresh = sum(each.count("inputTokens") + each.count("cacheCreationInputTokens") for each in models)
    cost = event.number("total_cost_usd")
    return Usage(
        input_tokens=fresh + cached,
        output_tokens=sum(each.count("outputTokens") for each in models),
        cached_tokens=cached,
        cost=cost,
        source=cost_source(cost),
    )


@dataclass(frozen=True, kw_only=True)
class Claude(CliAgent):
    """Drives Claude Code; `args` are added to its command line."""

    program: Program = "claude"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear)

    def command(self, brief: Brief) -> CommandLine:
        """The prompt is passed on stdin, where it can have any length."""
        argv = [self.program, "--print", "--output-format", "stream-json", "--verbose", *_permits(brief)]
        if self.model:
            argv += ["--model", self.model]
        if brief.session:
            argv += ["--resume", brief.session]
        if brief.budget is not None:
            argv += ["--max-budget-usd", f"{max(brief.budget, 0.01):.2f}"]
        return CommandLine(argv=[*argv, *self.args], env=_ENV, stdin=brief.text)
