"""One spec from file, profile, environment and flags; later layers win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from untilgreen.config.checks.parse import parse
from untilgreen.config.max_iterations import add_ceiling, lift_ceiling
from untilgreen.config.profiles import Profiles, split
from untilgreen.config.sources.find import find, read
from untilgreen.config.sources.from_text import assignment, value_of
from untilgreen.config.sources.layers import Layers, Source
from untilgreen.config.spec.schema import Spec, SpecFile
from untilgreen.errors import ConfigError, nearest

PREFIX = "UNTILGREEN_"
SETTINGS = frozenset(
    {"STATE_DIR", "FLEET", "SERVER_TOKEN", "AGENTS_DIR", "CONFIG", "PROFILE", "DEBUG", "ASCII", "PLAIN"}
)
"""Variables for users that are not keys of the spec."""
NEWS = frozenset(f"NEWS_{name}" for name in ("KIND", "RUN", "TASK", "TEXT", "OUTCOME", "COMMAND"))
MARKS = frozenset({"INSIDE", "TREE", "USAGE_FILE", "AGENT_SESSION"}) | NEWS
"""Variables that a run sets for the processes it starts."""
ARMED = frozenset({"CRASH_AT"})
"""Variables that only tests set."""
FLAGS = Source("command line")


class Request(Struct, frozen=True, kw_only=True):
    """What the user asked for, before the spec is read."""

    start: Path
    config: Path | None = None
    profile: str | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    max_iterations: str | None = None
    sets: Sequence[str] = ()
    task: str | None = None
    taskless: bool = False
    """Whether the spec is only shown, so no task is needed."""
    env: Mapping[str, str] = field(default_factory=dict)
    search: bool = True
    """Whether to look for the directory's spec if none is named."""
    given: Given | None = None
    """Values instead of a file, such as the plan of another run; then no file is read."""


class Given(Struct, frozen=True, kw_only=True):
    """Values that do not come from a file, their source, and the directory that their paths start from."""

    values: Mapping[str, Any]
    name: str
    base: Path


class Loaded(Struct, frozen=True, kw_only=True):
    """A spec, the source of each value, and the directory that its paths start from."""

    spec: Spec
    layers: Layers
    base: Path
    path: Path | None
    written: Mapping[str, Any] = field(default_factory=dict)
    """The whole content of the file, profiles included."""


def load(request: Request) -> Loaded:
    """Read every source and check the result."""
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
    lift_ceiling(layers)
    base = given.base if given else path.parent if path else request.start.absolute()
    spec = parse(layers, _task(request, layers, base), needed=not request.taskless)
    return Loaded(spec=spec, layers=layers, base=base, path=path, written=written)


def _spec_file(request: Request) -> tuple[Path | None, str]:
    """The absolute path, and the name that errors use."""
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
    except RuntimeError:  # no such user
        return path


def _add_profile(layers: Layers, profiles: Profiles, request: Request) -> None:
    name = request.profile or request.env.get(f"{PREFIX}PROFILE")
    if not name:
        return
    if name not in profiles.tables:
        said = "" if request.profile else f" (from {PREFIX}PROFILE)"
        way_out = nearest(name, profiles.tables) if profiles.tables else f"Add [profiles.{name}] to the spec."
        raise ConfigError(f"There is no profile {name!r}{said}. {way_out}")
    for values, source in profiles.layers(name):
        layers.add(values, source)


def _add_environment(layers: Layers, env: Mapping[str, str]) -> None:
    """`UNTILGREEN_LIMITS__COST` is the key limits.cost; an empty variable counts as not set."""
    for variable, text in sorted(env.items()):
        name = variable.removeprefix(PREFIX)
        if name == variable or name in SETTINGS | MARKS | ARMED or not text:
            continue
        path = tuple(name.lower().split("__"))
        if path[0] not in SpecFile.__struct_fields__:
            keys = [*SETTINGS, *(key.upper() for key in SpecFile.__struct_fields__)]
            close = nearest(variable, [PREFIX + key for key in keys])
            raise ConfigError(f"The variable {variable} doesn't match any spec key. {close}")
        layers.set(path, value_of(path, text), Source(f"variable {variable}"))


def _add_set(layers: Layers, written: str) -> Source:
    path, value = assignment(written)
    source = Source(f"--set {'.'.join(path)}")
    layers.set(path, value, source)
    return source


def _task(request: Request, layers: Layers, base: Path) -> str | None:
    """The task of the request, or the content of `task_file`."""
    if request.task is not None:
        if not request.task.strip():
            raise ConfigError("The task is empty. Describe what you want done.")
        return request.task
    name = layers.values.get("task_file")
    if not isinstance(name, str) or "task" in layers.values:
        return None
    try:
        text = (base / _expanded(Path(name))).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise layers.error(
            ("task_file",),
            f"task_file = {name!r} can't be read: {why}. Correct the path, or give the task itself.",
        ) from error
    if not text.strip():
        raise layers.error(
            ("task_file",), f"task_file = {name!r} is empty. Describe in it what you want done."
        )
    return text
