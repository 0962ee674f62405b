"""Flags that several verbs share."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from untilgreen.config.load import Loaded, Request, load
from untilgreen.engine.store import RunFolder, Store, default_state_dir
from untilgreen.errors import UserError

_NAMED_GATE = re.compile(r"([A-Za-z][\w-]*)=(.*)", re.DOTALL)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to work, and where runs are kept."""

    directory: Annotated[Path, Parameter(name=["--cd", "-C"], help="Work in this directory.")] = Path()
    state_dir: Annotated[
        Path | None,
        Parameter(help="Keep runs here. Default: $UNTILGREEN_STATE_DIR, else the user's state directory."),
    ] = None

    @property
    def start(self) -> Path:
        """The directory, checked."""
        start = self.directory.expanduser().resolve()
        if not start.is_dir():
            raise UserError(f"There is no directory {str(self.directory)!r}. Name another with -C.")
        return start

    def store(self) -> Store:
        """The place of all runs."""
        return Store(self.state_dir or default_state_dir())

    def find(self, run: str) -> RunFolder:
        """A run by id, unique prefix or `@last`."""
        return self.store().find(run, self.start)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SpecFlags:
    """What can be said about a run without a file."""

    file: Annotated[
        Path | None, Parameter(name=["--file", "-f"], help="Read the task from this file; - is stdin.")
    ] = None
    agent: Annotated[
        list[str] | None,
        Parameter(
            name=["--agent", "-a"],
            help="The agent, for example 'cmd:./fix.sh'; repeat it to name agents to fall back to.",
        ),
    ] = None
    gate: Annotated[
        list[str] | None,
        Parameter(name=["--gate", "-g"], help="A gate: a command, or name=command. Repeat it for more."),
    ] = None
    strategy: Annotated[str | None, Parameter(name=["--strategy", "-s"], help="When to go on.")] = None
    max_iterations: Annotated[str | None, Parameter(help="At most so many laps.")] = None
    max_time: Annotated[str | None, Parameter(help="At most so long, for example 90m or 4h.")] = None
    max_cost: Annotated[str | None, Parameter(help="At most so much money, for example $5.")] = None
    max_tokens: Annotated[str | None, Parameter(help="At most so many tokens, for example 2M.")] = None
    promise: Annotated[
        str | None, Parameter(help="Ask the agent to claim that it is done with this text, such as DONE.")
    ] = None
    profile: Annotated[str | None, Parameter(help="Use this profile of the spec.")] = None
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Use this spec file.")] = None
    set: Annotated[
        list[str] | None, Parameter(help="Set a key of the spec: dotted.key=TOML-value. Repeat for more.")
    ] = None

    def load(self, start: Path, task: str | None) -> Loaded:
        """The whole spec, from every source."""
        return load(
            Request(
                start=start,
                config=self.config,
                profile=self.profile,
                flags=self._flags(),
                max_iterations=self.max_iterations,
                sets=self.set or (),
                task=self._task(task),
                env=os.environ,
            )
        )

    def _task(self, task: str | None) -> str | None:
        """The argument, a file, or what was piped in."""
        if task is not None and self.file is not None:
            raise UserError("The task was given twice, as an argument and with -f. Keep one.")
        if self.file is not None and str(self.file) != "-":
            try:
                return self.file.expanduser().read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"The task file {str(self.file)!r} can't be read: {error}.") from error
        if task == "-" or (self.file is not None and str(self.file) == "-"):
            return sys.stdin.read()
        return task

    def _flags(self) -> dict[str, Any]:
        flags: dict[str, Any] = {}
        if self.agent:
            flags["agents"] = list(self.agent)
        if self.strategy:
            flags["strategy"] = self.strategy
        if self.promise is not None:
            flags["promise"] = self.promise
        for key, value in (("time", self.max_time), ("cost", self.max_cost), ("tokens", self.max_tokens)):
            if value is not None:
                flags.setdefault("limits", {})[key] = value
        for written in self.gate or ():
            named = _NAMED_GATE.fullmatch(written)
            name, command = (named[1], named[2]) if named else (written, written)
            flags.setdefault("gates", {})[name] = {"run": command}
        return flags


HERE = Place()
UNSAID = SpecFlags()
