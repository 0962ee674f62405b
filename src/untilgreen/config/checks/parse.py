"""From merged values to a valid spec; an error names each wrong key and its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from untilgreen.config.checks.every_error import every_error, raise_all
from untilgreen.config.checks.gates import check_gate, gate_of
from untilgreen.config.checks.plugin_refs import (
    AGENT_FORMS,
    NOTIFIER_FORMS,
    Form,
    check_part,
    distinct,
    part_of,
    parts_of,
)
from untilgreen.config.checks.sandbox import check_sandbox, sandbox_of
from untilgreen.config.checks.session import check_promise, check_session, session_of
from untilgreen.config.checks.types import check_known, check_plain, check_table, check_type
from untilgreen.config.checks.workspace import check_workspace, workspace_of
from untilgreen.config.sources.layers import Layers
from untilgreen.config.sources.toml_lines import Key
from untilgreen.config.spec.schema import FRESH, STRATEGY, Spec, SpecFile
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import IN_PLACE, NO_SANDBOX, PartSpec
from untilgreen.core.values.option_checks import kinds_of
from untilgreen.errors import ConfigError, UnknownPlugin, UserError
from untilgreen.plugins.kinds import Kind
from untilgreen.regex import regex

PROFILES = "profiles"
_BOTH = (("task", "task_file"), ("agent", "agents"))
_NAMED: tuple[tuple[Kind, str, Mapping[str, Form] | None], ...] = (
    ("agent", "agent", AGENT_FORMS),
    ("agent", "agents", AGENT_FORMS),
    ("strategy", "strategy", None),
    ("detector", "detectors", None),
    ("notifier", "notify", NOTIFIER_FORMS),
)
_LIMIT = regex(r"limits\.(\w+)")


def parse(layers: Layers, task: str | None, *, needed: bool = True) -> Spec:
    """Check each key on its own, then all of them together."""
    raise_all(wrong_in(layers))
    _check_pairs(layers)
    file = msgspec.convert(layers.values, SpecFile)
    return Spec(
        task=_task(task if task is not None else file.task, needed=needed),
        agents=_agents(layers, file),
        strategy=part_of(layers, ("strategy",), file.strategy, default=STRATEGY),
        detectors=parts_of(layers, "detectors", file.detectors),
        notify=parts_of(layers, "notify", file.notify, NOTIFIER_FORMS),
        gates=tuple(gate_of(layers, name, table) for name, table in file.gates.items()),
        limits=_limits(layers, file.limits),
        workspace=workspace_of(layers, file.workspace),
        session=session_of(file.session),
        sandbox=sandbox_of(layers, file.sandbox),
        file=file,
    )


def wrong_in(layers: Layers) -> list[UserError]:
    """All errors about keys; if there are any, those about names of plugins, too."""
    found, rest = every_error(layers, check)
    return [*found, *every_error(rest, _check_names)[0]] if found and rest else found


def check(layers: Layers) -> None:
    """Check each key on its own: that it exists, and that its value fits; raises the first error."""
    check_plain(layers, layers.values)
    for key in layers.values:
        if key == PROFILES:
            raise layers.error((key,), "profiles are only allowed in the spec file. Move them there.")
    kinds = kinds_of(SpecFile)
    check_known(layers, (), layers.values, kinds, "there is no key")
    for key, value in layers.values.items():
        check_type(layers, (key,), value, kinds[key])
    for name, table in layers.values.get("gates", {}).items():
        check_gate(layers, name, table)
    for name in ("integrity", "clean_room"):
        _check_patterns(layers, name, layers.values.get(name, {}))
    _check_parts(layers, layers.values)
    _check_limits(layers, layers.values.get("limits", {}))
    check_workspace(layers, layers.values.get("workspace", IN_PLACE))
    check_sandbox(layers, layers.values.get("sandbox", NO_SANDBOX))
    check_session(layers, layers.values.get("session", FRESH))
    if "promise" in layers.values:
        check_promise(layers, ("promise",), layers.values["promise"])


def _check_patterns(layers: Layers, name: str, table: Mapping[str, Any]) -> None:
    for key, value in check_table(layers, name, table).items():
        for pattern in value if isinstance(value, list) else ():
            if not pattern.strip():
                what = "command" if key == "setup" else "pattern"
                raise layers.error((name, key), f"{name}.{key} has an empty {what}. Remove it.")


def _check_pairs(layers: Layers) -> None:
    for one, other in _BOTH:
        if one in layers.values and other in layers.values:
            options = (
                one == "agent" and isinstance(layers.values[one], dict) and "use" not in layers.values[one]
            )
            way_out = "Move the options into `agents`." if options else "Keep one."
            raise layers.error((one,), f"`{one}` and `{other}` are both set. {way_out}")


def _check_parts(layers: Layers, values: Mapping[str, Any]) -> None:
    for key, forms in (("agent", AGENT_FORMS), ("strategy", None)):
        if key in values:
            check_part(layers, (key,), values[key], forms)
    for key, forms in (("agents", AGENT_FORMS), ("notify", NOTIFIER_FORMS), ("detectors", None)):
        parts_of(layers, key, values.get(key, ()), forms)


def _check_names(layers: Layers) -> None:
    """Refuse unknown plugin names; if there are no other errors, creating the plugins reports them better."""
    for kind, key, forms in _NAMED:
        written = layers.values.get(key, ())
        for place, each in enumerate(written if isinstance(written, list) else [written] if written else ()):
            path: Key = (key, place) if isinstance(written, list) else (key,)
            if isinstance(each, str) or "use" in each:
                part = part_of(layers, path, each, forms)
                _check_name(layers, path, kind, part.use or part.name)
    for name, table in layers.values.get("gates", {}).items():
        for key in ("kind", "use"):
            if key in table:
                _check_name(layers, ("gates", name, key), "gate", table[key])


def _check_name(layers: Layers, path: Key, kind: Kind, name: str) -> None:
    from untilgreen.plugins.registry import registry  # noqa: PLC0415 - only a wrong spec gets here

    try:
        registry.check_name(kind, name)
    except UnknownPlugin as error:
        raise layers.error(path, str(error)) from error


def _check_limits(layers: Layers, limits: Mapping[str, Any]) -> None:
    kinds = kinds_of(Limits)
    check_known(layers, ("limits",), limits, kinds, "there is no limit")
    for key, value in limits.items():
        kind = kinds[key] if key == "unknown_cost" else float | str
        check_type(layers, ("limits", key), value, kind)
        # With a price, `unknown_cost = "estimate"` is valid alone; a single limit never makes all unlimited.
        _limits(layers, {"token_price": 1.0, key: value})


def _limits(layers: Layers, written: Mapping[str, Any]) -> Limits:
    try:
        return Limits(**written)
    except ConfigError as error:
        about = _LIMIT.match(str(error))
        path = ("limits", about[1]) if about else ("limits",)
        raise layers.error(path, str(error)) from error


def _task(task: str | None, *, needed: bool) -> str:
    wanted = (task or "").strip()
    if not wanted and needed:
        raise ConfigError(
            "There is no task. Give it as an argument, with -f FILE, on stdin, or as `task` in the spec."
        )
    check_plain(Layers(), wanted, ("task",))
    return wanted


def _agents(layers: Layers, file: SpecFile) -> tuple[PartSpec, ...]:
    if file.agent is not None:
        return (part_of(layers, ("agent",), file.agent, AGENT_FORMS),)
    return distinct(parts_of(layers, "agents", file.agents, AGENT_FORMS))
