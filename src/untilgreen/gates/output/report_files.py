"""Report files that a tool writes; an agent could write them too, so each one is checked first."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path, PurePath
from typing import BinaryIO

from msgspec import Struct

from untilgreen.gates.output.plain_text import MakeRelative, relative_to
from untilgreen.gates.output.tool_result import BadReport, ToolResult, distinct

MOST_BYTES = 50_000_000
MOST_FILES = 10_000

FORMATS: Mapping[str, tuple[str, str]] = {
    ".xml": ("junit", "read"),
    ".json": ("json_report", "read"),
    ".sarif": ("json_report", "read_sarif"),
    ".tap": ("tap", "read"),
}
"""Module and function by file extension; a new format is one module and one row."""

_MAGIC = frozenset("*?[")
_SECOND = 1_000_000_000
# The kernel stamps files with a clock that ticks up to a hundred times a second.
_TICK = _SECOND // 50
# Some file systems only know whole, or even, seconds.
_COARSE = 2 * _SECOND


def reader_of(suffix: str) -> Callable[[BinaryIO, MakeRelative], ToolResult]:
    """The reader of files with that extension; imported when a gate has such a report."""
    module, name = FORMATS[suffix]
    reader: Callable[[BinaryIO, MakeRelative], ToolResult]
    reader = getattr(import_module(f"untilgreen.gates.output.reports.{module}"), name)
    return reader


class Report(Struct, frozen=True, kw_only=True):
    """Where a gate's command leaves its report: a path or a pattern, relative to where the command runs."""

    pattern: str
    cwd: Path
    root: Path

    def clear(self) -> None:
        """Remove what is there, so that a report found later is of this run."""
        for path in self._paths():
            self._must_be_inside(path)
            if path.is_dir() and not path.is_symlink():
                raise BadReport("is a directory. Name the file in it.")
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise BadReport(f"can't be removed before the run ({error.strerror}). Remove it.") from error

    def read(self, since: int) -> ToolResult:
        """What all matching files report; each must have been written after `since`, in nanoseconds."""
        paths = self._paths()
        if not paths:
            raise BadReport(
                "was not written by the command. Let the command write it, or drop it from the spec."
            )
        room = MOST_BYTES
        make_relative = relative_to(self.root)
        accounts = []
        for path in paths:
            self._must_be_inside(path)
            with _opened(path) as file:
                found = os.fstat(file.fileno())
                room -= _checked(found, since, room)
                accounts.append(reader_of(PurePath(self.pattern).suffix)(file, make_relative))
        return _together(accounts)

    def _paths(self) -> list[Path]:
        """Every match, a broken link included."""
        pattern = PurePath(self.pattern)
        if pattern.is_absolute():
            raise BadReport("is an absolute path. Name it relative to the directory in which the gate runs.")
        wild = next((part for part in pattern.parts if not _MAGIC.isdisjoint(part)), None)
        if wild is None:
            path = self.cwd / pattern
            self._must_be_inside(path)
            return [path] if os.path.lexists(path) else []
        before = pattern.parts[: pattern.parts.index(wild)]
        self._must_be_inside(self.cwd.joinpath(*before, "any"))
        try:
            paths = sorted(islice(self.cwd.glob(self.pattern), MOST_FILES + 1))
        except ValueError as error:  # such as ** next to something else
            raise BadReport(f"is not a valid pattern ({error}). Correct it.") from error
        if len(paths) > MOST_FILES:
            raise BadReport(f"matches more than {MOST_FILES:,} files. Use a narrower pattern.")
        return paths

    def _must_be_inside(self, path: Path) -> None:
        # realpath and not resolve, which raises for links that go in circles.
        if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(self.root)):
            raise BadReport("is outside the workspace. Let the command write it inside.")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file itself, never what a link points to, and without waiting for a pipe to be filled."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if path.is_symlink():
        raise BadReport("is a symbolic link, which may lead anywhere. Let the command write a plain file.")
    try:
        file = os.fdopen(os.open(path, flags), "rb")
    except OSError as error:
        raise BadReport(f"can't be opened ({error.strerror}). Let the command write a plain file.") from error
    with file:
        yield file


def _checked(found: os.stat_result, since: int, room: int) -> int:
    """The file's size; raises BadReport if the file must not be read."""
    if not stat.S_ISREG(found.st_mode):
        raise BadReport("is not a plain file. Let the command write one.")
    coarse = found.st_mtime_ns % _SECOND == 0
    if found.st_mtime_ns + (_COARSE if coarse else _TICK) < since:
        raise BadReport("is older than this run of the gate. Let the command write it again.")
    if found.st_size > room:
        raise BadReport(
            f"is larger than {MOST_BYTES // 1_000_000} MB. Let the tool leave captured output out."
        )
    return found.st_size


def _together(accounts: Sequence[ToolResult]) -> ToolResult:
    nothing = all(account.no_tests for account in accounts)
    telling = [account for account in accounts if nothing or not account.no_tests]
    return ToolResult(
        tool=accounts[0].tool,
        findings=distinct(finding for account in telling for finding in account.findings),
        passed=sum(account.passed for account in accounts),
        failed=sum(account.failed for account in accounts),
        skipped=sum(account.skipped for account in accounts),
        total=sum(account.total for account in accounts),
        no_tests=nothing,
    )
