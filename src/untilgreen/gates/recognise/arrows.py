"""rustc and those who print like it: `error[E0308]: message`, and below it an arrow to the place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import placed

_TITLE = re.compile(r"\s{0,4}(error|warning)(?:\[([A-Za-z]{0,10}\d{1,6}|[\w:-]{1,100})\])?: (\S.*)$")
_ARROW = re.compile(r"\s{1,12}(?:-->|╭▸|┌─|╭─\[) ?(\S.{0,500}?):(\d{1,7}):\d{1,7}\]?$")


def pointed(lines: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Each complaint with its level; an arrow below a note or a help line belongs to none."""
    for number, line in enumerate(lines):
        if ":" not in line or (arrow := _ARROW.match(line)) is None or not number:
            continue
        if (title := _TITLE.match(lines[number - 1])) is not None:
            yield title[1], placed(arrow[1], int(arrow[2]), title[3], title[2] or "")
