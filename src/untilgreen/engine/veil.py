"""Keeping secrets out of what a run writes down, and putting them back where they are used."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from untilgreen.core.model import GateSpec, PartSpec, Plan
from untilgreen.core.secrets import Secrets, unveil

_T = TypeVar("_T")


def secrets_of(plan: Plan) -> Secrets:
    """The secrets of our own environment, and those that gates are given beside it."""
    given = [gate.options.get("env") for gate in plan.gates]
    beside = {
        name: unveil(str(value), os.environ)
        for table in given
        if isinstance(table, dict)
        for name, value in table.items()
    }
    return Secrets({**beside, **os.environ})


def without_secrets(value: _T, secrets: Secrets) -> _T:
    """The same event or activity with every text in it strained."""
    raw = msgspec.json.encode(value)
    if secrets.cut_bytes(raw) == raw:
        return value
    return msgspec.convert(_walked(msgspec.to_builtins(value), secrets.cut), type(value))


def veiled(plan: Plan) -> tuple[Plan, str]:
    """A plan as it may be written down, and what a person should know about its task."""
    secrets = secrets_of(plan)
    task = secrets.veil(plan.task)
    said = ""
    if task != plan.task:
        said = (
            "The task holds a secret, which is not written down, and which stands in no brief either. "
            "Put it into an environment variable, and name the variable in the task."
        )
    return msgspec.structs.replace(
        plan,
        task=task,
        gates=msgspec.convert(_walked(msgspec.to_builtins(plan.gates), secrets.name), tuple[GateSpec, ...]),
        agents=msgspec.convert(_walked(msgspec.to_builtins(plan.agents), secrets.name), tuple[PartSpec, ...]),
        notify=msgspec.convert(_walked(msgspec.to_builtins(plan.notify), secrets.name), tuple[PartSpec, ...]),
    ), said


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
