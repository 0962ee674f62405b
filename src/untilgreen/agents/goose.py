"""Goose: a stream of JSON objects behind a banner; it exits with 0 whatever happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid4

from untilgreen.agents.cli import About, CommandLine, Ears, take_turn
from untilgreen.agents.homes import ITSELF, PROVIDERS, Home
from untilgreen.agents.stream import Said
from untilgreen.agents.turn import Turn
from untilgreen.core.brief import Brief
from untilgreen.core.model import Reply, Usage
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Desk

ABOUT = About(
    install="npm install -g @aaif/goose",
    login="Run `goose configure`, or set GOOSE_PROVIDER and your provider's key.",
    fenced="nothing: a run is refused, since it knows all or nothing; permit everything with --yolo",
    permit="Permit everything with --yolo.",
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


@dataclass(frozen=True, kw_only=True)
class Goose:
    """Drives Goose; it knows no rules for single commands, so it works only with everything permitted."""

    model: str | None = None
    program: str = "goose"
    args: tuple[str, ...] = ()
    streams: ClassVar[bool] = True
    about: ClassVar[About] = ABOUT

    async def work(self, brief: Brief, desk: Desk) -> Reply:
        if brief.permissions != "all":
            raise AgentUnavailable(
                "Goose can't be kept to editing files and running the gates: it knows all or nothing. "
                "Permit everything with --yolo, or use another agent."
            )
        return await take_turn(ABOUT, self.command, brief, desk, Ears(event=hear))

    def command(self, brief: Brief) -> CommandLine:
        """Sessions go by name, which it does not print, so we choose it."""
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


def hear(event: Said, turn: Turn) -> None:
    """One event; a failure is told in words, as if the agent had said it."""
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


def _block(block: Said, turn: Turn) -> None:
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
