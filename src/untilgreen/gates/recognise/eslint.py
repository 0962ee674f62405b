"""eslint: a file, rows of `3:4  error  message  rule` below it, and a count; or all of it as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.document import decoded
from untilgreen.gates.recognise.shape import first_words, linted, named, placed
from untilgreen.gates.seen import Seen

TOOL = "eslint"
_ROW = re.compile(r" {1,12}(\d{1,7}):\d{1,7} {1,12}(error|warning) {1,12}(\S.*)$")
_FILE = re.compile(r"(?:[A-Za-z]:)?[^\s:].{0,500}\.\w{1,20}$")
_COUNT = re.compile(r"(?:✖|×|x) \d{1,9} problems? \(\d{1,9} errors?, \d{1,9} warnings?\)$")
_COMPACT = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:].{0,500}?): line (?P<line>\d{1,7}), col \d{1,7}, "
    r"(?P<level>Error|Warning) - (?P<said>\S.*?)(?: \((?P<rule>[\w@/.-]{1,100})\))?$"
)
_UNIX = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:].{0,500}?):(?P<line>\d{1,7}):\d{1,7}: (?P<said>\S.*?) "
    r"\[(?P<level>Error|Warning)(?:/(?P<rule>[\w@/.-]{1,100}))?\]$"
)
_CRASH = "Oops! Something went wrong! :("
_RULE = re.compile(r"@?[a-z][\w@/.-]{0,100}$")
_ERROR = 2


def read(lines: Sequence[str]) -> Seen | None:
    """What eslint says in these lines; None where it did not print them."""
    file = ""
    found: dict[str, list[Finding]] = {"error": [], "warning": []}
    crashes: list[Finding] = []
    counted = False
    for number, line in enumerate(lines):
        if (row := _ROW.match(line)) is not None:
            if file:
                said, rule = _parts(row[3])
                found[row[2]].append(placed(file, int(row[1]), said, rule))
        elif (flat := _COMPACT.match(line) or _UNIX.match(line)) is not None:
            finding = placed(flat["file"], int(flat["line"]), flat["said"].rstrip("."), flat["rule"] or "")
            found[flat["level"].lower()].append(finding)
        elif _COUNT.match(line):
            counted = True
        elif line == _CRASH:
            crashes.append(named("eslint: crashed", "\n".join(_after(lines, number))))
        elif line and line[0] != " ":
            file = line if _FILE.match(line) else ""
    if not (counted or crashes or any(found.values())):
        return None
    return linted(TOOL, [*found["error"], *crashes], found["warning"])


def _after(lines: Sequence[str], number: int) -> list[str]:
    """The version comes first, then the error."""
    said = first_words(lines, number + 1)
    rest = next((at for at in range(number + 1, min(number + 9, len(lines))) if lines[at] == said), number)
    return [first_words(lines, rest + 1)]


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


def read_json(text: str) -> Seen | None:
    """What `eslint -f json` says; None where the text is none of it."""
    files = decoded(text, list[_File]) if '"filePath"' in text and '"messages"' in text else None
    if files is None:
        return None
    errors: list[Finding] = []
    warnings: list[Finding] = []
    for file in files:
        for each in file.messages:
            finding = placed(file.filePath, each.line, each.message or "", each.ruleId or "")
            (errors if each.severity == _ERROR else warnings).append(finding)
    return linted(TOOL, errors, warnings)
