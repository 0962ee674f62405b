"""Any command as an agent: `cmd:./fix.sh` gets the brief, changes files, and its output is the reply."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from untilgreen.agents.kit.readiness import Conditions, check_installed
from untilgreen.agents.kit.run_cli import Ran, run_cli, split_command
from untilgreen.core.briefing.brief import Brief
from untilgreen.core.values.model import Reply, Usage, cost_source
from untilgreen.core.values.option_checks import about
from untilgreen.errors import ConfigError
from untilgreen.ports import Activity, Mount, TurnContext
from untilgreen.process.scratch_directory import private_directory
from untilgreen.regex import regex

USAGE_FILE = "UNTILGREEN_USAGE_FILE"
"""The variable with the path of a file in which the command may report its usage, as JSON."""
SESSION = "UNTILGREEN_AGENT_SESSION"
"""The variable with the session that the command reported in the lap before, if the run continues it."""
_PLACE = regex(r"\{(prompt|prompt_file)\}")
_OPERATORS = "();<>|&"
_LAST_LINES = 20
_LONGEST_USAGE = 65_536
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Used(msgspec.Struct, frozen=True, kw_only=True):
    """The format of the usage file."""

    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cached_tokens: _Count = 0
    cost: Annotated[float, msgspec.Meta(ge=0)] | None = None
    session: str | None = None


@dataclass(frozen=True)
class CommandAgent:
    """Starts a command without a shell; the brief is passed on stdin, or as {prompt} or {prompt_file}."""

    command: Annotated[str, about("The command; it is split into words, and no shell is started.")]

    def __post_init__(self) -> None:
        if not split_command(self.command):
            raise ConfigError("The agent command is empty. Write one after 'cmd:', as in 'cmd:./fix.sh'.")
        if operator := _operator(self.command):
            raise ConfigError(
                f"The agent command {self.command!r} contains {operator!r}, which only a shell understands, "
                f"but no shell is started. To use one, write cmd:sh -c {shlex.quote(self.command)}"
            )

    async def ready(self, conditions: Conditions) -> None:
        """Check that the program exists; anything else it needs is up to the user."""
        check_installed(None, split_command(self.command)[0], conditions)

    async def work(self, brief: Brief, context: TurnContext) -> Reply:
        with private_directory("turn", context.tree, outside=context.root) as private:
            prompt_file, usage_file = private / "prompt.md", private / "usage.json"
            argv, placed = self._arguments(brief.text, prompt_file)
            env = {USAGE_FILE: str(usage_file)} | ({SESSION: brief.session} if brief.session else {})
            sandbox = context.sandbox and context.sandbox.opened(Mount(path=private, way="write"))
            ran = await run_cli(
                argv,
                msgspec.structs.replace(context, sandbox=sandbox),
                stdin=None if placed else brief.text,
                env=env,
            )
            used = _used(usage_file, context.report)
        return _reply(ran, used, context)

    def _arguments(self, prompt: str, prompt_file: Path) -> tuple[list[str], bool]:
        """The words of the command with the brief filled in, and whether it had a place for it."""
        text = prompt.encode(errors="replace").replace(b"\0", b"").decode()
        values = {"prompt": text, "prompt_file": str(prompt_file)}
        words = split_command(self.command)
        places = {place for word in words for place in _PLACE.findall(word)}
        if "prompt_file" in places:
            prompt_file.touch(mode=0o600)
            prompt_file.write_text(text, encoding="utf-8")
        return [_PLACE.sub(lambda found: values[found[1]], word) for word in words], bool(places)


def _operator(command: str) -> str | None:
    """The first unquoted word that is a shell operator."""
    words = shlex.shlex(re.sub(r"\\.", "_", command), punctuation_chars=True)  # which keeps the quotes
    words.whitespace_split, words.commenters = True, ""
    return next((word for word in words if not word.strip(_OPERATORS)), None)


def _used(path: Path, report: Callable[[Activity], None]) -> _Used:
    """The reported usage; an invalid file doesn't fail the turn."""
    try:
        if not path.is_file():
            return _Used()
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_LONGEST_USAGE), type=_Used)
    except (OSError, ValueError, RecursionError) as error:
        report(Activity(kind="note", text=f"The command's usage file was ignored: {error}."))
        return _Used()


def _reply(ran: Ran, used: _Used, context: TurnContext) -> Reply:
    usage = Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cached_tokens,
        cost=used.cost,
        source=cost_source(used.cost),
    )
    reply = Reply(text=ran.stdout, usage=usage, session=used.session, exit_code=ran.status)
    if ran.stalled:
        return msgspec.structs.replace(
            reply, error="stalled", detail=f"no output for {context.silence:g} seconds"
        )
    if ran.status != 0:
        last = "\n".join(ran.stderr.splitlines()[-_LAST_LINES:])
        return msgspec.structs.replace(reply, error="crash", detail=f"{ran.ending}\n{last}".strip())
    return reply
