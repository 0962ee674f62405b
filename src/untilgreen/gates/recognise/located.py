"""Whatever prints `file:line: message` complains about a place, even if nobody here knows the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.fingerprint import normalise
from untilgreen.core.model import Finding
from untilgreen.gates.seen import Seen, distinct, gist, steady

TOOL = "lines"

_PLACE = re.compile(
    r"\s{0,40}(?P<file>(?:[A-Za-z]:)?[^\s:\"'()<>,;|]{1,300})"
    r":(?P<line>\d{1,7})(?::\d{1,5})?: ?(?P<said>\S.*)$"
)
_LOOKS_LIKE_A_FILE = re.compile(r"[\\/]|\.[A-Za-z_]\w{0,15}$")
_IS_A_WARNING = re.compile(r"\[?(?:warning|note|info)\b|\w{0,60}Warning: ", re.IGNORECASE)
_IS_A_FRAME = re.compile(r"in \S+$")


def read(lines: Sequence[str], *, warnings: bool = True) -> Seen | None:
    """The complaints in these lines; mere warnings only where there is nothing worse, and if wanted."""
    places = list(_places(lines))
    errors = [place for place in places if not _IS_A_WARNING.match(place["said"])]
    findings = distinct(map(_finding, errors or (places if warnings else [])))
    return Seen(tool=TOOL, findings=findings) if findings else None


def _places(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Each complaint once, even if the same words come for many lines of a file."""
    known = set()
    for line in lines:
        place = _PLACE.match(line) if ":" in line else None
        if place is None or _IS_A_FRAME.match(place["said"]) or not _LOOKS_LIKE_A_FILE.search(place["file"]):
            continue
        if (key := (place["file"], place["said"])) not in known:
            known.add(key)
            yield place


def _finding(place: re.Match[str]) -> Finding:
    file, said = place["file"], place["said"]
    return Finding(
        id=steady(f"{file}: {normalise(said)}"), message=gist(said), file=file, line=int(place["line"])
    )
