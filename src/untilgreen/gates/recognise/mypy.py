"""mypy: `a.py:3: error: message  [code]`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import linted, placed
from untilgreen.gates.seen import Seen

TOOL = "mypy"
_PLACE = re.compile(r"(\S.{0,500}?\.pyi?):(\d{1,7})(?::\d{1,7}){0,3}: (error|warning): (\S.*)$")
_WHOLE = re.compile(r"(\S.{0,500}?\.pyi?): error: (\S.*)$")
_COUNT = re.compile(
    r"Found \d{1,9} errors? in \d{1,9} files? \(|Success: no issues found in \d{1,9} source files?$"
)


def read(lines: Sequence[str]) -> Seen | None:
    """What mypy says in these lines; None where it did not print them."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    counted = False
    for line in lines:
        if ".py" in line and (place := _PLACE.match(line)) is not None:
            found = placed(place[1], int(place[2]), f"{place[3]}: {place[4]}")
            (errors if place[3] == "error" else warnings).append(found)
        elif ".py" in line and (whole := _WHOLE.match(line)) is not None:
            errors.append(placed(whole[1], None, f"error: {whole[2]}"))
        elif _COUNT.match(line):
            counted = True
    return linted(TOOL, errors, warnings) if errors or counted else None
