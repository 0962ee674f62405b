"""config show: the spec as it holds here, and where each value came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import tomlkit
from cyclopts import App, Parameter

from untilgreen.config.load import Loaded
from untilgreen.config.settings import Setting, settings
from untilgreen.engine.veil import named
from untilgreen.surfaces import output
from untilgreen.surfaces.cli.options import HERE, UNSAID, Place, SpecFlags
from untilgreen.surfaces.cli.say import out, out_json, version_line
from untilgreen.surfaces.text import inert, padded, places

app = App(name="config", help="Show the spec as it holds here, and where each value came from.")
_WIDEST = 60


@app.command
def show(
    task: str | None = None,
    /,
    *,
    spec: SpecFlags = UNSAID,
    place: Place = HERE,
    sources: Annotated[bool, Parameter(help="Say behind each value where it came from.")] = False,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")] = False,
) -> int:
    """Show every setting that a run would have here: from defaults, file, profile, variables and flags.

    Takes the flags of `run`, and runs nothing. What it prints is a spec.

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
            out_json(output.Setting(key=each.key, value=each.value, source=each.source))
        return 0
    out(f"# {inert(str(loaded.path))}" if loaded.path else "# no spec file; defaults, variables and flags")
    for line in lines(found, sources=sources):
        out(line)
    return 0


def shown_settings(loaded: Loaded) -> list[Setting]:
    """Every setting with the names of secret variables in place of their values."""
    return [
        Setting(key=named(each.key), value=named(each.value), source=each.source) for each in settings(loaded)
    ]


def lines(found: Iterable[Setting], *, sources: bool) -> list[str]:
    """The settings as TOML with dotted keys."""
    rows = [(inert(f"{each.key} = {_toml(each.value)}"), each.source) for each in found]
    if not sources:
        return [text for text, _ in rows]
    width = max((places(text) for text, _ in rows if places(text) <= _WIDEST), default=0)
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
