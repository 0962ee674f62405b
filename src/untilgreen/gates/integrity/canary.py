"""A test that must fail, put into an original test file: where it passes, no test there can fail.

Product code runs in the process of its tests and can end it, or replace what they assert with. Only code that
names a way to do so is tried, as it takes one more run of the gates.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.gates.integrity.tampering import Tampering
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.gates.integrity.trial_rooms.trials import Trials
from untilgreen.regex import regex

CANNOT_FAIL = "cannot-fail"
_PYTHON = regex(r"\b(?:_exit|unittest|_?pytest|atexit|AssertionError|builtins|__import__)\b|\bexit\(")
_SCRIPT = regex(r"\b(?:expect|jest|vitest?|mocha|chai|assert|globalThis|reallyExit)\b|\bglobal\.|\bexit\(")
_GO = regex(r"\bExit\b|\btesting\b|\bsyscall\b|\bunsafe\b")
_C = regex(r"\b(?:_?_?_?[eE]xit|quick_exit|constructor|destructor|atexit|syscall|init_array)\b")
_RUST = regex(r"\b(?:exit|set_hook|libc|link_section)\b")
_WAYS: Mapping[str, re.Pattern[str]] = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"), _SCRIPT),
    ".go": _GO,
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"), _C),
    ".rs": _RUST,
}
"""By the ending of a file: what code has to name to keep a test from failing."""
_MUST_FAIL = {
    _PYTHON: "\n\nclass UntilgreenCanary(__import__('unittest').TestCase):\n"
    "    def test_must_fail(self):\n        self.assertEqual(1, 2)\n",
    _SCRIPT: "\n;(typeof test === 'function' ? test : it)('must fail', () => {\n"
    "  if (typeof expect === 'function') expect(1).toBe(2)\n  else throw new Error('must fail')\n})\n",
    _GO: '\nfunc TestUntilgreenCanary(t *testing.T) { t.Fatal("must fail") }\n',
    _RUST: '\n#[test]\nfn untilgreen_canary() { panic!("must fail") }\n',
}
_MAIN = regex(r"\bmain[ \t]*\(")
_MOST_FILES = 20
_MOST_NAMES = 3
_LONGEST_LINE = 100


@dataclass(frozen=True, kw_only=True)
class Canary:
    """What is known about a lap whose gates are green with the originals."""

    trials: Trials
    found: Tampering
    contents: Contents
    """The tree with the originals put back."""

    async def verdict(self) -> Verdict | None:
        """Red where a test that must fail did not; None if nothing speaks against the tests."""
        ways = await self._ways()
        if not ways:
            return None
        named = await self._with_canaries(sorted(set(self._named())))
        files = named or await self._with_canaries(sorted(self.found.known)[: 10 * _MOST_FILES])
        known = self.trials.context.baseline
        counted = [name for name, each in known.items() if any(tool.total for tool in each.tools)]
        if not files or not counted:
            return None
        overlays = {**self.contents.overlays, **files}
        trial = await self.trials.run(
            "with a test that must fail", replace(self.contents, overlays=overlays), only=counted
        )
        green = [name for name, each in trial.verdicts.items() if each.status == "pass"]
        if not green or trial.red:
            return None
        message = (
            f"A test that must fail is in {_names(sorted(files))} now, and gate {green[0]!r} stayed green. "
            f"Changed code keeps tests from failing: {_names(ways)}. Remove that code."
        )
        finding = Finding(id=f"{CANNOT_FAIL}: {green[0]}", message=message)
        return Verdict(status="fail" if named else "error", findings=(finding,))

    async def _ways(self) -> list[str]:
        """New lines of changed product code that name a way to keep tests from failing."""
        snapshot, original = self.trials.context.snapshot, self.found.original
        touched = {each.path for each in self.found.touched}
        found = []
        for change in await self.trials.rooms.trees.changes(original, snapshot):
            pattern = _WAYS.get(posixpath.splitext(change.path)[1])
            if pattern is None or change.path in touched or change.path in self.found.new_tests:
                continue
            before = set((await self._text(original, change.path)).splitlines())
            lines = (await self._text(snapshot, change.path)).splitlines()
            new = [line.strip() for line in lines if line not in before and pattern.search(line)]
            found += [f"{change.path} ({line[:_LONGEST_LINE]})" for line in new[:1]]
        return found

    def _named(self) -> Iterator[str]:
        """Test files that the gates named before the first lap, and so run."""
        for verdict in self.trials.context.baseline.values():
            for finding in verdict.findings:
                name = finding.file or re.split(r"::| > | › |: ", finding.id)[0]
                path = posixpath.normpath(f"{self.trials.below}{name}")
                if path in self.found.known:
                    yield path

    async def _with_canaries(self, paths: Sequence[str]) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for path in paths:
            pattern = _WAYS.get(posixpath.splitext(path)[1])
            if pattern is not None and len(files) < _MOST_FILES:
                text = with_canary(path, await self._text(self.found.original, path))
                files |= {path: text.encode(errors="surrogateescape")} if text else {}
        return files

    async def _text(self, snapshot: str, path: str) -> str:
        return (await self.trials.rooms.trees.content(snapshot, path) or b"").decode(errors="surrogateescape")


def with_canary(path: str, text: str) -> str:
    """The text of a test file with one more test, which fails; empty if none is known for its language."""
    pattern = _WAYS.get(posixpath.splitext(path)[1])
    if pattern is _C:
        if not _MAIN.search(text):
            return ""
        return f"#define main untilgreen_main\n{text}\n#undef main\nint main(void) {{ return 113; }}\n"
    return f"{text}{_MUST_FAIL[pattern]}" if pattern is not None and text else ""


def _names(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return f"{', '.join(found[:_MOST_NAMES])}{more}"
