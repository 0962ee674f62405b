"""Turns a plan back into a spec, so that another run can start from it and change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from untilgreen.config.checks.gates import COMMAND
from untilgreen.config.checks.plugin_refs import AGENT_FORMS, NOTIFIER_FORMS, Form
from untilgreen.config.spec.schema import TAKEN_OVER, GateRules, WorkspaceTable, defaults_of
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import CLAIM_GATE, INTEGRITY_GATE, NO_SANDBOX, GateSpec, PartSpec, Plan
from untilgreen.core.values.units import UNLIMITED


def values_of(plan: Plan) -> dict[str, Any]:
    """The values of a spec that leads to this plan."""
    values: dict[str, Any] = {
        "task": plan.task,
        "agents": [_part(each, AGENT_FORMS) for each in plan.agents],
        "strategy": _part(plan.strategy, {}),
        "detectors": [_part(each, {}) for each in plan.detectors],
        "notify": [_part(each, NOTIFIER_FORMS) for each in plan.notify],
        "session": plan.session,
        **_table({key: getattr(plan, key) for key in TAKEN_OVER}),
        "workspace": {
            key: plan.workspace[key] for key in WorkspaceTable.__struct_fields__ if key in plan.workspace
        },
        "sandbox": _sandbox(plan),
        "limits": _limits(plan),
        "gates": {gate.name: _gate(gate) for gate in plan.gates if not _made_by_us(gate)},
        "integrity": _integrity(plan),
        "clean_room": _clean_room(plan),
    }
    return values if plan.promise is None else {**values, "promise": plan.promise.text}


def _part(part: PartSpec, forms: Mapping[str, Form]) -> str | dict[str, Any]:
    options = dict(part.options)
    name = part.use or part.name
    start = part.name.partition(":")[0]
    form = forms.get(start) if part.use else None
    if form is not None and form.option in options:  # as it was written: `cmd:./fix.sh`
        name = f"{start}:{options.pop(form.option)}"
    return {"use": name, **options} if options else name


def _sandbox(plan: Plan) -> str | dict[str, Any]:
    if plan.sandbox.mode == NO_SANDBOX:
        return NO_SANDBOX
    return _table({key: value for key, value in asdict(plan.sandbox).items() if value is not None})


def _table(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _limits(plan: Plan) -> dict[str, Any]:
    limits, defaults = asdict(plan.limits), defaults_of(Limits)
    return {
        key: UNLIMITED if value is None else value
        for key, value in limits.items()
        if value is not None or defaults[key] is not None
    }


def _made_by_us(gate: GateSpec) -> bool:
    return gate.kind in (CLAIM_GATE, INTEGRITY_GATE)


def _gate(gate: GateSpec) -> dict[str, Any]:
    rules = {key: getattr(gate, key) for key in GateRules.__struct_fields__ if key not in ("kind", "use")}
    rules["timeout"] = UNLIMITED if gate.timeout is None else gate.timeout
    table = {**gate.options, **{key: value for key, value in rules.items() if value is not None}}
    return table if gate.kind == COMMAND else {**table, "use": gate.kind}


def _integrity(plan: Plan) -> dict[str, Any]:
    guard = next((gate for gate in plan.gates if gate.kind == INTEGRITY_GATE), None)
    if guard is None or not guard.options.get("originals", True):
        return {"enabled": False}
    return {key: list(guard.options.get(key, ())) for key in ("protect", "allow", "editable")}


def _clean_room(plan: Plan) -> dict[str, Any]:
    guard = next((gate for gate in plan.gates if gate.kind == INTEGRITY_GATE), None)
    if guard is None or not guard.options.get("clean_room", False):
        return {"enabled": False}
    lists = {key: list(guard.options.get(key, ())) for key in ("keep", "setup")}
    return {**lists, "unproven": guard.options.get("unproven", "ask")}
