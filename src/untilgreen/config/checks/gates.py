"""`[gates.NAME]`: the keys that every gate has, and those of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from untilgreen.config.checks.types import check_known, check_type, key_as_text
from untilgreen.config.sources.layers import Layers
from untilgreen.config.spec.schema import CommandTable, GateRules
from untilgreen.core.values.model import CLAIM_GATE, INTEGRITY_GATE, GateSpec
from untilgreen.core.values.option_checks import kinds_of
from untilgreen.core.values.units import UNLIMITED, duration
from untilgreen.errors import ConfigError

COMMAND = "command"
LONGEST_NAME = 200
_FILLED_IN = ("run", "kind", "use")


def check_gate(layers: Layers, name: str, table: Mapping[str, Any]) -> None:
    """Check each key on its own; a missing key may still come from another layer."""
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
        if key in _FILLED_IN and not value.strip():
            raise layers.error(
                (*here, key), f"{key_as_text((*here, key))} is empty. Fill it in, or remove it."
            )
    if "timeout" in table:
        _seconds(layers, name, table["timeout"])


def gate_of(layers: Layers, name: str, table: Mapping[str, Any]) -> GateSpec:
    """The gate that a checked table describes."""
    kind = _kind(table)
    if kind == COMMAND and "run" not in table:
        raise layers.error(("gates", name), f'gate {name!r} has no command. Add `run = "…"`.')
    options = {key: value for key, value in table.items() if key not in kinds_of(GateRules)}
    rules = msgspec.convert({key: value for key, value in table.items() if key not in options}, GateRules)
    taken: dict[str, Any] = asdict(rules) | {
        "kind": kind,
        "timeout": _seconds(layers, name, rules.timeout),
        "shown_as": options["run"] if kind == COMMAND else "",
    }
    del taken["use"]
    return GateSpec(name=name, options=options, **taken)


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
        raise layers.error(here, f"{name!r} is reserved. Choose another name for the gate.")


def _seconds(layers: Layers, name: str, written: float | str) -> float | None:
    if isinstance(written, str) and written.strip().lower() == UNLIMITED:
        return None
    path = ("gates", name, "timeout")
    try:
        return duration(written, key_as_text(path))
    except ConfigError as error:
        raise layers.error(path, str(error)) from error
