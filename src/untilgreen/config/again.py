"""A plan as a spec once more, so that another run can begin with it and change some of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from untilgreen.config.gates import COMMAND
from untilgreen.core.model import CLAIM_GATE, INTEGRITY_GATE, NO_SANDBOX, GateSpec, PartSpec, Plan
from untilgreen.core.units import UNLIMITED

_AGENT_FORMS = {"command": ("cmd", "command")}
_NOTIFIER_FORMS = {"command": ("command", "command"), "webhook": ("webhook", "url")}
_SETTINGS = ("mode", "setup", "copy")
_NONE_BY_DEFAULT = ("cost", "tokens", "token_price")


def values_of(plan: Plan) -> dict[str, Any]:
    """What a spec file would say to have this plan."""
    values: dict[str, Any] = {
        "task": plan.task,
        "agents": [_part(each, _AGENT_FORMS) for each in plan.agents],
        "strategy": _part(plan.strategy, {}),
        "detectors": [_part(each, {}) for each in plan.detectors],
        "notify": [_part(each, _NOTIFIER_FORMS) for each in plan.notify],
        "remedies": list(plan.remedies),
        "session": plan.session,
        "permissions": plan.permissions,
        "leave": plan.leave,
        "on_interrupt": plan.on_interrupt,
        "baseline": plan.baseline,
        "labels": dict(plan.labels),
        "workspace": {key: plan.workspace[key] for key in _SETTINGS if key in plan.workspace},
        "sandbox": _sandbox(plan),
        "limits": _limits(plan),
        "gates": {gate.name: _gate(gate) for gate in plan.gates if not _made_by_us(gate)},
        "integrity": _integrity(plan),
    }
    return values if plan.promise is None else {**values, "promise": plan.promise.text}


def _part(part: PartSpec, forms: Mapping[str, tuple[str, str]]) -> str | dict[str, Any]:
    options = dict(part.options)
    name = part.use or part.name
    if name in forms and forms[name][1] in options:
        start, option = forms[name]
        name = f"{start}:{options.pop(option)}"
    return {"use": name, **options} if options else name


def _sandbox(plan: Plan) -> str | dict[str, Any]:
    return NO_SANDBOX if plan.sandbox.mode == NO_SANDBOX else _table(asdict(plan.sandbox))


def _table(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _limits(plan: Plan) -> dict[str, Any]:
    limits = asdict(plan.limits)
    return {
        key: UNLIMITED if value is None else value
        for key, value in limits.items()
        if value is not None or key not in _NONE_BY_DEFAULT
    }


def _made_by_us(gate: GateSpec) -> bool:
    return gate.kind in (CLAIM_GATE, INTEGRITY_GATE)


def _gate(gate: GateSpec) -> dict[str, Any]:
    table: dict[str, Any] = {
        **gate.options,
        "required": gate.required,
        "stage": gate.stage,
        "on_fail": gate.on_fail,
        "when": gate.when,
        "timeout": UNLIMITED if gate.timeout is None else gate.timeout,
        "retries": gate.retries,
    }
    if gate.max_attempts is not None:
        table["max_attempts"] = gate.max_attempts
    return table if gate.kind == COMMAND else {**table, "use": gate.kind}


def _integrity(plan: Plan) -> dict[str, Any]:
    guard = next((gate for gate in plan.gates if gate.kind == INTEGRITY_GATE), None)
    if guard is None:
        return {"enabled": False}
    return {key: list(guard.options.get(key, ())) for key in ("protect", "allow")}
