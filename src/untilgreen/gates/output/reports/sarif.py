"""SARIF 2.1.0: what analyzers found, each result with a rule, a level and a place."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct, field

from untilgreen.core.values.fingerprint import normalize
from untilgreen.core.values.model import Finding
from untilgreen.gates.output.plain_text import MakeRelative
from untilgreen.gates.output.tool_result import (
    MOST_FINDINGS,
    BadReport,
    ToolResult,
    distinct,
    first_lines,
    stable_name,
)

TOOL = "sarif"
_ERROR = "error"
_MILD = ("warning", "note")
_SETTLED = frozenset({"absent"})


class _Message(Struct, frozen=True):
    text: str | None = None
    id: str | None = None


class _Region(Struct, frozen=True):
    startLine: int | None = None


class _Artifact(Struct, frozen=True):
    uri: str | None = None


class _Physical(Struct, frozen=True):
    artifactLocation: _Artifact | None = None
    region: _Region | None = None


class _Location(Struct, frozen=True):
    physicalLocation: _Physical | None = None


class _Rule(Struct, frozen=True):
    id: str | None = None


class _Result(Struct, frozen=True):
    message: _Message
    ruleId: str | None = None
    rule: _Rule | None = None
    level: str = "warning"
    kind: str = "fail"
    baselineState: str | None = None
    suppressions: list[_Rule] | None = None
    locations: list[_Location] | None = None


class _Notice(Struct, frozen=True):
    message: _Message
    level: str = "warning"


class _Invocation(Struct, frozen=True):
    executionSuccessful: bool = True
    toolExecutionNotifications: list[_Notice] | None = None


class _Run(Struct, frozen=True):
    results: list[_Result] | None = None
    invocations: list[_Invocation] | None = None


class Log(Struct, frozen=True):
    """The parts of a log that say what is wrong."""

    runs: list[_Run] = field(default_factory=list)
    version: str = ""


def seen(log: Log, make_relative: MakeRelative) -> ToolResult:
    """What the log tells; warnings and notes only if there is nothing worse."""
    if log.version != "2.1.0":
        raise BadReport(
            f"is not SARIF 2.1.0: its version is {log.version[:40]!r}. Let the tool write version 2.1.0."
        )
    results = [result for run in log.runs for result in run.results or () if _counts(result)]
    errors = [result for result in results if result.level == _ERROR]
    mild = [result for result in results if result.level in _MILD]
    told = (_finding(result, make_relative) for result in (errors or mild)[:MOST_FINDINGS])
    broken = list(_broken(log))
    findings = [*broken, *told]
    return ToolResult(tool=TOOL, findings=distinct(findings), failed=len(errors) + len(broken))


def _counts(result: _Result) -> bool:
    """Whether a result counts: not passed, not absent, and not accepted by a person."""
    return result.kind == "fail" and result.baselineState not in _SETTLED and not result.suppressions


def _broken(log: Log) -> Iterator[Finding]:
    """An unfinished analysis without findings does not mean that nothing is wrong."""
    for run in log.runs:
        for call in run.invocations or ():
            if call.executionSuccessful:
                continue
            notices = [notice.message.text for notice in call.toolExecutionNotifications or ()]
            said = next(filter(None, notices), "The tool says that it did not run to its end.")
            yield Finding(id="unfinished analysis", message=first_lines(said))


def _finding(result: _Result, make_relative: MakeRelative) -> Finding:
    rule = result.ruleId or (result.rule.id if result.rule else None) or ""
    said = make_relative(result.message.text or result.message.id or rule)
    place, line = _place(result)
    file = make_relative(place) if place else None
    told = " ".join(filter(None, (rule, normalize(said))))
    message = f"{rule}: {said}" if rule else said
    return Finding(
        id=stable_name(f"{file}: {told}" if file else told),
        message=first_lines(message),
        file=file,
        line=line,
    )


def _place(result: _Result) -> tuple[str | None, int | None]:
    for location in result.locations or ():
        place = location.physicalLocation
        if place is not None and place.artifactLocation is not None and place.artifactLocation.uri:
            file = unquote(place.artifactLocation.uri).removeprefix("file://")
            return file, place.region.startLine if place.region else None
    return None, None
