"""pytest: its summary names what failed, its blocks say why, its last line counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.pytest_lines import (
    Complaint,
    Counts,
    bar_title,
    block_title,
    collected,
    counts_of,
    outcome_of,
    summarised,
)
from untilgreen.gates.seen import Seen, distinct, gist, no_tests, steady

SUMMARY = "short test summary info"
_TELLING = frozenset({"FAILURES", "ERRORS"})
_CAPTURED = _TELLING | {"PASSES", "XPASSES"}
_LETTERS = re.compile(r"(?:\S+ )?([.FEsxX]+) *(?:\[ *\d+%\])?$")
_LOCATION = re.compile(r"([^\s:]{1,300}):(\d{1,7}):(?: |$)")
_PROGRESS_FILE = re.compile(r"(\S{1,300}\.py) [.FEsxXRu]*$")
_USAGE = ("usage: ", "file or directory not found: ", "not found: ", "found no collectors for ")
_CONFTEST = "ImportError while loading conftest '"
_COVERAGE = ("FAIL Required test coverage of ", "Coverage failure: total of ")
_BARE_NAME = re.compile(r"[^\[ ]*")


@dataclass
class _Block:
    """One failure as it is explained between the progress and the summary."""

    name: str
    said: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)

    def line_in(self, file: str) -> int | None:
        return next((line for path, line in self.places if path == file), None)


@dataclass
class _Session:
    """One run of pytest; an output may hold several."""

    begun: bool = False
    section: str = ""
    found: int = 0
    counts: Counts | None = None
    summary: list[Complaint] = field(default_factory=list)
    outcomes: list[Complaint] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    blocks: list[_Block] = field(default_factory=list)
    running: str = ""
    stopped: str = ""
    internal: str = ""
    coverage: str = ""

    @property
    def is_one(self) -> bool:
        """Whether anything was seen that only pytest prints."""
        return bool(self.begun or self.counts or self.summary or self.blocks or self.internal) or (
            self.section == SUMMARY
        )

    @property
    def nothing_ran(self) -> bool:
        """It came to its end without a single test."""
        return self.counts is not None and self.counts.empty

    @property
    def crashed(self) -> bool:
        """It began, and ended before it could say how it went."""
        return self.begun and self.counts is None and not self.section and not self.internal


def read(lines: Sequence[str]) -> Seen | None:
    """What pytest says in these lines; None where it did not print them."""
    reader = _Reader()
    reader.feed(lines)
    if reader.depth:  # what looked like a session within a session was none
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
        self.closed: list[_Session] = []
        self.session = _Session()
        self.refused: list[Finding] = []
        self.fatal = ""

    def feed(self, lines: Sequence[str]) -> None:
        for number, line in enumerate(lines):
            title = bar_title(line)
            if title is not None:
                self._bar(title)
            elif line and not self.depth:
                self._line(line)
                if line.startswith(("ERROR: ", _CONFTEST)):
                    self._refusal(line, lines[number + 1 : number + 40])

    def _bar(self, title: str) -> None:
        session = self.session
        if title == "test session starts":
            if self.nesting and session.section in _CAPTURED:  # a test that runs pytest, and was captured
                self.depth += 1
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
        self.session = _Session()

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
            blocks.append(_Block(name=title))
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
        elif (session.begun or line.endswith("%]")) and (letters := _LETTERS.match(line)):
            session.results.update(letters[1])
            file = _PROGRESS_FILE.match(line)
            session.running = file[1] if file else session.running

    def _anywhere(self, line: str) -> None:
        session = self.session
        if line.startswith("INTERNALERROR> "):
            said = line.removeprefix("INTERNALERROR> ")
            session.internal = said if said[:1].strip() else session.internal or "INTERNALERROR"
        elif line.startswith("!!!") and line.endswith("!"):
            session.stopped = line.strip("! ")
        elif line.startswith(_COVERAGE):
            session.coverage = line
        elif "Fatal Python error: " in line:
            self.fatal = line[line.index("Fatal Python error: ") :]

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


def _account(sessions: Sequence[_Session], reader: _Reader) -> Seen:
    findings = list(reader.refused)
    for session in sessions:
        complaints = list(_complaints(session, reader.fatal))
        if session.nothing_ran and not (complaints or reader.refused):
            complaints.append(no_tests("pytest"))
        findings += complaints
    tallies = [_tally(session) for session in sessions]
    return Seen(
        tool="pytest",
        findings=distinct(findings),
        passed=sum(tally[0] for tally in tallies),
        failed=sum(tally[1] for tally in tallies),
        skipped=sum(tally[2] for tally in tallies),
        total=sum(tally[3] for tally in tallies),
        no_tests=bool(sessions) and all(session.nothing_ran for session in sessions),
    )


def _tally(session: _Session) -> tuple[int, int, int, int]:
    """Passed, failed, skipped and all; counted from the progress where no last line counts them."""
    if session.counts:
        passed, failed, skipped = session.counts.passed, session.counts.failed, session.counts.skipped
    else:
        seen = session.results
        passed = sum(seen[word] for word in (".", "X", "PASSED", "XPASS"))
        failed = sum(seen[word] for word in ("F", "E", "FAILED", "ERROR")) or len(session.summary)
        skipped = sum(seen[word] for word in ("s", "x", "SKIPPED", "XFAIL"))
    return passed, failed, skipped, max(session.found, passed + failed + skipped)


def _complaints(session: _Session, fatal: str) -> Iterator[Finding]:
    """The summary names the tests best, then verbose progress, then the blocks."""
    blocks: dict[str, list[_Block]] = {}
    for block in session.blocks:
        blocks.setdefault(block.name, []).append(block)
    named = session.summary or session.outcomes
    yield from (_explained(complaint, blocks) for complaint in named)
    if not named:
        yield from (_from_block(block) for block in session.blocks)
    if session.internal:
        yield Finding(
            id=f"INTERNALERROR: {steady(session.internal.partition(':')[0])}", message=session.internal
        )
    if session.coverage:
        yield Finding(id="coverage", message=session.coverage)
    if session.crashed:
        message = fatal or "pytest ended here, before it could say how the tests went."
        yield Finding(id=steady(session.running) or "crash", message=message)
    elif session.stopped and not (named or session.blocks or session.internal):
        yield Finding(id=steady(session.stopped), message=session.stopped)


def _explained(complaint: Complaint, blocks: dict[str, list[_Block]]) -> Finding:
    file, _, rest = complaint.test.partition("::")
    name = (rest.replace("::", ".") or file) + (f" {complaint.part}" if complaint.part else "")
    explained = blocks.get(name, [])
    block = next((each for each in explained if each.line_in(file) is not None), None)
    block = block or (explained[0] if explained else _Block(name=name))
    message = complaint.message
    if not message or message.endswith("..."):
        message = block.said or message
    return Finding(
        id=steady(f"{complaint.test} {complaint.part}"),
        message=gist(message),
        file=file,
        line=block.line_in(file),
    )


def _from_block(block: _Block) -> Finding:
    """Without a summary the first place named in the block is where the test stands."""
    file, line = block.places[0] if block.places else (None, None)
    bare = _BARE_NAME.match(block.name)
    test = bare[0].replace(".", "::") + block.name[bare.end() :] if bare else block.name
    if file is None or block.name.endswith(".py"):
        return Finding(id=steady(block.name), message=gist(block.said), file=file, line=line)
    return Finding(id=steady(f"{file}::{test}"), message=gist(block.said), file=file, line=line)
