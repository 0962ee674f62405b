"""Flags that several verbs share."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from untilgreen.core.model import IN_PLACE, WORKTREE
from untilgreen.engine.store import RunFolder, Store, default_state_dir
from untilgreen.errors import UserError, readable
from untilgreen.surfaces.cli import completing

if TYPE_CHECKING:
    from untilgreen.config.load import Given, Loaded

Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")]
Trust = Annotated[
    bool, Parameter(name="--trust", help="Trust the spec file as it is now, without a question; for scripts.")
]
Run = Annotated[str, Parameter(completer=completing.runs)]
"""A run by id, by the beginning of it, or `@last`; the shell knows them."""


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
        readable(str(start), "The directory's name")
        return start

    def store(self) -> Store:
        """The place of all runs."""
        return Store(self.state_dir or default_state_dir())

    @property
    def flags(self) -> str:
        """What a printed command has to repeat to mean the same runs."""
        return f" --state-dir {shlex.quote(str(self.state_dir.absolute()))}" if self.state_dir else ""

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
            completer=completing.agents,
            help="The agent: claude, codex, 'cmd:./fix.sh'; repeat it to name agents to fall back to.",
        ),
    ] = None
    gate: Annotated[
        list[str] | None,
        Parameter(name=["--gate", "-g"], help="A gate: a command, or name=command. Repeat it for more."),
    ] = None
    strategy: Annotated[
        str | None,
        Parameter(name=["--strategy", "-s"], completer=completing.strategies, help="When to go on."),
    ] = None
    max_iterations: Annotated[str | None, Parameter(help="At most so many laps.")] = None
    max_time: Annotated[str | None, Parameter(help="At most so long, for example 90m or 4h.")] = None
    max_cost: Annotated[str | None, Parameter(help="At most so much money, for example $5.")] = None
    max_tokens: Annotated[str | None, Parameter(help="At most so many tokens, for example 2M.")] = None
    promise: Annotated[
        str | None, Parameter(help="Ask the agent to claim that it is done with this text, such as DONE.")
    ] = None
    yolo: Annotated[
        bool, Parameter(help="Let the agent do everything unasked, not only edit files and run the gates.")
    ] = False
    worktree: Annotated[
        bool, Parameter(help="Work in a worktree of its own; `untilgreen apply` brings the result here.")
    ] = False
    in_place: Annotated[bool, Parameter(help="Work in this directory, whatever the spec says.")] = False
    sandbox: Annotated[
        str | None,
        Parameter(
            help="Keep agent and gates in a sandbox, which writes only to the workspace: bwrap, or none."
        ),
    ] = None
    profile: Annotated[
        str | None, Parameter(completer=completing.profiles, help="Use this profile of the spec.")
    ] = None
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Use this spec file.")] = None
    set: Annotated[
        list[str] | None, Parameter(help="Set a key of the spec: dotted.key=TOML-value. Repeat for more.")
    ] = None

    def load(self, start: Path, task: str | None, *, taskless: bool = False) -> Loaded:
        """The whole spec, from every source."""
        from untilgreen.config.load import Request, load

        return load(
            Request(
                start=start,
                config=self.config and self.config.expanduser().absolute(),
                profile=self.profile,
                flags=self._flags(),
                max_iterations=self.max_iterations,
                sets=self.set or (),
                task=self._task(task),
                taskless=taskless,
                env=os.environ,
            )
        )

    def load_over(self, given: Given, start: Path, task: str | None) -> Loaded:
        """The same flags over what another run was made of, in place of a file."""
        from untilgreen.config.load import Request, load

        if self.config is not None or self.profile is not None:
            raise UserError(
                "A fork begins with the plan of its run, not with a file. Leave --config and --profile out."
            )
        return load(
            Request(
                start=start,
                flags=self._flags(),
                max_iterations=self.max_iterations,
                sets=self.set or (),
                task=self._task(task),
                given=given,
            )
        )

    def _task(self, task: str | None) -> str | None:
        """The argument, a file, or what was piped in."""
        if task is not None and self.file is not None:
            raise UserError("The task was given twice, as an argument and with -f. Keep one.")
        source = Path("-") if task == "-" else self.file
        if source is None:
            return task and readable(task, "The task")
        name = "stdin" if str(source) == "-" else f"The task file {str(source)!r}"
        try:
            data = sys.stdin.buffer.read() if name == "stdin" else source.expanduser().read_bytes()
            return data.decode()
        except OSError as error:
            raise UserError(f"{name} can't be read: {error.strerror}. Name another with -f.") from error
        except UnicodeDecodeError as error:
            raise UserError(
                f"{name} is not UTF-8: {error.reason} at byte {error.start}. Mend that."
            ) from error

    def _flags(self) -> dict[str, Any]:
        flags: dict[str, Any] = {}
        if self.agent:
            flags["agents"] = [readable(each, "The agent") for each in self.agent]
        if self.strategy:
            flags["strategy"] = self.strategy
        if self.promise is not None:
            flags["promise"] = self.promise
        for key, value in (("time", self.max_time), ("cost", self.max_cost), ("tokens", self.max_tokens)):
            if value is not None:
                flags.setdefault("limits", {})[key] = value
        if self.yolo:
            flags["permissions"] = "all"
        if self.gate:
            from untilgreen.config.written import gates_from

            flags["gates"] = gates_from(self.gate)
        if self.sandbox is not None:
            flags["sandbox"] = {"mode": self.sandbox}
        if self.worktree and self.in_place:
            raise UserError("A run works in a worktree or in place. Keep one of --worktree and --in-place.")
        if self.worktree or self.in_place:
            flags["workspace"] = {"mode": WORKTREE if self.worktree else IN_PLACE}
        return flags


HERE = Place()
UNSAID = SpecFlags()
