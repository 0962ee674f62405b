"""A test that must fail, put into an original test file: where it passes, no test there can fail.

Product code runs in the process of its tests and can end it, or replace what they assert with. Only code that
names a way to do so is tried, as it takes one more run of the gates.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.gates.integrity.must_fail import with_canary, with_canary_inside
from untilgreen.gates.integrity.tampering import Tampering
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.gates.integrity.trial_rooms.trials import Trials
from untilgreen.regex import regex

CANNOT_FAIL = "cannot-fail"
_PYTHON = regex(
    r"\b(?:_exit|unittest|_?pytest|atexit|AssertionError|__?builtins(?:__)?|builtins|__import__|importlib|ctypes|"
    r"exec[lv]\w*|abort|kill|raise_signal|settrace|setprofile|meta_path|path_hooks|get_objects|_getframe|f_back|"
    r"f_globals|__code__|testing)\b|\b(?:exit|exec|eval|compile)\(|\bgetattr\(\s{0,4}(?:os|sys|signal)\b"
)
_SCRIPT = regex(
    r"\b(?:expect|jest|vitest?|mocha|chai|assert|should|globalThis|reallyExit|child_process|getBuiltinModule)\b|"
    r"\bglobal\.|\b(?:exit|eval|Function)\(|\bprocess(?:\[|\.(?!env\b|argv\b))|\brequire\.cache|"
    r"\.(?:constructor|prototype)\b|\bnode:(?:test|module)"
)
_GO = regex(r"\bExit\b|\btesting\b|\bsyscall\b|\bunsafe\b")
_C = regex(
    r"\b(?:_?_?_?[eE]xit|quick_exit|constructor|destructor|atexit|syscall|init_array|assert|NDEBUG|abort)\b"
)
_CMAKE = regex(r"NDEBUG|BUILD_TYPE|_FLAGS|_OPTIONS|(?i:add_definitions|compile_definitions|compile_options)")
_RUST = regex(r"\b(?:exit|set_hook|libc|link_section)\b|\bmacro_rules!\s{0,4}\w*(?:assert|panic)")
_WAYS: Mapping[str, re.Pattern[str]] = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"), _SCRIPT),
    ".go": _GO,
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"), _C),
    ".rs": _RUST,
    ".cmake": _CMAKE,
}
"""By the ending of a file: what code has to name to keep a test from failing."""
_MOST_FILES = 20
_MOST_NAMES = 3
_LONGEST_LINE = 100


class Canary(Struct, frozen=True, kw_only=True):
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
        inside = await self._inside(ways)
        files = {**named, **inside} or await self._with_canaries(sorted(self.found.known)[: 10 * _MOST_FILES])
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
            f"Changed code keeps tests from failing: {_names(list(ways.values()))}. Remove that code."
        )
        finding = Finding(id=f"{CANNOT_FAIL}: {green[0]}", message=message)
        return Verdict(status="fail" if named or inside else "error", findings=(finding,))

    async def _ways(self) -> dict[str, str]:
        """New lines of changed product code that name a way to keep tests from failing, by file."""
        snapshot, original = self.trials.context.snapshot, self.found.original
        whole = {each.path for each in self.found.touched if not each.part}
        found = {}
        for change in await self.trials.rooms.trees.changes(original, snapshot):
            pattern = _way(change.path)
            if pattern is None or change.path in whole or change.path in self.found.new_tests:
                continue
            before = set((await self._text(original, change.path)).splitlines())
            lines = (await self._text(snapshot, change.path)).splitlines()
            new = [line.strip() for line in lines if line not in before and pattern.search(line)]
            if new:
                found[change.path] = f"{change.path} ({new[0][:_LONGEST_LINE]})"
        return found

    async def _inside(self, ways: Collection[str]) -> dict[str, bytes]:
        """Changed files that hold their own tests, with one that must fail among them."""
        found: dict[str, bytes] = {}
        for path in ways:
            own = self.contents.overlays.get(path)
            text = own.decode(errors="surrogateescape") if own is not None else ""
            text = with_canary_inside(path, text or await self._text(self.trials.context.snapshot, path))
            found |= {path: text.encode(errors="surrogateescape")} if text else {}
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
            if len(files) < _MOST_FILES and _way(path) is not None:
                text = with_canary(path, await self._text(self.found.original, path))
                files |= {path: text.encode(errors="surrogateescape")} if text else {}
        return files

    async def _text(self, snapshot: str, path: str) -> str:
        return (await self.trials.rooms.trees.content(snapshot, path) or b"").decode(errors="surrogateescape")


def _way(path: str) -> re.Pattern[str] | None:
    name = posixpath.basename(path)
    return _CMAKE if name == "CMakeLists.txt" else _WAYS.get(posixpath.splitext(name)[1])


def _names(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return f"{', '.join(found[:_MOST_NAMES])}{more}"
