"""Strategies, detectors, agents and notifiers in a spec: a name, or a table with `use` and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from untilgreen.config.checks.types import key_as_text
from untilgreen.config.sources.layers import Layers
from untilgreen.config.sources.toml_lines import Key
from untilgreen.config.spec.schema import Part
from untilgreen.core.values.model import PartSpec
from untilgreen.plugins.kinds import BUILT_IN


class Form(NamedTuple):
    """A plugin whose option can be written after its name and a colon."""

    use: str
    option: str


_COMMAND, _WEBHOOK = Form("command", "command"), Form("webhook", "url")
AGENT_FORMS = {
    **{name: Form(name, "model") for name in BUILT_IN["agent"]},
    "cmd": _COMMAND,
    "command": _COMMAND,
    "acp": Form("acp", "command"),
}
"""`cmd:./fix.sh` is a command, `claude:sonnet` an agent and its model."""
NOTIFIER_FORMS = {"command": _COMMAND, "webhook": _WEBHOOK, "apprise": Form("apprise", "url")}


def part_of(
    layers: Layers,
    path: Key,
    written: Part,
    forms: Mapping[str, Form] | None = None,
    default: str | None = None,
) -> PartSpec:
    """A plugin and its options; in `cmd:./fix.sh` the option is part of the name."""
    options = dict(written) if isinstance(written, Mapping) else {}
    name = options.pop("use", default) if isinstance(written, Mapping) else written
    if not isinstance(name, str) or not name.strip():
        raise layers.error(
            path,
            f"{key_as_text(path)} does not name a plugin. Write its name, or a table with the name as `use`.",
        )
    start, colon, rest = name.strip().partition(":")
    form = (forms or {}).get(start) if colon else None
    if form is None:
        return PartSpec(name=name.strip(), options=options)
    if form.option in options:
        raise layers.error(
            path, f"{key_as_text(path)} sets {form.option} twice: in {name!r} and as an option. Keep one."
        )
    if form is _COMMAND and "model" in options:
        raise layers.error(
            path, f"{name!r} has no model to set: a command is started as it is. Write the model into it."
        )
    return PartSpec(name=name.strip(), use=form.use, options={form.option: rest.strip(), **options})


def parts_of(
    layers: Layers, key: str, written: Sequence[Part], forms: Mapping[str, Form] | None = None
) -> tuple[PartSpec, ...]:
    """Every plugin of a list."""
    return tuple(part_of(layers, (key, place), each, forms) for place, each in enumerate(written))


def distinct(parts: Sequence[PartSpec]) -> tuple[PartSpec, ...]:
    """Add a number to the name of an agent that is listed again."""
    named: dict[str, PartSpec] = {}
    for each in parts:
        name, number = each.name, 1
        while name in named:
            number += 1
            name = f"{each.name}#{number}"
        use = each.use or ("" if name == each.name else each.name)
        named[name] = PartSpec(name=name, use=use, options=each.options)
    return tuple(named.values())


def check_part(layers: Layers, path: Key, written: Any, forms: Mapping[str, Form] | None = None) -> None:
    """Options alone are fine here: another layer may name the plugin."""
    if isinstance(written, str) or "use" in written:
        part_of(layers, path, written, forms)
