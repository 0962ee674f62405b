"""A line of shell as a gate: its exit code rules, its report or its output says what is wrong."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path, PurePath
from typing import ClassVar

from anyio import to_thread

from untilgreen.core.excerpt import EXCERPT_BYTES, trim
from untilgreen.core.fingerprint import fingerprint
from untilgreen.core.model import Finding, Status, Verdict
from untilgreen.core.standing import out_of_time
from untilgreen.errors import ConfigError, nearest
from untilgreen.gates.recognise import errors_in, recognise
from untilgreen.gates.reports import FORMATS, Report
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import NO_TESTS, Seen, distinct, gist, no_tests
from untilgreen.gates.text import plain, seen_from
from untilgreen.ports import Site
from untilgreen.process.run import Ran
from untilgreen.process.run import run as run_to_its_end
from untilgreen.process.start import CannotStart, shell

CANNOT_RUN = "cannot-run"
REPORT = "report"
BARE = ("ended by ", "exit code ")
"""How ids begin where all that is known is how the command ended."""

_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_NOTHING_COLLECTED = 5
_SIGNALLED = 128
_TEST_RUNNER = re.compile(r"(?:^|[\s/;&|(])(pytest|py\.test|unittest)(?=$|[\s;&|)])")


@dataclass(frozen=True)
class CommandGate:
    """Passes when a line of shell ends with the expected exit code."""

    keeps_time: ClassVar[bool] = True

    run: str
    _: KW_ONLY
    expect: int = 0
    env: dict[str, str] = field(default_factory=dict)
    report: str | None = None
    """Where the command writes a report, a path or a pattern seen from `cwd`."""
    cwd: str | None = None
    """Where the command runs, seen from the workspace's root."""

    def __post_init__(self) -> None:
        if not self.run.strip() or "\0" in self.run:
            raise ConfigError("A command gate needs a command to run. Write it as `run`.")
        suffix = PurePath(self.report).suffix if self.report is not None else ".xml"
        if suffix not in FORMATS:
            raise ConfigError(
                f"The report {self.report!r} is in no known format: its name ends in {suffix!r}. "
                f"{nearest(suffix, FORMATS)}"
            )

    async def check(self, workspace: Site) -> Verdict:
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
                walls=workspace.walls,
            )
        except Unusable as trouble:
            return Verdict(status="error", findings=(_report_finding(self.report, trouble),))
        except CannotStart as error:
            return Verdict(status="error", findings=(Finding(id=CANNOT_RUN, message=str(error)),))
        if ran.late:
            return await to_thread.run_sync(_judge_late, ran, workspace, abandon_on_cancel=True)
        return await to_thread.run_sync(
            self._judge, ran, report, since, workspace.root, abandon_on_cancel=True
        )

    def _judge(self, ran: Ran, report: Report | None, since: int, root: Path) -> Verdict:
        """The verdict on a command that has ended; reads files, so it is no work for the event loop."""
        text = plain(ran.stdout)
        told = seen_from(root)(text)
        reported, trouble = _reported(report, since)
        printed = recognise(told)
        nothing = any(seen is not None and seen.no_tests for seen in (reported, printed))
        status = self._status(ran.status, trouble=trouble is not None, nothing=nothing)
        findings: tuple[Finding, ...] = ()
        if status != "pass":
            found = complaints(reported, printed, told)
            findings = self._findings(ran, found, trouble, text, nothing=nothing)
        return Verdict(
            status=status,
            score=self._score(status, reported, printed),
            findings=findings,
            digest="" if findings or status == "pass" else fingerprint(told),
            excerpt=trim(text, EXCERPT_BYTES),
            duration=ran.seconds,
        )

    def _status(self, code: int, *, trouble: bool, nothing: bool) -> Status:
        if code != self.expect:
            return "error" if code in (_NOT_EXECUTABLE, _NOT_FOUND) else "fail"
        if trouble:
            return "error"
        return "fail" if nothing else "pass"

    def _score(self, status: Status, reported: Seen | None, printed: Seen | None) -> float:
        """Tests passed of those there are, where tests were counted and success means that they pass."""
        if status == "pass":
            return 1.0
        counted = reported if reported is not None and reported.total else printed
        return counted.score if counted is not None and status == "fail" and self.expect == 0 else 0.0

    def _findings(
        self, ran: Ran, complaints: tuple[Finding, ...], trouble: Finding | None, text: str, *, nothing: bool
    ) -> tuple[Finding, ...]:
        code = ran.status
        first: list[Finding] = []
        if code != self.expect and code in (_NOT_EXECUTABLE, _NOT_FOUND):
            first.append(_could_not_run(code, text))
        elif trouble is not None and code == self.expect:
            first.append(trouble)
        runner = _TEST_RUNNER.search(self.run)
        if nothing and not any(finding.id == NO_TESTS for finding in complaints):
            first.append(no_tests("The command"))
        elif code == _NOTHING_COLLECTED != self.expect and runner and not complaints:
            first.append(no_tests(runner[1]))
        found = [*first, *complaints]
        if not found:
            found += _bare_ending(ran, text)
        return distinct([*found, trouble] if trouble is not None else found)


def _judge_late(ran: Ran, site: Site) -> Verdict:
    """A command that ran out of time has said something until then, and maybe where it hangs."""
    text = plain(ran.stdout)
    told = seen_from(site.root)(text)
    said = complaints(None, recognise(told), told)
    return Verdict(
        status="error",
        findings=distinct([out_of_time(site.seconds or 0), *said]),
        excerpt=trim(text, EXCERPT_BYTES),
        duration=ran.seconds,
    )


def complaints(reported: Seen | None, printed: Seen | None, text: str) -> tuple[Finding, ...]:
    """The report knows best, then the tool's own words, then any place in a file that is called an error."""
    for seen in (reported, printed):
        if seen is not None and seen.findings:
            return seen.findings
    located = errors_in(text) if printed is not None else None  # who saw nothing at all saw no place either
    return located.findings if located is not None else ()


def _reported(report: Report | None, since: int) -> tuple[Seen | None, Finding | None]:
    if report is None:
        return None, None
    try:
        return report.read(since), None
    except Unusable as trouble:
        return None, _report_finding(report.pattern, trouble)


def _report_finding(pattern: str | None, trouble: Unusable) -> Finding:
    return Finding(id=REPORT, message=f"The report {pattern!r} {trouble}")


def _could_not_run(code: int, text: str) -> Finding:
    words = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
    fault = "is not there" if code == _NOT_FOUND else "can't be executed"
    message = (
        f"What the command wants to run {fault} (exit code {code}): {gist(words)}. "
        "Install it, or correct the gate's `run`."
    )
    return Finding(id=CANNOT_RUN, message=message)


def _bare_ending(ran: Ran, text: str) -> list[Finding]:
    """A killed command may not have said why, and a silent one has said nothing at all."""
    number = -ran.status if ran.status < 0 else ran.status - _SIGNALLED
    if number in set(signal.Signals):
        name = signal.Signals(number).name
        return [Finding(id=f"{BARE[0]}{name}", message=f"The command was ended by {name}.")]
    if text.strip():
        return []
    message = f"The command ended with exit code {ran.status} and printed nothing."
    return [Finding(id=f"{BARE[1]}{ran.status}", message=message)]
