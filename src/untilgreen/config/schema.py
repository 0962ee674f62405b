"""What a spec may say: every key, its type, and the error for anything else."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct, field

from untilgreen.config.layers import Layers
from untilgreen.core.defaults import DETECTORS
from untilgreen.core.limits import Limits
from untilgreen.core.model import GateSpec, OnFail, PartSpec, When
from untilgreen.core.remedies import RUNGS, Rung
from untilgreen.core.units import UNLIMITED, duration
from untilgreen.errors import ConfigError, nearest

T = TypeVar("T")
Part = str | dict[str, Any]
GATE_NAME = re.compile(r"[^\n\r\t]{1,200}")
GATE_TIMEOUT = 600.0
_AT = re.compile(r"(?P<what>.*?) - at `\$(?P<path>.*)`$")


class SpecFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The spec as it is written; the published schema is made from this."""

    task: str | None = None
    task_file: str | None = None
    agent: Part | None = None
    agents: list[Part] = field(default_factory=list)
    strategy: Part = "hybrid"
    detectors: list[Part] = field(default_factory=lambda: list[Part](DETECTORS))
    remedies: list[Rung] = field(default_factory=lambda: list(RUNGS))
    session: Literal["fresh", "continue"] = "fresh"
    workspace: Part = "in-place"
    leave: Literal["best", "last"] = "best"
    on_interrupt: Literal["keep", "rewind"] = "keep"
    promise: str | None = None
    baseline: bool = True
    notify: list[Part] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    gates: dict[str, dict[str, Any]] = field(default_factory=dict)


class GateRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every gate has, whatever it checks."""

    kind: str | None = None
    use: str | None = None
    required: bool = True
    stage: int = 1
    on_fail: OnFail = "iterate"
    when: When = "always"
    timeout: float | str = GATE_TIMEOUT
    retries: int = 0
    max_attempts: int | None = None


class CommandTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a command gate has beside that."""

    run: str
    report: str | None = None
    expect: int = 0
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None


class Spec(Struct, frozen=True, kw_only=True):
    """A spec that was read and makes sense by itself; names are not resolved yet."""

    task: str
    agents: tuple[PartSpec, ...]
    strategy: PartSpec
    detectors: tuple[PartSpec, ...]
    notify: tuple[PartSpec, ...]
    gates: tuple[GateSpec, ...]
    limits: Limits
    workspace: dict[str, Any]
    file: SpecFile


def parse(layers: Layers, task: str | None) -> Spec:
    """Check every key, and say for the first wrong one where it stands and what was probably meant."""
    known = {name.name: name for name in msgspec.structs.fields(SpecFile)}
    for key, value in layers.values.items():
        if key == "profiles":
            continue
        if key not in known:
            raise layers.error((key,), f"there is no key {key!r}. {nearest(key, [*known, 'profiles'])}")
        _typed(layers, (key,), value, known[key].type)
    values = {key: value for key, value in layers.values.items() if key != "profiles"}
    file = msgspec.convert(values, SpecFile)
    wanted = (task or file.task or "").strip()
    if not wanted:
        raise ConfigError(
            "There is no task. Give it as an argument, with -f FILE, on stdin, or as `task` in the spec."
        )
    agents = file.agents or ([file.agent] if file.agent else [])
    return Spec(
        task=wanted,
        agents=_distinct(tuple(part(each) for each in agents)),
        strategy=part(file.strategy),
        detectors=tuple(part(each) for each in file.detectors),
        notify=tuple(part(each) for each in file.notify),
        gates=tuple(_gate(layers, name, table) for name, table in file.gates.items()),
        limits=_limits(layers, file.limits),
        workspace={"mode": file.workspace} if isinstance(file.workspace, str) else file.workspace,
        file=file,
    )


def part(written: Part) -> PartSpec:
    """A plugin by name, or a table with `use` and its options; `cmd:` is the command agent."""
    options = {} if isinstance(written, str) else dict(written)
    name = written if isinstance(written, str) else options.pop("use", None)
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{written!r} names no plugin. Write a name, or a table with the key `use`.")
    kind, colon, rest = name.partition(":")
    if colon and kind in ("cmd", "command", "webhook"):
        option = "url" if kind == "webhook" else "command"
        use = "webhook" if kind == "webhook" else "command"
        return PartSpec(name=name, use=use, options={option: rest.strip(), **options})
    return PartSpec(name=name, options=options)


def _distinct(parts: tuple[PartSpec, ...]) -> tuple[PartSpec, ...]:
    """The same agent twice, with other options, gets a number."""
    seen: dict[str, int] = {}
    named = []
    for each in parts:
        seen[each.name] = seen.get(each.name, 0) + 1
        again = seen[each.name] > 1
        name = f"{each.name}#{seen[each.name]}" if again else each.name
        named.append(PartSpec(name=name, use=each.use or (each.name if again else ""), options=each.options))
    return tuple(named)


def _limits(layers: Layers, written: dict[str, Any]) -> Limits:
    known = [each.name for each in msgspec.structs.fields(Limits)]
    for key, value in written.items():
        if key not in known:
            raise layers.error(("limits", key), f"there is no limit {key!r}. {nearest(key, known)}")
        if not isinstance(value, int | float | str) or isinstance(value, bool):
            raise layers.error(("limits", key), f"limits.{key} = {value!r} must be a number or text.")
    try:
        limits = Limits(**written)
    except ConfigError as error:
        key = next((key for key in written if f"limits.{key} " in str(error)), "")
        raise layers.error(("limits", key), str(error)) from error
    if limits.unknown_cost not in ("refuse", "estimate", "ignore"):
        raise layers.error(("limits", "unknown_cost"), "unknown_cost is 'refuse', 'estimate' or 'ignore'.")
    return limits


def _gate(layers: Layers, name: str, table: dict[str, Any]) -> GateSpec:
    here = ("gates", name)
    if not GATE_NAME.fullmatch(name):
        raise layers.error(here, f"{name!r} can't be a gate's name. Use one line of at most 200 characters.")
    rule_keys = [each.name for each in msgspec.structs.fields(GateRules)]
    rules = _table(layers, here, {k: v for k, v in table.items() if k in rule_keys}, GateRules)
    options = {key: value for key, value in table.items() if key not in rule_keys}
    kind = rules.use or rules.kind or "command"
    if rules.use and rules.kind:
        raise layers.error(here, f"gate {name!r} has both `kind` and `use`. Keep one.")
    if kind == "command":
        unknown = [key for key in options if key not in CommandTable.__struct_fields__]
        if unknown:
            keys = [*rule_keys, *CommandTable.__struct_fields__]
            raise layers.error(
                (*here, unknown[0]), f"gate {name!r} has no key {unknown[0]!r}. {nearest(unknown[0], keys)}"
            )
        if not str(options.get("run", "")).strip():
            raise layers.error(here, f'gate {name!r} has no command. Add `run = "…"`.')
        _table(layers, here, options, CommandTable)
    for key, least in (("stage", 1), ("retries", 0), ("max_attempts", 1)):
        number = getattr(rules, key)
        if number is not None and number < least:
            raise layers.error((*here, key), f"gates.{name}.{key} = {number} must be at least {least}.")
    return GateSpec(
        name=name,
        kind=kind,
        options=options,
        required=rules.required,
        stage=rules.stage,
        on_fail=rules.on_fail,
        when=rules.when,
        timeout=_timeout(layers, here, rules.timeout),
        retries=rules.retries,
        max_attempts=rules.max_attempts,
        shown_as=options.get("run", "") if kind == "command" else "",
    )


def _timeout(layers: Layers, here: tuple[str, ...], written: float | str) -> float | None:
    if isinstance(written, str) and written.strip().lower() == UNLIMITED:
        return None
    try:
        return duration(written, ".".join((*here, "timeout")))
    except ConfigError as error:
        raise layers.error((*here, "timeout"), str(error)) from error


def _table(layers: Layers, path: tuple[str, ...], table: dict[str, Any], kind: type[T]) -> T:
    made: T = _typed(layers, path, table, kind)
    return made


def _typed(layers: Layers, path: tuple[str, ...], value: Any, kind: Any) -> Any:
    """The value in its type, or an error that names the key below `path` that does not fit."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        match = _AT.match(str(error))
        what = match["what"] if match else str(error)
        inner = tuple(re.findall(r"\.([^.\[\]]+)", match["path"])) if match else ()
        key = ".".join((*path, *inner))
        if not inner and get_origin(kind) is Literal:
            raise layers.error(
                path, f"{key} can't be {value!r}. {nearest(str(value), get_args(kind))}"
            ) from error
        raise layers.error((*path, *inner), f"{key}: {what[0].lower()}{what[1:]}.") from error
