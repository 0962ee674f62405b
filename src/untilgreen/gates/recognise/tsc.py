"""The TypeScript compiler: `a.ts(3,4): error TS2304: message`, or `a.ts:3:4 - error ...` when pretty."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import linted, named, placed
from untilgreen.gates.seen import Seen

TOOL = "tsc"
_PLACE = re.compile(
    r"(\S[^()]{0,500}?)(?:\((\d{1,7}),\d{1,7}\): |:(\d{1,7}):\d{1,7} - )"
    r"(error|warning|message) (TS\d{1,6}): (.+)$"
)
_GLOBAL = re.compile(r"error (TS\d{1,6}): (.+)$")


def read(lines: Sequence[str]) -> Seen | None:
    """What tsc says in these lines; None where it did not print them."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for line in lines:
        if " TS" not in line:
            continue
        if (place := _PLACE.match(line)) is not None:
            found = placed(place[1], int(place[2] or place[3]), place[6], place[5])
            (errors if place[4] == "error" else warnings).append(found)
        elif (everywhere := _GLOBAL.match(line)) is not None:
            errors.append(named(f"{everywhere[1]} {everywhere[2]}", everywhere[2]))
    return linted(TOOL, errors, warnings) if errors or warnings else None
