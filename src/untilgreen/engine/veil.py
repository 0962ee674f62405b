"""Keeping secrets out of what a run writes down, and putting them back where they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from untilgreen.core.model import GateSpec, PartSpec, Plan
from untilgreen.core.secrets import Secrets, is_secret, references, unveil

_T = TypeVar("_T")


def secrets_of(plan: Plan) -> Secrets:
    """The secrets of our own environment, and those that gates are given beside it."""
    beside = {name: unveil(value, os.environ) for _, name, value in _given(plan)}
    return Secrets({**beside, **os.environ})


def _given(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """The variables that gates are given: gate, name and value."""
    for gate in plan.gates:
        table = gate.options.get("env")
        for name, value in table.items() if isinstance(table, dict) else ():
            yield gate.name, str(name), str(value)


def without_secrets(value: _T, secrets: Secrets) -> _T:
    """The same event or activity with every text in it strained."""
    raw = msgspec.json.encode(value)
    if secrets.cut_bytes(raw) == raw:
        return value
    return msgspec.convert(_walked(msgspec.to_builtins(value), secrets.cut), type(value))


def veiled(plan: Plan) -> tuple[Plan, str]:
    """A plan as it may be written down, and what a person should know about secrets in it.

    Only what our own environment holds can be written as its name: it is there again when the run goes on.
    """
    task, ours = secrets_of(plan).veil(plan.task), Secrets(os.environ)
    said = [
        _written_down(gate, name) for gate, name, value in _given(plan) if _literal(name, ours.name(value))
    ]
    if task != plan.task:
        said.insert(
            0,
            "The task holds a secret, which is not written down, and which stands in no brief either. "
            "Put it into an environment variable, and name the variable in the task.",
        )
    return msgspec.structs.replace(
        plan,
        task=task,
        gates=msgspec.convert(_walked(msgspec.to_builtins(plan.gates), ours.name), tuple[GateSpec, ...]),
        agents=msgspec.convert(_walked(msgspec.to_builtins(plan.agents), ours.name), tuple[PartSpec, ...]),
        notify=msgspec.convert(_walked(msgspec.to_builtins(plan.notify), ours.name), tuple[PartSpec, ...]),
    ), " ".join(said)


def _literal(name: str, value: str) -> bool:
    """Whether a variable's value is a secret as such, not the name of one."""
    return is_secret(name, value) and "${" not in value


def _written_down(gate: str, name: str) -> str:
    return (
        f"{name} of gate {gate} is a secret that stands in the spec itself, so it stands in this run's "
        f'journal, too. Set it in the environment and write {name} = "${{{name}}}" to keep it out of both.'
    )


def missing(plan: Plan) -> tuple[str, ...]:
    """What a person should know where secrets that gates use are not set here, as they were elsewhere."""
    given = {(gate, name) for gate, name, value in _given(plan) if name not in references(value)}
    return tuple(
        f"Gate {gate.name} uses {name}, which is not set here. Set it before the gate runs, or it may fail."
        for gate in plan.gates
        for name in sorted(set(references(msgspec.json.encode(gate.options).decode())) - set(os.environ))
        if (gate.name, name) not in given
    )


def named(value: Any) -> Any:
    """A value of a spec as it may be shown: secret variables by their names, and without tokens."""
    return _walked(value, Secrets(os.environ).veil)


def unveiled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as they were meant, with the values of our own variables."""
    return {name: _walked(value, lambda text: unveil(text, os.environ)) for name, value in options.items()}


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_walked(key, change): _walked(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_walked(each, change) for each in value]
    return value
