"""Test runners whose output is JSON: mocha, jest and vitest, rspec; and the compiler messages of cargo."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import DecodeError, Struct, field
from msgspec.json import Decoder

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.findings import finding_about, finding_at, linter_result, runner_result
from untilgreen.gates.output.parsers.json_block import decoded_object
from untilgreen.gates.output.tool_result import ToolResult


class _MochaError(Struct, frozen=True):
    message: str = ""


class _MochaTest(Struct, frozen=True):
    fullTitle: str
    file: str | None = None
    err: _MochaError = _MochaError()


class _MochaStats(Struct, frozen=True):
    tests: int
    passes: int
    pending: int
    failures: int


class _Mocha(Struct, frozen=True):
    stats: _MochaStats
    failures: list[_MochaTest]


def read_mocha(text: str) -> ToolResult | None:
    """What `mocha --reporter json` says; None if the text is something else."""
    if '"stats"' not in text or '"fullTitle"' not in text:
        return None
    run = decoded_object(text, _Mocha)
    if run is None:
        return None
    return runner_result(
        "mocha",
        (
            finding_about(_named(test.file, test.fullTitle), test.err.message, test.file)
            for test in run.failures
        ),
        passed=run.stats.passes,
        failed=run.stats.failures,
        skipped=run.stats.pending,
        empty=not run.stats.tests,
    )


class _JestTest(Struct, frozen=True):
    fullName: str
    status: str
    failureMessages: list[str] = field(default_factory=list)


class _JestFile(Struct, frozen=True):
    name: str
    message: str = ""
    status: str = ""
    assertionResults: list[_JestTest] = field(default_factory=list)


class _Jest(Struct, frozen=True):
    numPassedTests: int
    numFailedTests: int
    testResults: list[_JestFile]
    numPendingTests: int = 0
    numTodoTests: int = 0


def read_jest(text: str) -> ToolResult | None:
    """What `jest --json`, or vitest's reporter of that format, says; None if the text is something else."""
    if '"numFailedTests"' not in text:
        return None
    run = decoded_object(text, _Jest)
    if run is None:
        return None
    findings: list[Finding] = []
    for file in run.testResults:
        red = [test for test in file.assertionResults if test.status == "failed"]
        findings += [
            finding_about(_named(file.name, test.fullName), "\n".join(test.failureMessages), file.name)
            for test in red
        ]
        if file.status == "failed" and not red:
            findings.append(finding_about(f"{file.name}: did not load", file.message, file.name))
    return runner_result(
        "jest",
        findings,
        passed=run.numPassedTests,
        failed=run.numFailedTests,
        skipped=run.numPendingTests + run.numTodoTests,
        empty=not run.testResults,
    )


class _RspecError(Struct, frozen=True):
    message: str = ""


class _Example(Struct, frozen=True):
    full_description: str
    status: str
    file_path: str
    line_number: int | None = None
    exception: _RspecError | None = None


class _RspecSummary(Struct, frozen=True):
    errors_outside_of_examples_count: int = 0


class _Rspec(Struct, frozen=True):
    examples: list[_Example]
    summary: _RspecSummary = _RspecSummary()
    messages: list[str] = field(default_factory=list)


def read_rspec(text: str) -> ToolResult | None:
    """What `rspec --format json` says; None if the text is something else."""
    if '"examples"' not in text or '"summary_line"' not in text:
        return None
    run = decoded_object(text, _Rspec)
    if run is None:
        return None
    findings = [_of_example(each) for each in run.examples if each.status == "failed"]
    if run.summary.errors_outside_of_examples_count:
        findings.append(finding_about("outside of examples", "\n".join(run.messages)))
    words = [each.status for each in run.examples]
    return runner_result(
        "rspec",
        findings,
        passed=words.count("passed"),
        failed=words.count("failed"),
        skipped=words.count("pending"),
        empty=not words,
    )


def _of_example(example: _Example) -> Finding:
    file = example.file_path.removeprefix("./")
    said = example.exception.message if example.exception else ""
    return finding_about(f"{file}: {example.full_description}", said, file, example.line_number)


class _Span(Struct, frozen=True):
    file_name: str
    line_start: int
    is_primary: bool = False


class _Code(Struct, frozen=True):
    code: str


class _RustMessage(Struct, frozen=True):
    level: str
    message: str
    code: _Code | None = None
    spans: list[_Span] = field(default_factory=list)


class _CargoLine(Struct, frozen=True):
    reason: str
    message: _RustMessage | None = None
    success: bool = True


_CARGO = Decoder(_CargoLine)


def read_cargo(lines: Sequence[str]) -> ToolResult | None:
    """What `cargo --message-format=json` says, one object per line; None if there is none."""
    errors: list[Finding] = []
    warnings: list[Finding] = []
    known = False
    for line in lines:
        event = _cargo_line(line)
        known = known or event is not None
        message = event.message if event is not None else None
        if message is None or not message.spans or message.level not in ("error", "warning"):
            continue
        span = next((each for each in message.spans if each.is_primary), message.spans[0])
        rule = message.code.code if message.code else ""
        found = finding_at(span.file_name, span.line_start, message.message, rule)
        (errors if message.level == "error" else warnings).append(found)
    return linter_result("cargo", errors, warnings, certain=True) if known else None


def _cargo_line(line: str) -> _CargoLine | None:
    if not line.startswith('{"reason":"'):
        return None
    try:
        return _CARGO.decode(line)
    except (DecodeError, RecursionError):
        return None


def _named(file: str | None, name: str) -> str:
    return f"{file}: {name}" if file else name
