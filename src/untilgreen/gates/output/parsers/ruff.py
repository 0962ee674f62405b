"""ruff: `a.py:3:4: F401 message`, the same with an arrow and source below, or all of it as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_at, linter_result
from untilgreen.gates.output.parsers.json_block import decoded
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "ruff"
_CODE = r"([A-Z]{1,5}\d{3,4}|invalid-syntax|unformatted|SyntaxError|[a-z]+(?:-[a-z]+){1,9})"
_CONCISE = regex(
    r"([^\s:][^:]{0,500}):(?:cell \d{1,5}:)?(\d{1,7}):\d{1,7}: " + _CODE + r":?( \[\*\])? (\S.*)$"
)
_TITLE = regex(_CODE + r":?(?: \[[*-]\])? (\S.*)$")
_ARROW = regex(r" {1,9}--> (\S.{0,500}?):(?:cell \d{1,5}:)?(\d{1,7}):\d{1,7}$")
_REFORMAT = regex(r"Would reformat: (\S.*)$")
_COUNT = regex(r"Found \d{1,9} errors?(?: \(\d{1,9} fixed, \d{1,9} remaining\))?\.$|All checks passed!$")
_FORMATTED = regex(r"\d{1,9} files? would be reformatted(?:, \d{1,9} files? already formatted)?$")
_PYTHON = (".py", ".pyi", ".ipynb", ".toml", ".md")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What ruff says in these lines; None if it did not print them."""
    concise: list[Finding] = []
    full: list[Finding] = []
    reformat: list[Finding] = []
    counted = fixable = False
    for number, line in enumerate(lines):
        if (arrow := _ARROW.match(line)) is not None:
            full += _titled(lines[number - 1] if number else "", arrow)
        elif (place := _CONCISE.match(line)) is not None:
            concise.append(finding_at(place[1], int(place[2]), place[5], place[3]))
            fixable = fixable or place[4] is not None
        elif (unformatted := _REFORMAT.match(line)) is not None:
            reformat.append(finding_at(unformatted[1], None, "would be reformatted"))
        elif _COUNT.match(line) or (reformat and _FORMATTED.match(line)):
            counted = True
    own = counted or fixable
    if not (full or own) or (own and not (full or concise or reformat) and "All checks passed!" not in lines):
        return None
    return linter_result(TOOL, [*full, *(concise if own else []), *reformat], certain=counted)


def _titled(title: str, arrow: re.Match[str]) -> list[Finding]:
    """`F401 message`, and the place below it."""
    told = _TITLE.match(title) if arrow[1].endswith(_PYTHON) else None
    return [finding_at(arrow[1], int(arrow[2]), told[2], told[1])] if told else []


class _Place(Struct, frozen=True):
    row: int = 0


class _Row(Struct, frozen=True):
    filename: str
    message: str
    code: str | None
    location: _Place | None = None

    @property
    def line(self) -> int | None:
        return self.location.row if self.location else None


def read_json(text: str) -> ToolResult | None:
    """What `ruff check --output-format json` says; None if the text is something else."""
    if '"noqa_row"' not in text or '"filename"' not in text:
        return None
    rows = decoded(text, list[_Row])
    if rows is None:
        return None
    return linter_result(
        TOOL,
        (
            finding_at(
                each.filename,
                each.line,
                each.message,
                each.code or "invalid-syntax",
            )
            for each in rows
        ),
        certain=True,
    )
