"""L3, sanity: debug leftovers, stray files, oversize files, sources without tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from anyio import to_thread
from msgspec import Struct, field

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import count
from untilgreen.errors import ConfigError
from untilgreen.gates.levels.work_files import Files, name_as_text
from untilgreen.ports import CheckContext

Weight = Literal["fail", "warn", "off"]
DEBUG = [r"\bconsole\.log\(", r"\bdebugger\b", r"\bbreakpoint\(\)", r"\bpdb\.set_trace\(", r"\bdbg!\("]
SOURCES = ["*.py", "*.js", "*.jsx", "*.ts", "*.tsx", "*.go", "*.rs", "*.rb", "*.php", "*.java"]
STRAY = ["*.orig", "*.rej", "*~", "*.swp", ".DS_Store", "*.bak"]
LARGEST_TEXT = 2_000_000


class Sanity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each check fails the level, is only reported as a remark, or is off."""

    debug: Weight = "fail"
    debug_patterns: list[str] = field(default_factory=lambda: list(DEBUG))
    sources: list[str] = field(default_factory=lambda: list(SOURCES))
    stray: Weight = "fail"
    stray_files: list[str] = field(default_factory=lambda: list(STRAY))
    oversize: Weight = "fail"
    largest: int | str = "10M"
    """The size of the largest file allowed, as a number of bytes or like '10M'."""
    missing_tests: Weight = "warn"
    tests: dict[str, str] = field(default_factory=dict)
    """By pattern of sources, the pattern of their tests, with {stem} for the source's name."""

    def __post_init__(self) -> None:
        """Before a run starts, refuse patterns that can't be searched for."""
        count(self.largest, "largest")
        for pattern in self.debug_patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigError(f"{pattern!r} is not a valid regular expression: {error}.") from error

    async def findings(self, context: CheckContext, files: Files) -> tuple[list[Finding], list[str]]:
        """What fails, and what is only worth a remark."""
        return await to_thread.run_sync(self._look, files)

    def _look(self, files: Files) -> tuple[list[Finding], list[str]]:
        fails: list[Finding] = []
        remarks: list[str] = []
        for weight, looked in (
            (self.debug, self._debug(files)),
            (self.stray, self._stray(files)),
            (self.oversize, self._oversize(files)),
            (self.missing_tests, self._untested(files)),
        ):
            if weight == "fail":
                fails += looked
            elif weight == "warn":
                remarks += [f"  remark: {each.id}" for each in looked]
        return fails, remarks

    def _debug(self, files: Files) -> Iterator[Finding]:
        wanted = [re.compile(pattern) for pattern in self.debug_patterns]
        for path in dict.fromkeys(path for pattern in self.sources for path in files.matching(pattern)):
            place = files.root / path
            if place.is_symlink() or not place.is_file() or place.stat().st_size > LARGEST_TEXT:
                continue
            text = place.read_text(encoding="utf-8", errors="replace")
            for pattern in wanted:
                if match := pattern.search(text):
                    line = text.count("\n", 0, match.start()) + 1
                    yield _finding("debug", path, f"Left in line {line}.", f": {match[0]}", line)

    def _stray(self, files: Files) -> Iterator[Finding]:
        for path in dict.fromkeys(path for pattern in self.stray_files for path in files.matching(pattern)):
            yield _finding("stray", path, "This looks like a leftover.")

    def _oversize(self, files: Files) -> Iterator[Finding]:
        most = count(self.largest, "largest")
        for path in files.paths:
            place = files.root / path
            if place.is_file() and not place.is_symlink() and place.stat().st_size > most:
                yield _finding("oversize", path, f"It has more than {most:,} bytes.")

    def _untested(self, files: Files) -> Iterator[Finding]:
        for source, test in self.tests.items():
            for path in files.matching(source):
                stem = PurePosixPath(path).stem
                if not files.matching(test.replace("{stem}", stem)):
                    yield _finding("no test for", path, f"There is no {test}.")


def _finding(what: str, path: str, message: str, more: str = "", line: int | None = None) -> Finding:
    return Finding(
        id=f"{what} {name_as_text(path)}{more}", message=message, file=name_as_text(path), line=line
    )
