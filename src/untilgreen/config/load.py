"""From file, profile, environment and flags to one spec; the later layer wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untilgreen.config.ceiling import add_ceiling
from untilgreen.config.find import find, read
from untilgreen.config.layers import Layers, Source
from untilgreen.config.parse import parse
from untilgreen.config.profiles import Profiles, split
from untilgreen.config.schema import Spec, SpecFile
from untilgreen.config.written import assignment, value_of
from untilgreen.errors import ConfigError, nearest

PREFIX = "UNTILGREEN_"
SETTINGS = frozenset({"STATE_DIR", "AGENTS_DIR", "CONFIG", "PROFILE", "DEBUG", "ASCII", "PLAIN"})
"""Variables that people set and that are no keys of the spec."""
NEWS = frozenset(f"NEWS_{name}" for name in ("KIND", "RUN", "TASK", "TEXT", "OUTCOME", "COMMAND"))
MARKS = frozenset({"INSIDE", "TREE", "USAGE_FILE", "AGENT_SESSION"}) | NEWS
"""Variables that a run sets for what it starts."""
ARMED = frozenset({"CRASH_AT"})
"""Variables that only tests set."""
FLAGS = Source("the command line")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asked for, before the spec is looked at."""

    start: Path
    config: Path | None = None
    profile: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    max_iterations: str | None = None
    sets: Sequence[str] = ()
    task: str | None = None
    taskless: bool = False
    """Whether the spec is only looked at, so that nothing has to be wanted."""
    env: Mapping[str, str] = field(default_factory=dict)
    search: bool = True
    """Whether the spec of the directory is looked for, where none is named."""
    given: Given | None = None
    """What stands in place of a file, such as the plan of another run; then no file is looked for."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """Values that are no file, who says them, and the directory their paths are relative to."""

    values: Mapping[str, Any]
    name: str
    base: Path


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A spec, where each of its values came from, and the directory its paths are relative to."""

    spec: Spec
    layers: Layers
    base: Path
    path: Path | None
    written: Mapping[str, Any] = field(default_factory=dict)
    """All that the file says, its profiles included."""


def load(request: Request) -> Loaded:
    """Read every source and check the whole."""
    given = request.given
    path, shown = _spec_file(request) if given is None else (None, "")
    layers, profiles = Layers(), Profiles({}, Source(""))
    written: Mapping[str, Any] = {}
    if path is not None:
        written, source = read(path, shown)
        common, profiles = split(written, source)
        layers.add(common, source)
    if given is not None:
        layers.add(given.values, Source(given.name))
    _add_profile(layers, profiles, request)
    _add_environment(layers, request.env)
    layers.add(request.flags, FLAGS)
    sets = [_add_set(layers, written) for written in request.sets]
    if request.max_iterations is not None:
        add_ceiling(layers, request.max_iterations, spared=sets)
    base = given.base if given else path.parent if path else request.start.absolute()
    spec = parse(layers, _task(request, layers, base), needed=not request.taskless)
    return Loaded(spec=spec, layers=layers, base=base, path=path, written=written)


def _spec_file(request: Request) -> tuple[Path | None, str]:
    """The file, absolute, and how errors call it."""
    from_env = request.env.get(f"{PREFIX}CONFIG")
    if request.config is not None:
        return _expanded(request.config).absolute(), str(request.config)
    if from_env:
        return _expanded(Path(from_env)).absolute(), f"{from_env} (from {PREFIX}CONFIG)"
    path = find(request.start) if request.search else None
    if path is None:
        return None, ""
    return path, path.name if path.parent == request.start.absolute() else str(path)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # nobody of that name has a home
        return path


def _add_profile(layers: Layers, profiles: Profiles, request: Request) -> None:
    name = request.profile or request.env.get(f"{PREFIX}PROFILE")
    if not name:
        return
    if name not in profiles.tables:
        said = "" if request.profile else f", which {PREFIX}PROFILE asks for"
        way_out = nearest(name, profiles.tables) if profiles.tables else f"Add [profiles.{name}] to the spec."
        raise ConfigError(f"There is no profile {name!r}{said}. {way_out}")
    for values, source in profiles.layers(name):
        layers.add(values, source)


def _add_environment(layers: Layers, env: Mapping[str, str]) -> None:
    """`UNTILGREEN_LIMITS__COST` is the key limits.cost; a variable that is set to nothing is not set."""
    for variable, text in sorted(env.items()):
        name = variable.removeprefix(PREFIX)
        if name == variable or name in SETTINGS | MARKS | ARMED or not text:
            continue
        path = tuple(name.lower().split("__"))
        if path[0] not in SpecFile.__struct_fields__:
            keys = [*SETTINGS, *(key.upper() for key in SpecFile.__struct_fields__)]
            close = nearest(variable, [PREFIX + key for key in keys])
            raise ConfigError(f"The variable {variable} is no key of the spec. {close}")
        layers.set(path, value_of(path, text), Source(f"the variable {variable}"))


def _add_set(layers: Layers, written: str) -> Source:
    path, value = assignment(written)
    source = Source(f"--set {'.'.join(path)}")
    layers.set(path, value, source)
    return source


def _task(request: Request, layers: Layers, base: Path) -> str | None:
    """What was asked for on the spot, or the content of `task_file`."""
    if request.task is not None:
        if not request.task.strip():
            raise ConfigError("The task that was given is empty. Say what is wanted, or give no task there.")
        return request.task
    name = layers.values.get("task_file")
    if not isinstance(name, str) or "task" in layers.values:
        return None
    try:
        text = (base / _expanded(Path(name))).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise layers.error(
            ("task_file",), f"task_file = {name!r} can't be read: {why}. Correct it, or give the task itself."
        ) from error
    if not text.strip():
        raise layers.error(("task_file",), f"task_file = {name!r} is empty. Say in it what is wanted.")
    return text
