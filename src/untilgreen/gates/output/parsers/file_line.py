"""Places in files, whichever tool prints them: `file:line: message`, arrows, rows, tracebacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.values.fingerprint import normalize
from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import (
    finding_at,
    unread_place,
)
from untilgreen.gates.output.tool_result import ToolResult, distinct, first_lines, stable_name
from untilgreen.regex import regex

TOOL = "lines"

_PLACE = regex(
    r"\s{0,40}(?:\[(?P<level>[a-zA-Z]{3,8})\]:? {1,4}|(?P<word>error|warning|ERROR|WARNING): ?"
    r"|[a-z][a-z0-9_-]{1,19}: )?"
    r"(?P<file>(?:[A-Za-z]:)?[^\s:\"'()<>,;|]{1,300})"
    r":(?P<line>\d{1,7})(?::\d{1,5})?(?:: ?| - )(?P<said>\S.*)$"
)
_BRACKETED = regex(
    r"\s{0,40}(?P<file>(?:[A-Za-z]:)?[^\s:\"'()<>,;|]{1,300})\((?P<line>\d{1,7})(?:,\d{1,5})?\) ?: "
    r"(?P<word>(?:fatal )?error|warning)(?P<said> \S.*)$"
)
"""The form that Microsoft's compilers print."""
_LOOKS_LIKE_A_FILE = regex(r"[\\/]|\.[A-Za-z_]\w{0,15}$")
_IS_A_WARNING = regex(r"\[?(?:warning|note|info)\b|\w{0,60}Warning: ", re.IGNORECASE)
_OF_NO_TEST = regex(r"in \S+$|\w{0,60}Warning: ")
"""A frame of a traceback, or what Python's `warnings` print: neither is a failure by itself."""
_MILD = ("warn", "info", "note", "debug")
_TITLE = regex(r"\s{0,4}(error|warning)(?:\[([A-Za-z]{0,10}\d{1,6}|[\w:-]{1,100})\])?: (\S.*)$")
_ARROW = regex(r"\s{1,12}(?:-->|╭▸|┌─|╭─\[) ?(\S.{0,500}?):(\d{1,7}):\d{1,7}\]?$")
_ROW_FILE = regex(r"(?:[A-Za-z]:)?[^\s:][^:]{0,500}\.\w{1,20}$")
_ROW = regex(r" {1,12}(\d{1,7}):\d{1,7} {1,12}(✖|×|⚠|‼|error|warning|info)[: ] {0,12}(\S.*)$")
_BAD_ROW = frozenset({"✖", "×", "error"})
_NODE_ERROR = regex(
    r"(?:Uncaught )?\[?((?:[A-Z]\w{0,60})?(?:Error|Exception))(?: \[\w{1,60}\])?(?:: (.*?))?\]?$"
)
_NODE_FRAME = regex(r"    at (?:[^()]{1,300} \()?(\S{1,500}?):(\d{1,7}):\d{1,7}\)?(?: \{)?$")
_LONGEST_MESSAGE = 12
_ANNOTATION = regex(r"::(error|warning) ([^:]{0,500}(?::[^:]{1,500}){0,9}?)::(.*)$")
_ANNOTATION_KEY = regex(r"(\w{1,20})=(.*?)(?=,(?:file|line|endLine|col|column|endColumn|title)=|$)")
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = regex(r'\s{1,40}File "([^"]{1,1000})", line (\d{1,7}), in (\S{1,300})')
_SYNTAX_FRAME = regex(r'\s{1,40}File "([^"]{1,1000})", line (\d{1,7})$')
_EXCEPTION = regex(r"((?:[\w.]{0,200}\.)?[A-Z]\w{0,100}|KeyboardInterrupt)(?:: (.*))?$")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")


def read(lines: Sequence[str], *, warnings: bool = True) -> ToolResult | None:
    """The findings in these lines; mere warnings only if there is nothing worse, and if wanted."""
    errors: list[Finding] = []
    mild: list[Finding] = []
    for place in _places(lines):
        (mild if _is_mild(place) else errors).append(_finding(place))
    for level, finding in (*_arrows(lines), *_rows(lines), *_annotations(lines)):
        (errors if level == "error" else mild).append(finding)
    errors += _tracebacks(lines)
    errors += _node_errors(lines)
    findings = distinct(errors or (mild if warnings else []))
    return ToolResult(tool=TOOL, findings=findings) if findings else None


def _places(lines: Sequence[str]) -> Iterator[re.Match[str]]:
    """Each finding once, even if the same message is printed for many lines of a file."""
    known = set()
    for line in lines:
        place = (_PLACE.match(line) or _BRACKETED.match(line)) if ":" in line else None
        if place is None or _OF_NO_TEST.match(place["said"]) or not _LOOKS_LIKE_A_FILE.search(place["file"]):
            continue
        if (key := (place["file"], place["said"])) not in known:
            known.add(key)
            yield place


def _is_mild(place: re.Match[str]) -> bool:
    known = place.groupdict()
    level = (known.get("level") or known["word"] or "").lower()
    return level.startswith(_MILD) or _IS_A_WARNING.match(place["said"]) is not None


def _finding(place: re.Match[str]) -> Finding:
    return finding_at(place["file"], int(place["line"]), place["said"].strip())


def _node_errors(lines: Sequence[str]) -> Iterator[Finding]:
    """Uncaught errors of node, named by what was thrown and the first frame outside node itself."""
    for number, line in enumerate(lines[:-1]):
        if (error := _NODE_ERROR.match(line)) is None or (first := _first_frame(lines, number + 1)) is None:
            continue
        frames = map(_NODE_FRAME.match, lines[first : first + 30])
        place = next((frame for frame in frames if frame and not frame[1].startswith("node:")), None)
        file, row = (place[1].removeprefix("file://"), int(place[2])) if place else (None, None)
        if error[1] == "SyntaxError":
            file, row = unread_place(lines, number) or (file, row)
        told = f"{error[1]}: {normalize(error[2] or '')}"
        name = stable_name(f"{file}: {told}" if file else told)
        yield Finding(id=name, message=first_lines(line), file=file, line=row)


def _first_frame(lines: Sequence[str], after: int) -> int | None:
    """The line where the frames begin; a message may take several, such as the stack of requires."""
    for number, line in enumerate(lines[after : after + _LONGEST_MESSAGE], after):
        if line.startswith("    at "):
            return number
        if not line.strip():
            return None
    return None


def _annotations(lines: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """`::error file=a.ts,title=name,line=3::message`, as tools print it for GitHub Actions."""
    for line in lines:
        if not line.startswith("::") or (note := _ANNOTATION.match(line)) is None:
            continue
        keys = dict(_ANNOTATION_KEY.findall(note[2]))
        said = note[3].replace("%0A", "\n").replace("%25", "%")
        file, row = keys.get("file", ""), keys.get("line", "")
        name = keys.get("title", "").strip()
        if file and name:
            name = name if file.endswith(name.partition(" > ")[0]) else f"{file}: {name}"
            yield (
                note[1],
                Finding(
                    id=stable_name(name),
                    message=first_lines(said),
                    file=file,
                    line=int(row) if row.isdigit() else None,
                ),
            )
        elif file:
            yield note[1], finding_at(file, int(row) if row.isdigit() else None, said.partition("\n")[0])


def _arrows(lines: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Each finding with its level; an arrow below a note or a help line belongs to none."""
    for number, line in enumerate(lines):
        if ":" not in line or (arrow := _ARROW.match(line)) is None or not number:
            continue
        if (title := _TITLE.match(lines[number - 1])) is not None:
            yield title[1], finding_at(arrow[1], int(arrow[2]), title[3], title[2] or "")


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Each row with its level."""
    file = ""
    for line in lines:
        if not line:
            continue
        if line[0] != " ":
            file = line if _ROW_FILE.match(line) else ""
        elif file and (row := _ROW.match(line)) is not None:
            level = "error" if row[2] in _BAD_ROW else "warning"
            yield level, finding_at(file, int(row[1]), " ".join(row[3].split()))


def _tracebacks(lines: Sequence[str]) -> Iterator[Finding]:
    """One finding for each traceback; of chained errors, the last one."""
    frames: list[re.Match[str]] = []
    waiting: Finding | None = None
    inside = False
    for line in lines:
        if line.endswith(_TRACEBACK):
            inside, frames = True, []
        elif line.startswith(_CHAINED):
            waiting = None
        elif not inside:
            continue
        elif (frame := _FRAME.match(line) or _SYNTAX_FRAME.match(line)) is not None:
            frames.append(frame)
        elif (error := _EXCEPTION.match(line)) is not None:
            if waiting is not None:
                yield waiting
            waiting, inside = _raised(frames, error), False
    if waiting is not None:
        yield waiting


def _raised(frames: Sequence[re.Match[str]], error: re.Match[str]) -> Finding:
    """A test is identified by its name, whatever it raises; anything else by the error and the function.

    The error alone is not enough: the same one from another function is another failure.
    """
    said = first_lines(error[0])
    test = next((frame for frame in frames if frame.re.groups == 3 and frame[3].startswith("test_")), None)
    if test is not None:
        name = f"{test[1]}: {test[3]}"
        return Finding(id=stable_name(name), message=said, file=test[1], line=int(test[2]))
    told = f"{error[1]}: {normalize(error[2] or '')}"
    if not frames:
        return Finding(id=stable_name(told), message=said)
    last = frames[-1]
    inside = f"{last[3]}: " if last.re.groups == 3 and last[3] != "<module>" else ""
    return Finding(
        id=stable_name(f"{last[1]}: {inside}{told}"), message=said, file=last[1], line=int(last[2])
    )
