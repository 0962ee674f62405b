"""why: explain the last decision of a run."""

from __future__ import annotations

import shutil
import sys

from untilgreen.engine.store.catalog import is_driven
from untilgreen.surfaces.cli.options import HERE, Json, Place, Run
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, version_line
from untilgreen.surfaces.why.evidence import Reasons, reasons
from untilgreen.surfaces.why.text import words


def why(
    run: Run = "@last",
    /,
    *,
    place: Place = HERE,
    json: Json = False,
) -> int:
    """Explain a run's outcome and suggest next steps."""
    folder = place.find(run)
    state = folder.read().state
    return show_reasons(reasons(state, flags=place.flags, driven=is_driven(folder)), json=json)


def show_reasons(explained: Reasons, *, json: bool) -> int:
    """Print them, as words that fit the terminal or as a line of JSON."""
    if json:
        version_line()
        out_json(explained)
        return 0
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for line in words(explained, width=width, ascii_only=ascii_only()):
        out(line)
    return 0
