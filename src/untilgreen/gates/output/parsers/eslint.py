"""eslint: a file, rows of `3:4  error  message  rule` below it, and a count; or all of it as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, paragraph
from untilgreen.gates.output.parsers.json_block import decoded
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "eslint"
_ROW = regex(r" {1,12}(\d{1,7}):\d{1,7} {1,12}(error|warning) {1,12}(\S.*)$")
_FILE = regex(r"(?:[A-Za-z]:)?[^\s:].{0,500}\.\w{1,20}$")
_COUNT = regex(r"(?:✖|×|x) \d{1,9} problems? \(\d{1,9} errors?, \d{1,9} warnings?\)$")
_COMPACT = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:].{0,500}?): line (?P<line>\d{1,7}), col \d{1,7}, "
    r"(?P<level>Error|Warning) - (?P<said>\S.*?)(?: \((?P<rule>[\w@/.-]{1,100})\))?$"
)
_UNIX = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:].{0,500}?):(?P<line>\d{1,7}):\d{1,7}: (?P<said>\S.*?) "
    r"\[(?P<level>Error|Warning)(?:/(?P<rule>[\w@/.-]{1,100}))?\]$"
)
_CRASH = "Oops! Something went wrong! :("
_RULE = regex(r"@?[a-z][\w@/.-]{0,100}$")
_ERROR = 2


def read(lines: Sequence[str]) -> ToolResult | None:
    """What eslint says in these lines; None if it did not print them."""
    file = ""
    found: dict[str, list[Finding]] = {"error": [], "warning": []}
    crashes: list[Finding] = []
    counted = False
    for number, line in enumerate(lines):
        if (row := _ROW.match(line)) is not None:
            if file:
                said, rule = _parts(row[3])
                found[row[2]].append(finding_at(file, int(row[1]), said, rule))
        elif (flat := _COMPACT.match(line) or _UNIX.match(line)) is not None:
            finding = finding_at(
                flat["file"], int(flat["line"]), flat["said"].rstrip("."), flat["rule"] or ""
            )
            found[flat["level"].lower()].append(finding)
        elif _COUNT.match(line):
            counted = True
        elif line == _CRASH:
            crashes.append(finding_about("eslint: crashed", "\n".join(_after(lines, number))))
        elif line and line[0] != " ":
            file = line if _FILE.match(line) else ""
    if not (counted or crashes or any(found.values())):
        return None
    return linter_result(
        TOOL, [*found["error"], *crashes], found["warning"], certain=counted or bool(crashes)
    )


def _after(lines: Sequence[str], number: int) -> list[str]:
    """The version comes first, then the error."""
    said = paragraph(lines, number + 1)
    rest = next((at for at in range(number + 1, min(number + 9, len(lines))) if lines[at] == said), number)
    return [paragraph(lines, rest + 1)]


def _parts(text: str) -> tuple[str, str]:
    """The message and the rule; a parsing error comes from no rule."""
    said, gap, rule = text.rpartition("  ")
    return (said.rstrip(), rule) if gap and _RULE.match(rule) else (text, "")


class _Message(Struct, frozen=True):
    message: str | None = None
    severity: int | None = None
    ruleId: str | None = None
    line: int | None = None


class _File(Struct, frozen=True):
    filePath: str
    messages: list[_Message]


def read_json(text: str) -> ToolResult | None:
    """What `eslint -f json` says; None if the text is something else."""
    files = decoded(text, list[_File]) if '"filePath"' in text and '"messages"' in text else None
    if files is None:
        return None
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for file in files:
        for each in file.messages:
            finding = finding_at(file.filePath, each.line, each.message or "", each.ruleId or "")
            (errors if each.severity == _ERROR else warnings).append(finding)
    return linter_result(TOOL, errors, warnings, certain=True)
