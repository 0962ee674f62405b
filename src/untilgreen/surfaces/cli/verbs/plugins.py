"""plugins: list them, and check one of your own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from untilgreen.errors import UserError
from untilgreen.plugins.kinds import BUILT_IN, Kind
from untilgreen.plugins.registry import registry
from untilgreen.surfaces.cli.options import OPTIONS, Json
from untilgreen.surfaces.json.lines import PluginLine
from untilgreen.surfaces.text.printing import out, out_json, version_line

app = App(name="plugins", help="List plugins, or check one of your own.", group_parameters=OPTIONS)


@app.default
def list_plugins(*, json: Json = False) -> int:
    """List strategies, detectors, gates, agents and notifiers, and where they come from."""
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
def check(
    name: str,
    /,
    *,
    kind: Annotated[
        Kind | None,
        Parameter(metavar="KIND", help="The kind of plugin, if its methods don't tell.", show_choices=True),
    ] = None,
) -> int:
    """Check a plugin of your own: that it can be made, has its method, and obeys the laws of its kind.

    Parameters
    ----------
    name
        Its name, ./file.py:Name or module:Name.
    """
    from untilgreen.testing.laws import detector_laws, strategy_laws

    kinds = (kind,) if kind is not None else registry.kinds_of(name, base=Path.cwd())
    for each in kinds:
        made = registry.create(each, name, {}, base=Path.cwd()).object
        try:
            if each == "strategy":
                strategy_laws(made)
            elif each == "detector":
                detector_laws(made)
        except AssertionError as error:
            raise UserError(f"{name} breaks a law: {error}") from error
        except Exception as error:
            raise UserError(
                f"{name} failed in a scripted run: {type(error).__name__}: {error}. Fix it and check again."
            ) from error
        article = "an" if each == "agent" else "a"
        laws = " that obeys every law" if each in ("strategy", "detector") else ""
        out(f"{name} is {article} {each}{laws}.")
    sys.stdout.flush()
    return 0
