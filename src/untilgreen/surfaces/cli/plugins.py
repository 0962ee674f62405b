"""plugins: what can be used by name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from untilgreen.errors import UserError
from untilgreen.plugins import registry
from untilgreen.plugins.kinds import BUILT_IN, Kind
from untilgreen.surfaces.cli.say import out, out_json, version_line
from untilgreen.surfaces.output import PluginLine

app = App(name="plugins", help="List what can be used by name, or check a plugin of your own.")


@app.default
def list_plugins(
    *, json: Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")] = False
) -> int:
    """List strategies, detectors, gates, agents and notifiers by name, with where they come from."""
    if json:
        version_line()
    kinds: tuple[Kind, ...] = tuple(BUILT_IN)
    for kind in kinds:
        for info in registry.list(kind):
            if json:
                out_json(PluginLine(**msgspec.structs.asdict(info)))
            else:
                out(f"{kind:9} {info.name:10} {info.origin:14} {info.problem or info.summary}")
    return 0


@app.command
def check(name: str, /, *, kind: Annotated[Kind, Parameter(help="What it is.")] = "strategy") -> int:
    """Hold a strategy or detector of your own to the laws that all of them obey.

    Parameters
    ----------
    name
        Its name, ./file.py:Name or module:Name.
    """
    from untilgreen.testing.laws import detector_laws, strategy_laws

    made = registry.create(kind, name, {}, base=Path.cwd()).object
    try:
        if kind == "strategy":
            strategy_laws(made)
        elif kind == "detector":
            detector_laws(made)
    except AssertionError as error:
        raise UserError(f"{name} breaks a law: {error}") from error
    out(f"{name} is a {kind}" + (" and obeys every law." if kind in ("strategy", "detector") else "."))
    sys.stdout.flush()
    return 0
