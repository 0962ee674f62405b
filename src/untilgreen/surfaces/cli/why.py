"""why: the verb that explains the last decision of a run."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

from cyclopts import Parameter

from untilgreen.engine.told import told
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import ascii_only, out, out_json, version_line
from untilgreen.surfaces.why.reasons import reasons
from untilgreen.surfaces.why.words import words


def why(
    run: Run = "@last",
    /,
    *,
    place: Place = HERE,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")] = False,
) -> int:
    """Say why a run stands where it stands: what was seen, what was tried, and how to go on.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    state, _ = told(place.find(run))
    explained = reasons(state, flags=place.flags)
    if json:
        version_line()
        out_json(explained)
        return 0
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for line in words(explained, width=width, ascii_only=ascii_only()):
        out(line)
    return 0
