"""Cuts secrets out of what a run stores, and puts them back where they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from untilgreen.core.values.model import GateSpec, PartSpec, Plan
from untilgreen.core.values.secrets import Secrets, is_secret, references, reinsert

_T = TypeVar("_T")


def secrets_of(plan: Plan) -> Secrets:
    """The secrets of our own environment, and those that gates are given in addition."""
    beside = {name: reinsert(value, os.environ) for _, name, value in _given(plan)}
    return Secrets({**beside, **os.environ})


def _given(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """The variables that gates are given: gate, name and value."""
    for gate in plan.gates:
        table = gate.options.get("env")
        for name, value in table.items() if isinstance(table, dict) else ():
            yield gate.name, str(name), str(value)


def without_secrets(value: _T, secrets: Secrets) -> _T:
    """The same event or activity without secrets in any of its texts."""
    raw = msgspec.json.encode(value)
    if secrets.redact_bytes(raw) == raw:
        return value
    return msgspec.convert(_walked(msgspec.to_builtins(value), secrets.redact), type(value))


def redacted(plan: Plan) -> tuple[Plan, str]:
    """The plan as it may be stored, and warnings about secrets in it.

    Only a secret of our own environment is replaced by its name: it is there again when the run continues.
    """
    task, ours = secrets_of(plan).redact_to_references(plan.task), Secrets(os.environ)
    said = [
        _written_down(gate, name)
        for gate, name, value in _given(plan)
        if _literal(name, ours.to_references(value))
    ]
    if task != plan.task:
        said.insert(
            0,
            "The task contains a secret. It is not written down, and no brief shows it. "
            "Put it in an environment variable and name the variable in the task.",
        )
    return msgspec.structs.replace(
        plan,
        task=task,
        gates=msgspec.convert(
            _walked(msgspec.to_builtins(plan.gates), ours.to_references), tuple[GateSpec, ...]
        ),
        agents=msgspec.convert(
            _walked(msgspec.to_builtins(plan.agents), ours.to_references), tuple[PartSpec, ...]
        ),
        notify=msgspec.convert(
            _walked(msgspec.to_builtins(plan.notify), ours.to_references), tuple[PartSpec, ...]
        ),
    ), " ".join(said)


def _literal(name: str, value: str) -> bool:
    """Whether a variable's value is a secret itself, not the name of one."""
    return is_secret(name, value) and "${" not in value


def _written_down(gate: str, name: str) -> str:
    return (
        f"{name} of gate {gate} is a secret written in the spec itself, so it is also in this run's journal. "
        f'Set it in the environment and write {name} = "${{{name}}}" to keep it out of both.'
    )


def missing(plan: Plan) -> tuple[str, ...]:
    """Warnings about secrets that gates use and that are not set here."""
    given = {(gate, name) for gate, name, value in _given(plan) if name not in references(value)}
    return tuple(
        f"Gate {gate.name} uses {name}, which is not set here. Set it before the gate runs, or it may fail."
        for gate in plan.gates
        for name in sorted(set(references(msgspec.json.encode(gate.options).decode())) - set(os.environ))
        if (gate.name, name) not in given
    )


def redacted_value(value: Any) -> Any:
    """A spec value as it may be shown: secret variables by name, without tokens."""
    return _walked(value, Secrets(os.environ).redact_to_references)


def with_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the names of our own variables replaced by their values."""
    return {name: _walked(value, lambda text: reinsert(text, os.environ)) for name, value in options.items()}


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_walked(key, change): _walked(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(each, change) for each in value]
    return value
