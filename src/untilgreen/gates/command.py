"""A shell command as a gate: findings come from its report or output, which decides with the exit code."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path, PurePath
from typing import ClassVar, Literal

from anyio import to_thread

from untilgreen.core.briefing.excerpt import EXCERPT_BYTES, trim
from untilgreen.core.scoring.gate_health import out_of_time
from untilgreen.core.values.fingerprint import output_fingerprint
from untilgreen.core.values.model import SILENT, Finding, Status, ToolCount, Verdict
from untilgreen.core.values.units import several
from untilgreen.errors import ConfigError, nearest
from untilgreen.gates.output.plain_text import plain, relative_to
from untilgreen.gates.output.recognize import errors_in, recognize_all
from untilgreen.gates.output.report_files import FORMATS, Report
from untilgreen.gates.output.tool_result import (
    NO_TESTS,
    BadReport,
    ToolResult,
    distinct,
    first_lines,
    no_tests,
)
from untilgreen.ports import CheckContext
from untilgreen.process.run import TOO_MUCH, Ran
from untilgreen.process.run import run as run_to_its_end
from untilgreen.process.start import CannotStart, shell
from untilgreen.regex import regex

CANNOT_RUN = "cannot-run"
DISK_LIMIT = "disk-limit"
REPORT = "report"
ALL_SKIPPED = "all-skipped"
SHORT_OUTPUT = 1_000
"""Up to this many characters, output is judged faster here than in a thread."""
BARE = ("ended by ", SILENT)
"""Prefixes of a finding's id when only the exit status is known."""

_NO_PROGRAM = {126: ("permission denied", "Make it executable"), 127: ("command not found", "Install it")}
"""Fault and fix, by the shell's exit code for a program that it could not start."""
_NOTHING_COLLECTED = 5
_SIGNALED = 128
_MISSING_PROGRAM = regex(r"([^\s:]{1,300}): (?:command )?(?:not found|[Pp]ermission denied)$")
_TEST_RUNNER = regex(r"(?:^|[\s/;&|(])(pytest|py\.test|unittest)(?=$|[\s;&|)])")


@dataclass(frozen=True)
class CommandGate:
    """Passes when a shell command exits with the expected code."""

    keeps_time: ClassVar[bool] = True

    run: str
    _: KW_ONLY
    expect: int = 0
    env: dict[str, str] = field(default_factory=dict)
    report: str | None = None
    """Where the command writes a report: a path or a pattern, relative to `cwd`."""
    cwd: str | None = None
    """Where the command runs, relative to the workspace's root."""
    believe: Literal["output", "exit-code"] = "output"
    """What decides: "output" also fails on recognized failures with exit code 0, "exit-code" ignores them."""
    allow_skipped: bool = False
    """Whether the gate may be green if every test was skipped."""

    def __post_init__(self) -> None:
        if not self.run.strip() or "\0" in self.run:
            raise ConfigError("A command gate needs a command. Set `run`.")
        suffix = PurePath(self.report).suffix if self.report is not None else ".xml"
        if suffix not in FORMATS:
            raise ConfigError(
                f"The report {self.report!r} has an unknown format: its name ends in {suffix!r}. "
                f"{nearest(suffix, FORMATS)}"
            )

    async def check(self, workspace: CheckContext) -> Verdict:
        cwd = workspace.root / (self.cwd or "")
        report = None if self.report is None else Report(pattern=self.report, cwd=cwd, root=workspace.root)
        env = {"PYTHONDONTWRITEBYTECODE": "1", **self.env, **workspace.env}
        try:
            if report is not None:
                await to_thread.run_sync(report.clear)
            since = time.time_ns()
            ran = await run_to_its_end(
                shell(self.run),
                cwd=cwd,
                env=env,
                merge=True,
                keep=workspace.output,
                seconds=workspace.seconds,
                note=workspace.tree,
                sandbox=workspace.sandbox,
                view=workspace.view,
            )
        except BadReport as trouble:
            return Verdict(status="error", findings=(_report_finding(self.report, trouble),))
        except CannotStart as error:
            return Verdict(status="error", findings=(Finding(id=CANNOT_RUN, message=str(error)),))
        if ran.full:
            message = f"The command was {TOO_MUCH}. Raise the limit, or write less."
            return Verdict(status="error", findings=(Finding(id=DISK_LIMIT, message=message),))
        if ran.late:
            return await to_thread.run_sync(_judge_late, ran, workspace, abandon_on_cancel=True)
        if report is None and len(ran.stdout) <= SHORT_OUTPUT:
            return self._judge(ran, report, since, workspace.seen_root)
        return await to_thread.run_sync(
            self._judge, ran, report, since, workspace.seen_root, abandon_on_cancel=True
        )

    def _judge(self, ran: Ran, report: Report | None, since: int, root: Path) -> Verdict:
        """The verdict on a command that has ended; reads the report, and may take long for long output."""
        text = plain(ran.stdout)
        told = relative_to(root)(text)
        reported, trouble = _reported(report, since)
        printed = recognize_all(told)
        nothing = any(result is not None and result.no_tests for result in (reported, *printed[:1]))
        despite = self._despite(ran.status, (reported, *printed))
        skipped = self._all_skipped((reported, *printed))
        status = self._status(
            ran.status, trouble=trouble is not None, red=nothing or bool(despite or skipped)
        )
        findings: tuple[Finding, ...] = ()
        if status != "pass":
            found = findings_in(reported, printed, told)
            findings = self._findings(ran, found, trouble, text, nothing=nothing)
            if despite and not findings:
                findings = (Finding(id="failed", message=despite),)
            if skipped is not None and status == "fail" and ran.status == self.expect:
                findings = distinct([skipped, *findings])
        return Verdict(
            status=status,
            score=self._score(status, (reported, *printed)),
            findings=findings,
            tools=_counts(reported, printed) if self.expect == 0 else (),
            digest="" if findings or status == "pass" else output_fingerprint(told),
            excerpt=trim(f"{despite}\n{text}" if despite else text, EXCERPT_BYTES),
            duration=ran.seconds,
        )

    def _despite(self, code: int, results: Sequence[ToolResult | None]) -> str:
        """Failures hidden by exit code 0, as with `|| true`, a pipe or a faked exit; else empty."""
        if code != 0 or self.expect != 0 or self.believe == "exit-code":
            return ""
        bad = next((result for result in results if result is not None and result.failed), None)
        if bad is None:
            return ""
        what = several(bad.failed, "failed test" if bad.total else "error")
        return f"exit code 0, but {what} ({bad.tool})"

    def _all_skipped(self, results: Sequence[ToolResult | None]) -> Finding | None:
        """The finding if every test was skipped, since tests that never ran prove nothing."""
        counted = [result for result in results if result is not None and result.total]
        if self.allow_skipped or self.expect != 0 or not counted or any(each.countable for each in counted):
            return None
        told = f"{counted[0].tool} skipped every test ({counted[0].total})."
        message = f"{told} Run them, or set allow_skipped = true on the gate."
        return Finding(id=ALL_SKIPPED, message=message)

    def _status(self, code: int, *, trouble: bool, red: bool) -> Status:
        if code != self.expect:
            return "error" if code in _NO_PROGRAM else "fail"
        if trouble:
            return "error"
        return "fail" if red else "pass"

    def _score(self, status: Status, results: Sequence[ToolResult | None]) -> float:
        """The share of tests that passed, if tests were counted and success means that they pass."""
        if status == "pass":
            return 1.0
        counted = next((result for result in results if result is not None and result.total), None)
        return counted.score if counted is not None and status == "fail" and self.expect == 0 else 0.0

    def _findings(
        self, ran: Ran, findings: tuple[Finding, ...], trouble: Finding | None, text: str, *, nothing: bool
    ) -> tuple[Finding, ...]:
        code = ran.status
        first: list[Finding] = []
        if code != self.expect and code in _NO_PROGRAM:
            first.append(_could_not_run(code, text))
        elif trouble is not None and code == self.expect:
            first.append(trouble)
        runner = _TEST_RUNNER.search(self.run)
        if nothing and not any(finding.id == NO_TESTS for finding in findings):
            first.append(no_tests("The command"))
        elif code == _NOTHING_COLLECTED != self.expect and runner and not findings:
            first.append(no_tests(runner[1]))
        found = [*first, *findings]
        if not found:
            found += _bare_ending(ran, text)
        return distinct([*found, trouble] if trouble is not None else found)


def _judge_late(ran: Ran, context: CheckContext) -> Verdict:
    """A command that timed out may have printed findings before, or where it hangs."""
    text = plain(ran.stdout)
    told = relative_to(context.seen_root)(text)
    printed = recognize_all(told)
    said = findings_in(None, printed, told)
    return Verdict(
        status="error",
        findings=distinct([out_of_time(context.seconds or 0), *said]),
        tools=_counts(None, printed),
        excerpt=trim(text, EXCERPT_BYTES),
        duration=ran.seconds,
    )


def findings_in(reported: ToolResult | None, printed: Sequence[ToolResult], text: str) -> tuple[Finding, ...]:
    """Findings of the report; otherwise of every tool; otherwise any file and line reported as an error."""
    if reported is not None and reported.findings:
        return reported.findings
    first, others = printed[:1], printed[1:]
    failing = [*first, *(result for result in others if result.failed)]
    found = distinct(finding for result in failing for finding in result.findings)
    if found or not printed:
        return found  # `recognize_all` looked for places already
    located = errors_in(text)
    return located.findings if located is not None else ()


def _counts(reported: ToolResult | None, printed: Sequence[ToolResult]) -> tuple[ToolCount, ...]:
    """What each tool counted; a test report also stands for the runner's output."""
    results = list(printed)
    if reported is not None and reported.total:
        results = [reported, *(result for result in printed if not result.total)]
    return tuple(
        ToolCount(
            tool=result.tool,
            passed=result.passed,
            failed=result.failed,
            total=result.countable,
            skipped=result.skipped,
            uncounted=result.uncounted,
        )
        for result in results
        if result.counts
    )


def _reported(report: Report | None, since: int) -> tuple[ToolResult | None, Finding | None]:
    if report is None:
        return None, None
    try:
        return report.read(since), None
    except BadReport as trouble:
        return None, _report_finding(report.pattern, trouble)


def _report_finding(pattern: str | None, trouble: BadReport) -> Finding:
    return Finding(id=REPORT, message=f"The report {pattern!r} {trouble}")


def _could_not_run(code: int, text: str) -> Finding:
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
    missing = _MISSING_PROGRAM.search(last)
    said = missing[1] if missing else first_lines(last) or f"exit code {code}"
    fault, fix = _NO_PROGRAM[code]
    return Finding(id=CANNOT_RUN, message=f"{fault}: {said}. {fix}, or change the gate's `run`.")


def _bare_ending(ran: Ran, text: str) -> list[Finding]:
    """The finding for a command that was killed or printed nothing."""
    number = -ran.status if ran.status < 0 else ran.status - _SIGNALED
    if number in set(signal.Signals):
        name = signal.Signals(number).name
        return [Finding(id=f"{BARE[0]}{name}", message=f"The command was ended by {name}.")]
    if text.strip():
        return []
    message = f"The command ended with exit code {ran.status} and printed nothing."
    return [Finding(id=f"{BARE[1]}{ran.status}", message=message)]
