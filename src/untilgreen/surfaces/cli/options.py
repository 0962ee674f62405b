"""Flags that several verbs share."""

import os
import select
import shlex
import stat
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from untilgreen.core.values.model import IN_PLACE, WORKTREE
from untilgreen.engine.store.runs import Store, default_state_dir
from untilgreen.errors import UnknownRun, UserError, readable
from untilgreen.surfaces.cli import completers

if TYPE_CHECKING:  # what only lists runs reads no journal
    from untilgreen.config.load import Given, Loaded
    from untilgreen.engine.store.folder_record import FolderRecord

FLEET = "UNTILGREEN_FLEET"
"""The variable with the address of a fleet's database."""
OPTIONS = Group("Options", sort_key=1)
PIPE_SECONDS = 2.0
"""How long a task may take to arrive through a pipe."""
MORE = Group("More options", sort_key=2)
"""Options that people rarely need; listed last."""
UNNEGATED = Parameter(negative=(), show_default=False)
"""For subcommands: no `--no-` form, and the help text says the default itself."""

Json = Annotated[bool, Parameter(name="--json", help="Print JSON lines.", group=MORE)]
Trust = Annotated[
    bool, Parameter(name="--trust", help="Trust the spec file without asking; for scripts.", group=MORE)
]
MostRuns = Annotated[int, Parameter(name="--limit", metavar="N", help="Show at most N runs (default: 30).")]
Plain = Annotated[bool, Parameter(help="Print one line per event instead of the live view.", group=MORE)]
Run = Annotated[str, Parameter(completer=completers.runs, help="A run id, a prefix of one, or @last.")]
"""A run as people name it; the shell completes it."""
Gates = Annotated[
    list[str] | None,
    Parameter(
        name=["--gate", "-g"],
        metavar="CMD",
        help="A gate: a command, or NAME=CMD. Repeat for more.",
        group=OPTIONS,
    ),
]
Sandbox = Annotated[
    str | None,
    Parameter(metavar="MODE", help="Sandbox agent and gates: bwrap, docker, podman or none.", group=MORE),
]
Profile = Annotated[
    str | None,
    Parameter(
        completer=completers.profiles, metavar="NAME", help="Use this profile of the spec.", group=MORE
    ),
]
Config = Annotated[
    Path | None,
    Parameter(name=["--config", "-c"], metavar="FILE", help="Use this spec file.", group=MORE),
]
Settings = Annotated[
    list[str] | None,
    Parameter(name="--set", metavar="KEY=VALUE", help="Set a spec key to a TOML value.", group=MORE),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LocalPlace:
    """Where to work, and where runs of this machine are stored."""

    directory: Annotated[
        Path, Parameter(name=["--cd", "-C"], metavar="DIR", help="Work in this directory.", group=MORE)
    ] = Path()
    state_dir: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Store runs here. Default: $UNTILGREEN_STATE_DIR.", group=MORE),
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
        """The store of all runs."""
        return Store(self.state_dir or default_state_dir())

    @property
    def flags(self) -> str:
        """The flags that a printed command has to repeat to mean the same runs."""
        return f" --state-dir {shlex.quote(str(self.state_dir.absolute()))}" if self.state_dir else ""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FleetPlace(LocalPlace):
    """The same, for verbs that also find a fleet's runs."""

    fleet: Annotated[
        bool | None,
        Parameter(
            negative="--no-fleet",
            help="Use the fleet at $UNTILGREEN_FLEET; --no-fleet: never.",
            group=MORE,
        ),
    ] = None

    @property
    def flags(self) -> str:
        """The flags that a printed command has to repeat to mean the same runs."""
        return super().flags + (" --fleet" if self.fleet else "")

    def find(self, run: str, *, snapshots: bool = False) -> "FolderRecord":
        """A run by id, unique prefix or `@last`; a fleet's run has its snapshots only on request.

        Without a flag, `@last` is a run here: a fleet's newest run may be somebody else's.
        """
        if not self.fleet:
            try:
                return self.store().find(run, self.start)
            except UnknownRun:
                if self.fleet is False or not fleet_is_set():
                    raise
        from untilgreen.surfaces.cli.fleet_runs import find

        try:
            return find(run, self.store().state_dir, self.start if snapshots else None)
        except UnknownRun as error:
            if self.fleet:
                raise
            raise UnknownRun(
                f"There is no run {run!r}, neither here nor in the fleet. "
                "`untilgreen list --all` and `untilgreen list --fleet` show all runs."
            ) from error


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Place(FleetPlace):
    """The same, for verbs that also work with the runs of a server."""

    server: Annotated[
        str | None,
        Parameter(metavar="URL", help="Use the runs of the server at this URL.", group=MORE),
    ] = None
    """It is never read: a command line that names a server is parsed by `remote`."""


def fleet_is_set() -> bool:
    """Whether this environment names a fleet."""
    return bool(os.environ.get(FLEET))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ViewFlags:
    """How a run is shown, and whether somebody can answer it."""

    detach: Annotated[
        bool, Parameter(help="Run in the background; survives closing the terminal.", group=OPTIONS)
    ] = False
    json: Json = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], help="Print only the result.", group=MORE)] = (
        False
    )
    verbose: Annotated[
        bool, Parameter(name=["--verbose", "-v"], help="Also print what the agent prints.", group=MORE)
    ] = False
    plain: Plain = False
    no_input: Annotated[bool, Parameter(help="Never wait for a person.", group=MORE)] = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GateFlags:
    """The part of a spec that a command without an agent uses."""

    gate: Gates = None
    sandbox: Sandbox = None
    profile: Profile = None
    config: Config = None
    set: Settings = None

    @property
    def spec(self) -> "SpecFlags":
        """The same as flags of a run."""
        return SpecFlags(**{each.name: getattr(self, each.name) for each in fields(self)})


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanFlags:
    """Every part of a spec that has a flag."""

    agent: Annotated[
        list[str] | None,
        Parameter(
            name=["--agent", "-a"],
            completer=completers.agents,
            metavar="NAME",
            help="claude, codex, 'cmd:./fix.sh'; repeat for fallbacks.",
            group=OPTIONS,
        ),
    ] = None
    model: Annotated[
        str | None,
        Parameter(name=["--model", "-m"], metavar="NAME", help="The agent's model.", group=OPTIONS),
    ] = None
    gate: Gates = None
    max_iterations: Annotated[
        str | None, Parameter(metavar="N", help="Maximum number of laps (default: 20).", group=OPTIONS)
    ] = None
    max_time: Annotated[
        str | None, Parameter(metavar="TIME", help="Maximum time, such as 90m (default: 4h).", group=OPTIONS)
    ] = None
    max_cost: Annotated[
        str | None,
        Parameter(metavar="USD", help="Maximum cost, such as 5 (default: no limit).", group=OPTIONS),
    ] = None
    worktree: Annotated[
        bool, Parameter(help="Work in a git worktree; `untilgreen apply` merges it.", group=OPTIONS)
    ] = False
    max_tokens: Annotated[
        str | None, Parameter(metavar="N", help="Maximum number of tokens, such as 2M.", group=MORE)
    ] = None
    strategy: Annotated[
        str | None,
        Parameter(
            name=["--strategy", "-s"],
            completer=completers.strategies,
            metavar="NAME",
            help="hybrid (default), fixed, ralph, manual or adaptive.",
            group=MORE,
        ),
    ] = None
    promise: Annotated[
        str | None,
        Parameter(metavar="TEXT", help="Text with which the agent says that it is done.", group=MORE),
    ] = None
    yolo: Annotated[bool, Parameter(help="Let the agent do everything without asking.", group=MORE)] = False
    in_place: Annotated[
        bool, Parameter(help="Work in this directory even if the spec says worktree.", group=MORE)
    ] = False
    sandbox: Sandbox = None
    file: Annotated[
        Path | None,
        Parameter(
            name=["--file", "-f"], metavar="FILE", help="Read the task from a file; - is stdin.", group=MORE
        ),
    ] = None
    set: Settings = None

    def load_over(self, given: "Given", start: Path, task: str | None) -> "Loaded":
        """These flags on top of another run's plan instead of a file."""
        from untilgreen.config.load import Request, load

        return load(
            Request(
                start=start,
                flags=self._flags(),
                max_iterations=self.max_iterations,
                sets=self._sets(),
                task=self._task(task),
                given=given,
            )
        )

    def _task(self, task: str | None) -> str | None:
        """The argument, a file, or what was piped in."""
        if task is not None and self.file is not None:
            raise UserError("The task was given twice, as an argument and with -f. Keep one of them.")
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
                f"{name} is not UTF-8: {error.reason} at byte {error.start}. Fix that."
            ) from error

    def _sets(self) -> list[str]:
        """The settings of --set, and --model as one of them."""
        if self.model is None:
            return [*(self.set or ())]
        import json

        return [f"agent.model={json.dumps(self.model)}", *(self.set or ())]

    def _flags(self) -> dict[str, Any]:
        flags: dict[str, Any] = {}
        if self.agent:
            flags["agents"] = [_agent(each) for each in self.agent]
        if self.strategy:
            flags["strategy"] = self.strategy
        if self.promise is not None:
            flags["promise"] = self.promise
        limits = (("time", _seconds(self.max_time)), ("cost", self.max_cost), ("tokens", self.max_tokens))
        for key, value in limits:
            if value is not None:
                flags.setdefault("limits", {})[key] = value
        if self.yolo:
            flags["permissions"] = "all"
        if self.gate:
            from untilgreen.config.sources.from_text import gates_from

            flags["gates"] = gates_from(self.gate)
        if self.sandbox is not None:
            flags["sandbox"] = {"mode": self.sandbox}
        if self.worktree and self.in_place:
            raise UserError("--worktree and --in-place can't be combined. Keep one of them.")
        if self.worktree or self.in_place:
            flags["workspace"] = {"mode": WORKTREE if self.worktree else IN_PLACE}
        return flags


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SpecFlags(PlanFlags):
    """The same, and the spec file below it."""

    profile: Profile = None
    config: Config = None

    def piped_task(self, start: Path) -> str | None:
        """The task from a pipe, as in `echo TASK | untilgreen run`, if it is given nowhere else."""
        if self.file is not None or not _piped_to():
            return None
        return None if self.load(start, None, taskless=True).spec.task else sys.stdin.read() or None

    def load(self, start: Path, task: str | None, *, taskless: bool = False) -> "Loaded":
        """The whole spec, from every source."""
        from untilgreen.config.load import Request, load

        return load(
            Request(
                start=start,
                config=self.config and self.config.expanduser().absolute(),
                profile=self.profile,
                flags=self._flags(),
                max_iterations=self.max_iterations,
                sets=self._sets(),
                task=self._task(task),
                taskless=taskless,
                env=os.environ,
            )
        )


def _piped_to() -> bool:
    """Whether stdin is a file or a pipe with something in it; an idle pipe must not block a run."""
    mode = os.fstat(sys.stdin.fileno()).st_mode if sys.stdin is not None else 0
    if stat.S_ISREG(mode):
        return True
    return stat.S_ISFIFO(mode) and bool(select.select([sys.stdin], [], [], PIPE_SECONDS)[0])


def _seconds(written: str | None) -> float | str | None:
    """A plain number is seconds; everything else is for the spec to read."""
    return float(written) if written is not None and written.strip().isdecimal() else written


def _agent(written: str) -> Any:
    """A name, or a table such as `{ use = "claude", model = "opus" }`."""
    from untilgreen.config.sources.from_text import toml_value

    readable(written, "The agent")
    return toml_value(written) if written.lstrip().startswith("{") else written


HERE = Place()
NO_FLAGS = SpecFlags()
NO_PLAN_FLAGS = PlanFlags()
NO_GATE_FLAGS = GateFlags()
NO_VIEW_FLAGS = ViewFlags()
