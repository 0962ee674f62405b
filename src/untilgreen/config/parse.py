"""From the values that hold to a spec that makes sense; the first wrong one is named with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from untilgreen.config.gates import check_gate, gate_of
from untilgreen.config.layers import Layers
from untilgreen.config.parts import AGENT_FORMS, NOTIFIER_FORMS, check_part, distinct, part_of, parts_of
from untilgreen.config.sandbox import check_sandbox, sandbox_of
from untilgreen.config.schema import FRESH, STRATEGY, IntegrityTable, Spec, SpecFile, kinds_of
from untilgreen.config.session import check_promise, check_session, session_of
from untilgreen.config.values import check_known, check_plain, check_type
from untilgreen.config.workspace import check_workspace, workspace_of
from untilgreen.core.limits import Limits
from untilgreen.core.model import IN_PLACE, NO_SANDBOX, PartSpec
from untilgreen.errors import ConfigError

PROFILES = "profiles"
_BOTH = (("task", "task_file"), ("agent", "agents"))
_LIMIT = re.compile(r"limits\.(\w+)")


def parse(layers: Layers, task: str | None, *, needed: bool = True) -> Spec:
    """Check every key by itself, and then whether they make sense together."""
    check(layers)
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


def check(layers: Layers) -> None:
    """Every key by itself: that it is known, and that its value is one that it can have."""
    check_plain(layers, layers.values)
    for key in layers.values:
        if key == PROFILES:
            raise layers.error((key,), "profiles can be given only in the spec file. Write them there.")
    kinds = kinds_of(SpecFile)
    check_known(layers, (), layers.values, kinds, "there is no key")
    for key, value in layers.values.items():
        check_type(layers, (key,), value, kinds[key])
    for name, table in layers.values.get("gates", {}).items():
        check_gate(layers, name, table)
    _check_integrity(layers, layers.values.get("integrity", {}))
    _check_parts(layers, layers.values)
    _check_limits(layers, layers.values.get("limits", {}))
    check_workspace(layers, layers.values.get("workspace", IN_PLACE))
    check_sandbox(layers, layers.values.get("sandbox", NO_SANDBOX))
    check_session(layers, layers.values.get("session", FRESH))
    if "promise" in layers.values:
        check_promise(layers, ("promise",), layers.values["promise"])


def _check_integrity(layers: Layers, table: Mapping[str, Any]) -> None:
    kinds = kinds_of(IntegrityTable)
    check_known(layers, ("integrity",), table, kinds, "integrity has no key")
    for key, value in table.items():
        check_type(layers, ("integrity", key), value, kinds[key])
        for pattern in value if isinstance(value, list) else ():
            if not pattern.strip():
                raise layers.error(("integrity", key), f"integrity.{key} has an empty pattern. Remove it.")


def _check_pairs(layers: Layers) -> None:
    for one, other in _BOTH:
        if one in layers.values and other in layers.values:
            options = (
                one == "agent" and isinstance(layers.values[one], dict) and "use" not in layers.values[one]
            )
            way_out = "Write the options into `agents`." if options else "Keep one."
            raise layers.error((one,), f"`{one}` and `{other}` are both there. {way_out}")


def _check_parts(layers: Layers, values: Mapping[str, Any]) -> None:
    for key, forms in (("agent", AGENT_FORMS), ("strategy", None)):
        if key in values:
            check_part(layers, (key,), values[key], forms)
    for key, forms in (("agents", AGENT_FORMS), ("notify", NOTIFIER_FORMS), ("detectors", None)):
        parts_of(layers, key, values.get(key, ()), forms)


def _check_limits(layers: Layers, limits: Mapping[str, Any]) -> None:
    kinds = kinds_of(Limits)
    check_known(layers, ("limits",), limits, kinds, "there is no limit")
    for key, value in limits.items():
        kind = kinds[key] if key == "unknown_cost" else float | str
        check_type(layers, ("limits", key), value, kind)
        # The price lets `unknown_cost = "estimate"` stand alone; a lone limit never makes all unlimited.
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
