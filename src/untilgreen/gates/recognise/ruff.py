"""ruff: `a.py:3:4: F401 message`, the same with an arrow below and code, or all of it as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.document import decoded
from untilgreen.gates.recognise.shape import linted, placed
from untilgreen.gates.seen import Seen

TOOL = "ruff"
_CODE = r"([A-Z]{1,5}\d{3,4}|invalid-syntax|unformatted|SyntaxError|[a-z]+(?:-[a-z]+){1,9})"
_CONCISE = re.compile(
    r"([^\s:][^:]{0,500}):(?:cell \d{1,5}:)?(\d{1,7}):\d{1,7}: " + _CODE + r":?( \[\*\])? (\S.*)$"
)
_TITLE = re.compile(_CODE + r":?(?: \[[*-]\])? (\S.*)$")
_ARROW = re.compile(r" {1,9}--> (\S.{0,500}?):(?:cell \d{1,5}:)?(\d{1,7}):\d{1,7}$")
_REFORMAT = re.compile(r"Would reformat: (\S.*)$")
_COUNT = re.compile(r"Found \d{1,9} errors?(?: \(\d{1,9} fixed, \d{1,9} remaining\))?\.$|All checks passed!$")
_FORMATTED = re.compile(r"\d{1,9} files? would be reformatted(?:, \d{1,9} files? already formatted)?$")
_PYTHON = (".py", ".pyi", ".ipynb", ".toml", ".md")


def read(lines: Sequence[str]) -> Seen | None:
    """What ruff says in these lines; None where it did not print them."""
    concise: list[Finding] = []
    full: list[Finding] = []
    reformat: list[Finding] = []
    counted = fixable = False
    for number, line in enumerate(lines):
        if (arrow := _ARROW.match(line)) is not None:
            full += _titled(lines[number - 1] if number else "", arrow)
        elif (place := _CONCISE.match(line)) is not None:
            concise.append(placed(place[1], int(place[2]), place[5], place[3]))
            fixable = fixable or place[4] is not None
        elif (unformatted := _REFORMAT.match(line)) is not None:
            reformat.append(placed(unformatted[1], None, "would be reformatted"))
        elif _COUNT.match(line) or (reformat and _FORMATTED.match(line)):
            counted = True
    own = counted or fixable
    if not (full or own) or (own and not (full or concise or reformat) and "All checks passed!" not in lines):
        return None
    return linted(TOOL, [*full, *(concise if own else []), *reformat])


def _titled(title: str, arrow: re.Match[str]) -> list[Finding]:
    """`F401 message`, and below it where."""
    told = _TITLE.match(title) if arrow[1].endswith(_PYTHON) else None
    return [placed(arrow[1], int(arrow[2]), told[2], told[1])] if told else []


class _Place(Struct, frozen=True):
    row: int = 0


class _Complaint(Struct, frozen=True):
    filename: str
    message: str
    code: str | None
    location: _Place | None = None

    @property
    def line(self) -> int | None:
        return self.location.row if self.location else None


def read_json(text: str) -> Seen | None:
    """What `ruff check --output-format json` says; None where the text is none of it."""
    if '"noqa_row"' not in text or '"filename"' not in text:
        return None
    complaints = decoded(text, list[_Complaint])
    if complaints is None:
        return None
    return linted(
        TOOL,
        (
            placed(
                each.filename,
                each.line,
                each.message,
                each.code or "invalid-syntax",
            )
            for each in complaints
        ),
    )
