"""Whatever prints `file:line: message` complains about a place, even if nobody here knows the tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.arrows import pointed
from untilgreen.gates.recognise.rows import listed
from untilgreen.gates.recognise.shape import placed
from untilgreen.gates.recognise.traceback import tracebacks
from untilgreen.gates.seen import Seen, distinct

TOOL = "lines"

_PLACE = re.compile(
    r"\s{0,40}(?:\[(?P<level>[a-zA-Z]{3,8})\]:? {1,4}|(?P<word>error|warning): ?|[a-z][a-z0-9_-]{1,19}: )?"
    r"(?P<file>(?:[A-Za-z]:)?[^\s:\"'()<>,;|]{1,300})"
    r":(?P<line>\d{1,7})(?::\d{1,5})?(?:: ?| - )(?P<said>\S.*)$"
)
_BRACKETED = re.compile(
    r"\s{0,40}(?P<file>(?:[A-Za-z]:)?[^\s:\"'()<>,;|]{1,300})\((?P<line>\d{1,7})(?:,\d{1,5})?\) ?: "
    r"(?P<word>(?:fatal )?error|warning)(?P<said> \S.*)$"
)
"""As compilers of Microsoft print it."""
_LOOKS_LIKE_A_FILE = re.compile(r"[\\/]|\.[A-Za-z_]\w{0,15}$")
_IS_A_WARNING = re.compile(r"\[?(?:warning|note|info)\b|\w{0,60}Warning: ", re.IGNORECASE)
_IS_A_FRAME = re.compile(r"in \S+$")
_MILD = ("warn", "info", "note", "debug")


def read(lines: Sequence[str], *, warnings: bool = True) -> Seen | None:
    """The complaints in these lines; mere warnings only where there is nothing worse, and if wanted."""
    errors: list[Finding] = []
    mild: list[Finding] = []
    for place in _places(lines):
        (mild if _is_mild(place) else errors).append(_finding(place))
    for level, finding in (*pointed(lines), *listed(lines)):
        (errors if level == "error" else mild).append(finding)
    errors += tracebacks(lines)
    findings = distinct(errors or (mild if warnings else []))
    return Seen(tool=TOOL, findings=findings) if findings else None


def _places(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Each complaint once, even if the same words come for many lines of a file."""
    known = set()
    for line in lines:
        place = (_PLACE.match(line) or _BRACKETED.match(line)) if ":" in line else None
        if place is None or _IS_A_FRAME.match(place["said"]) or not _LOOKS_LIKE_A_FILE.search(place["file"]):
            continue
        if (key := (place["file"], place["said"])) not in known:
            known.add(key)
            yield place


def _is_mild(place: re.Match[str]) -> bool:
    known = place.groupdict()
    level = (known.get("level") or known["word"] or "").lower()
    return level.startswith(_MILD) or _IS_A_WARNING.match(place["said"]) is not None


def _finding(place: re.Match[str]) -> Finding:
    return placed(place["file"], int(place["line"]), place["said"].strip())
