"""Goose: a stream of JSON objects after a banner; its exit code is always 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid4

from untilgreen.agents.kit.cli_agent import CliAgent, Program
from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.agents.kit.readiness import Conditions
from untilgreen.agents.kit.sandbox_homes import ITSELF, PROVIDERS, Home
from untilgreen.agents.kit.take_turn import About, CommandLine, Listeners
from untilgreen.agents.kit.turn import Turn
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Permissions, Reply, Usage
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import TurnContext

ABOUT = About(
    install="npm install -g @aaif/goose",
    login="Run `goose configure`, or set GOOSE_PROVIDER and your provider's key.",
    fenced='nothing: it has no rules for single commands, so it needs permissions = "all"',
    permit='It works only with permissions = "all".',
    help=("run", "--help"),
    flags=("--output-format", "--instructions", "--name", "--resume", "--with-builtin", "--model", "--quiet"),
    homes=(
        Home(place="~/.config/goose", moved=("XDG_CONFIG_HOME", "goose"), reads=("*",)),
        Home(place="~/.local/share/goose", moved=("XDG_DATA_HOME", "goose"), writes=(ITSELF,)),
    ),
    variables=("GOOSE_*", *PROVIDERS),
)
_FAILED = "Ran into this error:"
_EDITS = ("write", "edit", "text_editor", "developer__text_editor")


def hear(event: JsonObject, turn: Turn) -> None:
    """Handle one event; a failure comes as text, as if the agent had said it."""
    match event.text("type"):
        case "message" if event.text("message", "role") == "assistant":
            for block in event.parts("message", "content"):
                _block(block, turn)
        case "error":
            turn.fail(event.text("error") or event.text("message"))
        case "complete":
            turn.over = True
            turn.total = Usage(
                input_tokens=event.count("input_tokens"), output_tokens=event.count("output_tokens")
            )


def _block(block: JsonObject, turn: Turn) -> None:
    if block.text("type") == "text":
        text = block.text("text")
        if text.startswith(_FAILED):
            turn.fail(text)
        else:
            turn.adds(text)
    elif block.text("type") == "toolRequest":
        call = block.part("toolCall", "value")
        given = call.part("arguments")
        turn.uses(call.text("name"), path=given.text("path"), command=given.text("command"), edits=_EDITS)


def _require_all(permissions: Permissions) -> None:
    if permissions != "all":
        raise AgentUnavailable(
            "Goose can't be limited to editing files and running the gates, so it works only with "
            'permissions = "all". Use another agent, for example --agent claude.'
        )


@dataclass(frozen=True, kw_only=True)
class Goose(CliAgent):
    """Drives Goose; it has no rules for single commands, so it works only with everything permitted."""

    program: Program = "goose"
    about: ClassVar[About] = ABOUT
    listeners: ClassVar[Listeners] = Listeners(event=hear)

    async def ready(self, conditions: Conditions) -> None:
        _require_all(conditions.permissions)
        await super().ready(conditions)

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        _require_all(brief.permissions)
        return await super().work(brief, context)

    def command(self, brief: Brief) -> CommandLine:
        """Sessions have names, which it does not print, so we choose one."""
        name = brief.session or f"untilgreen-{uuid4().hex[:12]}"
        argv = [
            self.program,
            "run",
            "--quiet",
            "--output-format",
            "stream-json",
            "--with-builtin",
            "developer",
        ]
        argv += ["--name", name, *(["--resume"] if brief.session else [])]
        if self.model:
            argv += ["--model", self.model]
        argv += [*self.args, "--instructions", "-"]
        return CommandLine(argv=argv, env={"GOOSE_MODE": "auto"}, stdin=brief.text, session=name)
