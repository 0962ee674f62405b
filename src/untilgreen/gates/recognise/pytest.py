"""pytest: its summary names what failed, its blocks say why, its last line counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.pytest_lines import (
    bar_title,
    block_title,
    collected,
    counts_of,
    outcome_of,
    summarised,
)
from untilgreen.gates.recognise.pytest_session import SUMMARY, Block, Session, complaints, tally
from untilgreen.gates.seen import Seen, distinct, gist, no_tests, steady

ENDS = ("ed in ", "error in ", "errors in ", "warning in ", "warnings in ", "ran in ", "rerun in ", ") in ")
"""What stands before the time in the line that ends a session; one of them is in every such line."""
_TELLING = frozenset({"FAILURES", "ERRORS"})
_CAPTURED = _TELLING | {"PASSES", "XPASSES"}
_PROGRESS = re.compile(r"(?:(\S{1,300}\.py) )?([.FEsxXRu]*)(?![A-Za-z])( *(?:\[ *\d{1,3}%\])?$)?")
_LOCATION = re.compile(r"([^\s:]{1,300}):(\d{1,7}):(?: |$)")
_FATAL = "Fatal Python error: "
_TIMEOUT = "+ Timeout +"
_USAGE = ("usage: ", "file or directory not found: ", "not found: ", "found no collectors for ")
_CONFTEST = "ImportError while loading conftest '"
_COVERAGE = ("FAIL Required test coverage of ", "Coverage failure: total of ")


def read(lines: Sequence[str]) -> Seen | None:
    """What pytest says in these lines; None where it did not print them."""
    reader = _Reader()
    reader.feed(lines)
    if reader.nested and reader.session.is_one:  # a captured one without end swallowed its last line
        reader = _Reader(nesting=False)
        reader.feed(lines)
    sessions = [session for session in [*reader.closed, reader.session] if session.is_one]
    if not sessions and not reader.refused:
        return None
    return _account(sessions, reader)


class _Reader:
    """Goes through the lines once and knows at each which part of which session it is in."""

    def __init__(self, *, nesting: bool = True) -> None:
        self.nesting = nesting
        self.depth = 0
        self.nested = False
        self.closed: list[Session] = []
        self.session = Session()
        self.refused: list[Finding] = []
        self.fatal = ""

    def feed(self, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines):
            if (
                line[:1] == " "
                and self.session.section in _CAPTURED
                and not (_FATAL in line or _TIMEOUT in line)
            ):
                continue  # most lines are source code that a block shows
            title = bar_title(line) if line.startswith("=") else None
            if title is not None:
                self._bar(title)
            elif line and not self.depth:
                self._line(line)
                if line.startswith(("ERROR: ", _CONFTEST)):
                    self._refusal(line, lines[number + 1 : number + 40])

    def _bar(self, title: str) -> None:
        session = self.session
        if title == "test session starts":
            if session.section in _CAPTURED:  # a test that runs pytest, and was captured
                self.depth += self.nesting
                self.nested = True
            else:
                self._close()
                self.session.begun = True
        elif (counts := counts_of(title)) is not None:
            if self.depth:
                self.depth -= 1
            else:
                session.counts = counts
                self._close()
        elif not self.depth:
            session.section = title

    def _close(self) -> None:
        if self.session.is_one:
            self.closed.append(self.session)
        self.session = Session()

    def _line(self, line: str) -> None:
        session = self.session
        in_blocks = session.section in _CAPTURED
        counts = None if session.begun and in_blocks else counts_of(line)  # once begun, its own has a bar
        if counts is not None:
            session.counts = counts
            self._close()
        elif session.section in _TELLING:
            self._block_line(line)
        elif not in_blocks:
            self._progress_line(line)
        self._anywhere(line)

    def _block_line(self, line: str) -> None:
        blocks = self.session.blocks
        if (title := block_title(line)) is not None:
            blocks.append(Block(name=title))
        elif blocks and not blocks[-1].said and line.startswith("E  "):
            blocks[-1].said = line[1:].strip()
        elif blocks and len(blocks[-1].places) < 50 and (place := _LOCATION.match(line)):
            blocks[-1].places.append((place[1], int(place[2])))

    def _progress_line(self, line: str) -> None:
        session = self.session
        short = session.section == SUMMARY
        if (complaint := summarised(line, strict=not short)) is not None:
            session.summary.append(complaint)
        elif short:
            return
        elif (found := collected(line)) is not None:
            session.found = found
        elif (outcome := outcome_of(line)) is not None:
            session.running = outcome.test if not outcome.word else ""
            session.results[outcome.word] += 1
            if outcome.word in ("FAILED", "ERROR", "SUBFAILED"):
                session.outcomes.append(outcome)
        elif session.begun or line.endswith("%]"):
            self._letters(line.partition(_FATAL)[0])

    def _letters(self, line: str) -> None:
        """`tests/test_a.py ..F`; a crash may write on in the same line."""
        progress = _PROGRESS.match(line)
        if progress and (progress[1] or progress[3] is not None):
            self.session.results.update(progress[2])
            self.session.running = progress[1] or self.session.running

    def _anywhere(self, line: str) -> None:
        session = self.session
        if line.startswith("INTERNALERROR> "):
            said = line.removeprefix("INTERNALERROR> ")
            session.internal = said if said[:1].strip() else session.internal or "INTERNALERROR"
        elif line.startswith("!!!") and line.endswith("!"):
            session.stopped = line.strip("! ")
        elif line.startswith(_COVERAGE):
            session.coverage = line
        elif _FATAL in line:
            self.fatal = line[line.index(_FATAL) :]
        elif _TIMEOUT in line:
            self.fatal = "The test took longer than pytest-timeout allows."

    def _refusal(self, line: str, after: Sequence[str]) -> None:
        """A session that could not even begin: a wrong option, a missing path, a broken conftest."""
        if line.startswith(_CONFTEST):
            path = line.removeprefix(_CONFTEST).removesuffix(".").removesuffix("'")
            said = next((each[1:].strip() for each in after if each.startswith("E  ")), line)
            self.refused.append(Finding(id=steady(path), message=gist(said), file=path))
            return
        said = line.removeprefix("ERROR: ")
        if not said.startswith(_USAGE):
            return
        if said.startswith("usage: "):
            said = next((each.partition(": error: ")[2] for each in after[:3] if ": error: " in each), said)
        self.refused.append(Finding(id=f"usage: {steady(said)}", message=gist(said)))


def _account(sessions: Sequence[Session], reader: _Reader) -> Seen:
    findings = list(reader.refused)
    for session in sessions:
        said = list(complaints(session, reader.fatal))
        if session.nothing_ran and not (said or reader.refused):
            said.append(no_tests("pytest"))
        findings += said
    passed, failed, skipped, total = (
        map(sum, zip(*map(tally, sessions), strict=True)) if sessions else (0,) * 4
    )
    return Seen(
        tool="pytest",
        findings=distinct(findings),
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=total,
        no_tests=bool(sessions) and all(session.nothing_ran for session in sessions),
    )
