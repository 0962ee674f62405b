"""From file, profile, environment and flags to one spec; the later layer wins."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untilgreen.config.find import find, read
from untilgreen.config.layers import Layers, Source
from untilgreen.config.schema import Spec, SpecFile, parse
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.errors import ConfigError, nearest

PREFIX = "UNTILGREEN_"
NOT_KEYS = frozenset(
    {"STATE_DIR", "CONFIG", "PROFILE", "INSIDE", "TREE", "DEBUG", "AGENTS_DIR", "USAGE_FILE"}
)
"""Variables of ours that are no keys of the spec."""
FLAGS = Source("the command line")
CEILINGS = {"fixed": "iterations", "ralph": "max"}
"""The option with which a strategy bounds itself; hybrid keeps its base laps and fills up with bonus laps."""
HYBRID_BASE = Hybrid().base


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
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A spec, where each of its values came from, and the directory its paths are relative to."""

    spec: Spec
    layers: Layers
    base: Path
    path: Path | None


def load(request: Request) -> Loaded:
    """Read every source and check the whole."""
    path = request.config or _from_env(request, "CONFIG") or find(request.start)
    if path is not None and not path.is_file():
        raise ConfigError(f"There is no spec at {path}. Create one with `untilgreen init`, or drop --config.")
    layers, base = Layers(), path.parent if path else request.start
    values: dict[str, Any] = {}
    if path is not None:
        values, source = read(path)
        layers.add({key: value for key, value in values.items() if key != "profiles"}, source)
        layers.add({"profiles": values.get("profiles", {})} if "profiles" in values else {}, source)
    profile = request.profile or request.env.get(f"{PREFIX}PROFILE")
    if profile:
        _add_profile(layers, values, profile)
    _add_environment(layers, request.env)
    layers.add(request.flags, FLAGS)
    if request.max_iterations is not None:
        _add_ceiling(layers, _toml_value(request.max_iterations))
    for written in request.sets:
        _add_set(layers, written)
    return Loaded(
        spec=parse(layers, request.task or _task_file(layers, base)), layers=layers, base=base, path=path
    )


def _from_env(request: Request, name: str) -> Path | None:
    value = request.env.get(PREFIX + name)
    return Path(value) if value else None


def _add_profile(layers: Layers, values: Mapping[str, Any], name: str) -> None:
    """A profile may extend others; the one that was asked for comes last."""
    profiles = values.get("profiles", {})
    chain: list[str] = []
    wanted: str | None = name
    while wanted is not None:
        if wanted in chain:
            raise layers.error(
                ("profiles", name), f"profile {name!r} extends itself: {' → '.join([*chain, wanted])}."
            )
        if not isinstance(profiles, Mapping) or wanted not in profiles:
            raise ConfigError(f"There is no profile {wanted!r}. {nearest(wanted, profiles)}")
        chain.append(wanted)
        wanted = profiles[wanted].get("extends")
    for each in reversed(chain):
        table = {key: value for key, value in profiles[each].items() if key != "extends"}
        source = layers.source(("profiles", each)) or FLAGS
        prefix = (*source.prefix, "profiles", each)
        layers.add(table, Source(f"{source.name} [profiles.{each}]", source.path, source.text, prefix))


def _add_environment(layers: Layers, env: Mapping[str, str]) -> None:
    """`UNTILGREEN_LIMITS__COST` is the key limits.cost."""
    for variable, value in sorted(env.items()):
        if not variable.startswith(PREFIX) or variable[len(PREFIX) :] in NOT_KEYS or not value:
            continue
        path = tuple(variable[len(PREFIX) :].lower().split("__"))
        if path[0] not in SpecFile.__struct_fields__:
            known = [f"{PREFIX}{key.upper()}" for key in SpecFile.__struct_fields__]
            raise ConfigError(f"The variable {variable} is no key of the spec. {nearest(variable, known)}")
        layers.set(path, _toml_value(value), Source(f"the variable {variable}"))


def _add_ceiling(layers: Layers, most: Any) -> None:
    """`--max-iterations` is the limit and the strategy's own ceiling in one."""
    source = Source("--max-iterations")
    layers.set(("limits", "iterations"), most, source)
    written = layers.values.get("strategy", "hybrid")
    table = {} if isinstance(written, str) else written
    name = written if isinstance(written, str) else written.get("use")
    if not isinstance(most, int) or most < 1:
        return
    if name in CEILINGS:
        layers.set(("strategy", CEILINGS[name]), most, source)
    elif name == "hybrid":
        base = min(int(table.get("base", HYBRID_BASE)), most)
        layers.set(("strategy", "base"), base, source)
        layers.set(("strategy", "bonus"), most - base, source)


def _add_set(layers: Layers, written: str) -> None:
    key, equals, value = written.partition("=")
    path = _dotted(key.strip())
    if not equals or not path:
        raise ConfigError(f"--set {written!r} is not key=value. Write it like --set limits.iterations=12.")
    layers.set(path, _toml_value(value.strip()), Source(f"--set {key.strip()}"))


def _dotted(key: str) -> tuple[str, ...]:
    """Split as TOML does, so that a quoted part may have dots."""
    try:
        table = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    inner: Any = table
    while isinstance(inner, dict):
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)


def _toml_value(text: str) -> Any:
    """A TOML value, or the text itself where it is none: `--set strategy=fixed` needs no quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _task_file(layers: Layers, base: Path) -> str | None:
    name = layers.values.get("task_file")
    if not isinstance(name, str):
        return None
    try:
        return (base / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise layers.error(("task_file",), f"task_file = {name!r} can't be read: {error}.") from error
