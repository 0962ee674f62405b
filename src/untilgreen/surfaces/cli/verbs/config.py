"""config show: the effective settings, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import tomlkit
from cyclopts import App, Parameter

from untilgreen.config.effective import Setting, settings
from untilgreen.config.load import Loaded
from untilgreen.engine.wiring.redaction import redacted_value
from untilgreen.surfaces.cli.options import HERE, NO_FLAGS, OPTIONS, UNNEGATED, Json, LocalPlace, SpecFlags
from untilgreen.surfaces.json import lines
from untilgreen.surfaces.text.printing import out, out_json, version_line
from untilgreen.surfaces.text.safe_text import columns_of, inert, padded

app = App(
    name="config",
    help="Show the effective settings and where they come from.",
    default_parameter=UNNEGATED,
    group_parameters=OPTIONS,
)
_WIDEST = 60


@app.command
def show(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = NO_FLAGS,
    place: LocalPlace = HERE,
    sources: Annotated[bool, Parameter(help="Show where each value comes from.", group=OPTIONS)] = False,
    json: Json = False,
) -> int:
    """Show every setting of a run here: defaults, spec file, profile, variables and options.

    Takes the options of `run`. Runs nothing. The output is itself a valid spec.

    Parameters
    ----------
    task
        The task, as for `run`.
    """
    loaded = spec.load(place.start, task, taskless=True)
    found = shown_settings(loaded)
    if json:
        version_line()
        for each in found:
            out_json(lines.Setting(key=each.key, value=each.value, source=each.source))
        return 0
    out(f"# {inert(str(loaded.path))}" if loaded.path else "# no spec file; defaults, variables and options")
    for line in setting_lines(found, sources=sources):
        out(line)
    return 0


def shown_settings(loaded: Loaded) -> list[Setting]:
    """Every setting, with secrets replaced by the names of their variables."""
    return [
        Setting(key=redacted_value(each.key), value=redacted_value(each.value), source=each.source)
        for each in settings(loaded)
    ]


def setting_lines(found: Iterable[Setting], *, sources: bool) -> list[str]:
    """The settings as TOML with dotted keys."""
    rows = [(inert(f"{each.key} = {_toml(each.value)}"), each.source) for each in found]
    if not sources:
        return [text for text, _ in rows]
    width = max((columns_of(text) for text, _ in rows if columns_of(text) <= _WIDEST), default=0)
    return [f"{padded(text, width)}  # {inert(source)}" for text, source in rows]


def _toml(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{tomlkit.key(key).as_string()} = {_toml(inner)}" for key, inner in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(tomlkit.item(value).as_string())
