"""Strategies, detectors, agents and notifiers as they are written: a name, or a table with `use`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from untilgreen.config.layers import Layers
from untilgreen.config.lines import Key
from untilgreen.config.schema import Part
from untilgreen.config.values import shown
from untilgreen.core.model import PartSpec


class _Form(NamedTuple):
    use: str
    option: str


_COMMAND, _WEBHOOK = _Form("command", "command"), _Form("webhook", "url")
AGENT_FORMS = {"cmd": _COMMAND, "command": _COMMAND}
NOTIFIER_FORMS = {"command": _COMMAND, "webhook": _WEBHOOK}


def part_of(
    layers: Layers,
    path: Key,
    written: Part,
    forms: Mapping[str, _Form] | None = None,
    default: str | None = None,
) -> PartSpec:
    """A plugin by name, with its options; `cmd:./fix.sh` is one whose option stands in its name."""
    options = dict(written) if isinstance(written, Mapping) else {}
    name = options.pop("use", default) if isinstance(written, Mapping) else written
    if not isinstance(name, str) or not name.strip():
        raise layers.error(
            path, f"{shown(path)} names no plugin. Write its name, or a table with its name as `use`."
        )
    start, colon, rest = name.strip().partition(":")
    form = (forms or {}).get(start) if colon else None
    if form is None:
        return PartSpec(name=name.strip(), options=options)
    if form.option in options:
        raise layers.error(
            path, f"{shown(path)} has its {form.option} twice: in {name!r} and as an option. Keep one."
        )
    return PartSpec(name=name.strip(), use=form.use, options={form.option: rest.strip(), **options})


def parts_of(
    layers: Layers, key: str, written: Sequence[Part], forms: Mapping[str, _Form] | None = None
) -> tuple[PartSpec, ...]:
    """Every plugin of a list."""
    return tuple(part_of(layers, (key, place), each, forms) for place, each in enumerate(written))


def distinct(parts: Sequence[PartSpec]) -> tuple[PartSpec, ...]:
    """The same agent twice, with other options, gets a number."""
    named: dict[str, PartSpec] = {}
    for each in parts:
        name, number = each.name, 1
        while name in named:
            number += 1
            name = f"{each.name}#{number}"
        use = each.use or ("" if name == each.name else each.name)
        named[name] = PartSpec(name=name, use=use, options=each.options)
    return tuple(named.values())


def check_part(layers: Layers, path: Key, written: Any, forms: Mapping[str, _Form] | None = None) -> None:
    """Options alone are fine here: another layer may say whose they are."""
    if isinstance(written, str) or "use" in written:
        part_of(layers, path, written, forms)
