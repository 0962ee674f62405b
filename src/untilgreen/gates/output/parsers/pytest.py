"""pytest: its summary names what failed, its blocks say why, its last line counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from untilgreen.core.values.model import Finding
from untilgreen.gates.output.parsers.pytest_lines import (
    Counts,
    NamedFailure,
    bar_title,
    block_title,
    collected,
    counts_of,
    outcome_of,
    summarized,
)
from untilgreen.gates.output.tool_result import ToolResult, distinct, first_lines, no_tests, stable_name
from untilgreen.regex import regex

_TELLING = frozenset({"FAILURES", "ERRORS"})
_CAPTURED = _TELLING | {"PASSES", "XPASSES"}
_PROGRESS = regex(r"(?:(\S{1,300}\.py) )?([.FEsxXRu]*)(?![A-Za-z])( *(?:\[ *\d{1,3}%\])?$)?")
_LOCATION = regex(r"([^\s:]{1,300}):(\d{1,7}):(?: |$)")
_FATAL = "Fatal Python error: "
_TIMEOUT = "+ Timeout +"
_USAGE = ("usage: ", "file or directory not found: ", "not found: ", "found no collectors for ")
_CONFTEST = "ImportError while loading conftest '"
_COVERAGE = ("FAIL Required test coverage of ", "Coverage failure: total of ")
_MOST_UNNAMED = 1_000
_SUMMARY = "short test summary info"
_BARE_NAME = regex(r"[^\[ ]*")


def read(lines: Sequence[str]) -> ToolResult | None:
    """What pytest says in these lines; None if it did not print them."""
    reader = _Reader()
    reader.feed(lines)
    if reader.nested and reader.session.is_one:  # a captured session that never ended swallowed its last line
        reader = _Reader(nesting=False)
        reader.feed(lines)
    sessions = [session for session in [*reader.closed, reader.session] if session.is_one]
    if not sessions and not reader.refused:
        return None
    return _account(sessions, reader)


class _Reader:
    """Goes through the lines once, and tracks which part of which session each is in."""

    def __init__(self, *, nesting: bool = True) -> None:
        self.nesting = nesting
        self.depth = 0
        self.nested = False
        self.closed: list[_Session] = []
        self.session = _Session()
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
            if session.section in _CAPTURED:  # a test runs pytest itself, and its output was captured
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
        self.session = _Session()

    def _line(self, line: str) -> None:
        session = self.session
        in_blocks = session.section in _CAPTURED
        counts = None if session.begun and in_blocks else counts_of(line)  # after a header, they have a bar
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
        short = session.section == _SUMMARY
        if (failure := summarized(line, strict=not short)) is not None:
            session.summary.append(failure)
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
        """`tests/test_a.py ..F`; a crash may continue on the same line."""
        progress = _PROGRESS.match(line)
        if progress and (progress[1] or progress[3] is not None):
            self.session.results.update(progress[2])
            self.session.done, self.session.rows = line.endswith("[100%]"), True
            self.session.running = progress[1] or self.session.running
            red = sum(progress[2].count(letter) for letter in "FE")
            if red and self.session.running:
                self.session.red_files[self.session.running] += red

    def _anywhere(self, line: str) -> None:
        session = self.session
        if line.startswith("INTERNALERROR> "):
            said = line.removeprefix("INTERNALERROR> ")
            session.internal = said if said[:1].strip() else session.internal or "INTERNALERROR"
        elif line.startswith("!!!") and line.endswith("!"):
            # `pytest.exit` says so below the counts, which have closed its session.
            of = self.closed[-1] if self.closed and not session.is_one else session
            of.stopped = line.strip("! ")
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
            self.refused.append(Finding(id=stable_name(path), message=first_lines(said), file=path))
            return
        said = line.removeprefix("ERROR: ")
        if not said.startswith(_USAGE):
            return
        if said.startswith("usage: "):
            said = next((each.partition(": error: ")[2] for each in after[:3] if ": error: " in each), said)
        self.refused.append(Finding(id=f"usage: {stable_name(said)}", message=first_lines(said)))


def _account(sessions: Sequence[_Session], reader: _Reader) -> ToolResult:
    findings = list(reader.refused)
    for session in sessions:
        said = list(_findings_in(session, reader.fatal))
        if session.nothing_ran and not (said or reader.refused):
            said.append(no_tests("pytest"))
        findings += said
    passed, failed, skipped, total = (
        map(sum, zip(*map(_tally, sessions), strict=True)) if sessions else (0,) * 4
    )
    nothing = bool(sessions) and all(session.nothing_ran for session in sessions)
    found = distinct(findings)
    failed = failed if nothing else max(failed, len(found))  # a crash or missed coverage counts no test
    return ToolResult(
        tool="pytest",
        findings=found,
        passed=passed,
        failed=failed,
        skipped=skipped,
        total=max(total, passed + failed + skipped),
        no_tests=nothing,
    )


@dataclass
class _Block:
    """One failure as it is explained between the progress and the summary."""

    name: str
    said: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class _Session:
    """One run of pytest; an output may hold several."""

    begun: bool = False
    section: str = ""
    found: int = 0
    counts: Counts | None = None
    summary: list[NamedFailure] = field(default_factory=list)
    outcomes: list[NamedFailure] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    red_files: Counter[str] = field(default_factory=Counter)
    """Failures by file, where the progress names files."""
    blocks: list[_Block] = field(default_factory=list)
    running: str = ""
    done: bool = False
    """Whether all tests were reported, which is all that `-qq` prints if they pass."""
    rows: bool = False
    """Whether rows of marks were seen, which is all that `-q` prints before its end."""
    stopped: str = ""
    internal: str = ""
    coverage: str = ""

    @property
    def is_one(self) -> bool:
        """Whether anything was seen that only pytest prints."""
        told = self.begun or self.counts or self.summary or self.blocks or self.internal or self.rows
        return bool(told) or self.section == _SUMMARY

    @property
    def nothing_ran(self) -> bool:
        """Whether it finished without a single test."""
        return self.counts is not None and self.counts.empty

    @property
    def crashed(self) -> bool:
        """Whether it ended before it reported its results."""
        started = self.begun or (self.rows and not self.done)
        return started and self.counts is None and not self.section and not self.internal


def _tally(session: _Session) -> tuple[int, int, int, int]:
    """Passed, failed, skipped and all; counted from the progress if no last line counts them."""
    if session.counts:
        passed, failed, skipped = session.counts.passed, session.counts.failed, session.counts.skipped
    else:
        seen = session.results
        passed = sum(seen[word] for word in (".", "X", "PASSED", "XPASS"))
        failed = sum(seen[word] for word in ("F", "E", "FAILED", "ERROR")) or len(session.summary)
        skipped = sum(seen[word] for word in ("s", "x", "SKIPPED", "XFAIL"))
    return passed, failed, skipped, max(session.found, passed + failed + skipped)


def _findings_in(session: _Session, fatal: str) -> Iterator[Finding]:
    """The summary names the tests best, then verbose progress, then the blocks."""
    named = session.summary or session.outcomes
    explanations = _by_place(session.blocks)
    yield from (_explained(failure, explanations) for failure in named)
    if not named:
        yield from (_from_block(block) for block in session.blocks)
    if session.counts and not (named or session.blocks):
        yield from _unnamed(session)
    if session.internal:
        kind = session.internal.partition(":")[0]
        yield Finding(id=f"INTERNALERROR: {stable_name(kind)}", message=session.internal)
    if session.coverage:
        yield Finding(id="coverage", message=session.coverage)
    if session.crashed:
        message = fatal or "pytest ended here, before it reported its results."
        yield Finding(id=stable_name(session.running) or "crash", message=message)
    elif session.stopped and not (named or session.blocks or session.internal):
        yield Finding(id=stable_name(session.stopped), message=session.stopped)


def _unnamed(session: _Session) -> Iterator[Finding]:
    """Failures that are only counted, as with `-rN --tb=no`; the progress may name their files."""
    failed = session.counts.failed if session.counts else 0
    files = [file for file, count in session.red_files.items() for _ in range(count)][:failed]
    numbers: Counter[str] = Counter()
    for file in (*files, *[""] * min(failed - len(files), _MOST_UNNAMED)):
        numbers[file] += 1
        name = f"{file}: failure {numbers[file]}" if file else f"unnamed failure {numbers[file]}"
        yield Finding(id=name, message="pytest named no test; drop -rN or --no-summary.", file=file or None)


def _by_place(blocks: list[_Block]) -> dict[tuple[str, str], tuple[_Block, int | None]]:
    """Blocks and lines by test and file; also the blocks by test alone."""
    known: dict[tuple[str, str], tuple[_Block, int | None]] = {}
    for block in blocks:
        for file, line in block.places:
            known.setdefault((block.name, file), (block, line))
        known.setdefault((block.name, ""), (block, None))
    return known


def _explained(failure: NamedFailure, known: dict[tuple[str, str], tuple[_Block, int | None]]) -> Finding:
    file, _, rest = failure.test.partition("::")
    name = f"{rest.replace('::', '.') or file} {failure.part}".rstrip()
    block, line = known.get((name, file)) or known.get((name, "")) or (_Block(name=name), None)
    message = failure.message
    if not message or message.endswith("..."):
        message = block.said or message
    return Finding(
        id=stable_name(f"{failure.test} {failure.part}"), message=first_lines(message), file=file, line=line
    )


def _from_block(block: _Block) -> Finding:
    """Without a summary, the first place named in the block is where the test is."""
    file, line = block.places[0] if block.places else (None, None)
    bare = _BARE_NAME.match(block.name)
    test = bare[0].replace(".", "::") + block.name[bare.end() :] if bare else block.name
    if file is None or block.name.endswith(".py"):
        return Finding(id=stable_name(block.name), message=first_lines(block.said), file=file, line=line)
    return Finding(id=stable_name(f"{file}::{test}"), message=first_lines(block.said), file=file, line=line)
