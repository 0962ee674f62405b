"""Gates as they are written: `[gates.NAME]` with rules for every gate, and with what its kind needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from untilgreen.config.layers import Layers
from untilgreen.config.lines import Key
from untilgreen.config.schema import CommandTable, GateRules, kinds_of
from untilgreen.config.values import check_known, check_type, shown
from untilgreen.core.model import CLAIM_GATE, INTEGRITY_GATE, GateSpec
from untilgreen.core.units import UNLIMITED, duration
from untilgreen.errors import ConfigError

COMMAND = "command"
LONGEST_NAME = 200
_FILLED_IN = ("run", "kind", "use")
_BOUNDS = {"stage": (1, None), "retries": (0, None), "max_attempts": (1, None), "expect": (0, 255)}


def check_gate(layers: Layers, name: str, table: Mapping[str, Any]) -> None:
    """Every key by itself; what is missing may still come from another layer."""
    here = ("gates", name)
    _check_name(layers, name)
    if "kind" in table and "use" in table:
        raise layers.error(here, f"gate {name!r} has both `kind` and `use`. Keep one.")
    kinds = kinds_of(GateRules)
    if _kind(table) == COMMAND:
        kinds = {**kinds, **kinds_of(CommandTable)}
        check_known(layers, here, table, kinds, f"gate {name!r} has no key")
    for key, value in table.items():
        if key not in kinds:
            continue
        check_type(layers, (*here, key), value, kinds[key])
        if key in _BOUNDS:
            _check_bounds(layers, (*here, key), value, *_BOUNDS[key])
        if key in _FILLED_IN and not value.strip():
            raise layers.error((*here, key), f"{shown((*here, key))} is empty. Fill it in, or remove it.")
    if "timeout" in table:
        _seconds(layers, name, table["timeout"])


def gate_of(layers: Layers, name: str, table: Mapping[str, Any]) -> GateSpec:
    """A gate whose table was checked, and which is whole."""
    kind = _kind(table)
    if kind == COMMAND and "run" not in table:
        raise layers.error(("gates", name), f'gate {name!r} has no command. Add `run = "…"`.')
    options = {key: value for key, value in table.items() if key not in kinds_of(GateRules)}
    rules = msgspec.convert({key: value for key, value in table.items() if key not in options}, GateRules)
    return GateSpec(
        name=name,
        kind=kind,
        options=options,
        required=rules.required,
        stage=rules.stage,
        on_fail=rules.on_fail,
        when=rules.when,
        timeout=_seconds(layers, name, rules.timeout),
        retries=rules.retries,
        max_attempts=rules.max_attempts,
        shown_as=options["run"] if kind == COMMAND else "",
    )


def _kind(table: Mapping[str, Any]) -> Any:
    return table.get("use", table.get("kind", COMMAND))


def _check_name(layers: Layers, name: str) -> None:
    here = ("gates", name)
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise layers.error(
            here,
            f"{name[:LONGEST_NAME]!r} can't be a gate's name. Use one line of at most {LONGEST_NAME} "
            "characters, for example --gate 'tests=pytest -q'.",
        )
    if name in (CLAIM_GATE, INTEGRITY_GATE):
        raise layers.error(here, f"the gate {name!r} is made by untilgreen itself. Call yours otherwise.")


def _check_bounds(layers: Layers, path: Key, number: int, least: int, most: int | None) -> None:
    if number < least or (most is not None and number > most):
        wanted = f"at least {least}" if most is None else f"from {least} to {most}"
        raise layers.error(path, f"{shown(path)} = {number} must be {wanted}.")


def _seconds(layers: Layers, name: str, written: float | str) -> float | None:
    if isinstance(written, str) and written.strip().lower() == UNLIMITED:
        return None
    path = ("gates", name, "timeout")
    try:
        return duration(written, shown(path))
    except ConfigError as error:
        raise layers.error(path, str(error)) from error
