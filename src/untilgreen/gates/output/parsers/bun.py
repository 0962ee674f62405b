"""bun test: `(fail) cart > totals [0.2ms]` below its error, counts one below the other, `Ran 3 tests`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import several
from untilgreen.gates.output.parsers.findings import finding_about, paragraph, runner_result
from untilgreen.gates.output.tool_result import ToolResult
from untilgreen.regex import regex

TOOL = "bun"
_BANNER = regex(r"bun test v\d\S{0,40} \(\w{1,40}\)$")
_FILE = regex(r"(?:::group::)?(\S.{0,500}\.[cm]?[jt]sx?):$")
_MARK = regex(r"(?:\((pass|fail|skip|todo)\)|([✓✗»✎])) (\S.*?)(?: \[\d{1,9}(?:\.\d{1,9})?m?s\])?$")
_WORDS = {"✓": "pass", "✗": "fail", "»": "skip", "✎": "todo"}
_COUNT = regex(r" ?(\d{1,9}) (pass|fail|skip|todo|errors?)$")
_ENDED = regex(r"Ran (\d{1,9}) tests? across \d{1,9} files?\.")
_BETWEEN = "# Unhandled error between tests"
_EMPTY = ("The following filters did not match any test files", "No tests found!", 'error: regex "')
_ERROR = "error: "
_LOOK = 60


def read(lines: Sequence[str]) -> ToolResult | None:
    """What bun says in these lines; None if it did not print them."""
    if not any(_BANNER.match(line) for line in lines):
        return None
    findings: list[Finding] = []
    marks, counts = Counter[str](), Counter[str]()
    file, ended, empty, since = "", False, False, 0
    for number, line in enumerate(lines):
        if (header := _FILE.match(line)) is not None:
            file, since = header[1], number
        elif (mark := _MARK.match(line)) is not None:
            word = mark[1] or _WORDS[mark[2]]
            marks[word] += 1
            if word == "fail":
                findings.append(_finding(file, mark[3], lines[since:number]))
            since = number
        elif line == _BETWEEN:
            findings.append(_finding(file, "unhandled error", lines[number : number + _LOOK]))
        elif (count := _COUNT.match(line)) is not None:
            counts[count[2]] += int(count[1])
        elif (end := _ENDED.match(line)) is not None:
            ended, empty = True, empty or end[1] == "0"
        elif line.startswith(_EMPTY):
            empty = True
    if not (ended or empty):
        told = several(sum(marks.values()), "test")
        findings.append(finding_about("unfinished", f"It ended after {told}, before its summary."))
    shown = counts if ended and counts else marks
    return runner_result(
        TOOL,
        findings,
        passed=shown["pass"],
        failed=shown["fail"],
        skipped=shown["skip"] + shown["todo"],
        empty=empty,
    )


def _finding(file: str, name: str, around: Sequence[str]) -> Finding:
    """bun prints the error before the name of its test."""
    start = next((number for number, line in enumerate(around) if line.startswith(_ERROR)), None)
    said = "" if start is None else paragraph(around, start).removeprefix(_ERROR)
    if start is not None and "Expected: " in (more := paragraph(around, start + 1)):
        said = f"{said}\n{more}"
    return finding_about(f"{file}: {name}" if file else name, said, file or None)
