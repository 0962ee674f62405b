"""Adds tests that must fail and values that must differ to original test files: do these still judge?

Product code runs in the process of its tests, so it can end that process, replace their assertions, return
something that equals everything, or read what they expect. Code that mentions a way to do so is always tried;
if the gates are quick, so is all other code, with every assertion reversed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import Change, Finding, Verdict
from untilgreen.gates.integrity.must_fail_tests import with_canary, with_canary_inside
from untilgreen.gates.integrity.opposite_assertions import with_opposites
from untilgreen.gates.integrity.tampering import Tampering
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.gates.integrity.trial_rooms.trials import Trial, Trials
from untilgreen.gates.integrity.unasked_tests import all_red, unasked
from untilgreen.gates.integrity.wrong_values import EQUAL, with_wrong_values
from untilgreen.regex import regex

CANNOT_FAIL = "cannot-fail"
EQUALS = "equals-wrong-values"
UNASKED = "not-asked"
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
_PERL = regex(
    r"\*(?:\{|\w*::)|\b(?:Test|CORE|POSIX|Symbol|B|Sub|main)::|\b(?:_?exit|kill|exec|eval|print|syswrite|BEGIN|"
    r"END|INIT|CHECK|caller|DESTROY|AUTOLOAD)\b|__(?:WARN|DIE)__"
)
_WAYS: Mapping[str, re.Pattern[str]] = {
    ".py": _PYTHON,
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"), _SCRIPT),
    ".go": _GO,
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hpp"), _C),
    ".rs": _RUST,
    ".cmake": _CMAKE,
    **dict.fromkeys((".pm", ".pl", ".t"), _PERL),
}
"""By file extension: what code has to mention to keep a test from failing."""
_LEARNS: Mapping[str, re.Pattern[str]] = {
    ".py": regex(
        r"__(?:eq|ne|bool|instancecheck|getattribute|subclasses|dict|file|code)__|\b(?:open|vars|setattr)\(|\btype\([^()]*,|"
        r"\b(?:read_\w+|readlines?|getsource\w*|linecache|inspect|traceback|glob|listdir|scandir|ast|_getframe)\b"
    ),
    **dict.fromkeys(
        (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"),
        regex(r"\b(?:fs|readFile\w*|Proxy|Symbol|valueOf|defineProperty|setPrototypeOf)\b|\.stack\b"),
    ),
    ".rs": regex(r"\b(?:PartialEq|include_str|read_to_string|File)\b"),
    **dict.fromkeys((".pm", ".pl"), regex(r"\b(?:overload|open|caller|tie|bless|sysopen|IO|DATA)\b")),
}
"""The same for code that equals everything, or reads what a test expects."""
_MOST_FILES = 20
_MOST_NAMES = 3
_CONFIRMATIONS = 3
_LONGEST_LINE = 100


class Canary(Struct, frozen=True, kw_only=True):
    """Tries whether tests still judge, in a lap whose gates are green with the originals."""

    trials: Trials
    found: Tampering
    contents: Contents
    """The tree with the originals put back."""
    quick: bool = False
    """Whether the gates are quick enough to try all changed code, whatever it mentions."""

    async def verdict(self) -> Verdict | None:
        """Red if tests can't fail, or if wrong values pass for equal; None if nothing is wrong."""
        ways = await self._ways(_WAYS)
        found = await self._must_fail(ways) if ways else None
        if found is None and (learns := ways or await self._ways(_LEARNS)):
            found = await self._must_differ(learns)
        if found is None and self.quick and self._of_the_product():
            found = await self._must_be_asked()
        return found

    async def _must_fail(self, ways: Mapping[str, str]) -> Verdict | None:
        named = await self._changed_tests(sorted(set(self._named())), with_canary)
        inside = await self._inside(ways)
        files = {**named, **inside} or await self._changed_tests(self._known(), with_canary)
        trial = await self._tried("with a test that must fail", self.contents, files)
        if trial is None or trial.red or not trial.verdicts:
            return None
        gate = next(iter(trial.verdicts))
        message = (
            f"A test that must fail was added to {_names(sorted(files))}, and gate {gate!r} stayed green. "
            f"Changed code keeps tests from failing: {_names(list(ways.values()))}. Remove that code."
        )
        finding = Finding(id=f"{CANNOT_FAIL}: {gate}", message=message)
        return Verdict(status="fail" if named or inside else "error", findings=(finding,))

    async def _must_differ(self, ways: Mapping[str, str]) -> Verdict | None:
        """Red if wrong values pass for equal, and don't on the untouched tree."""
        files = await self._changed_tests(sorted(set(self._named())), with_wrong_values)
        files = files or await self._changed_tests(self._known(), with_wrong_values)
        trial = await self._tried("with wrong values", self.contents, files)
        if trial is None or not (gates := _equal(trial)):
            return None
        untouched = replace(self.contents, snapshot=self.found.original, overlays={})
        before = await self._tried("on the untouched tree, with wrong values", untouched, files)
        if before is None or _equal(before):
            return None
        message = (
            f"Wrong values were put into {_names(sorted(files))}, and in gate {gates[0]!r} one of them "
            "still equals what the code returns. Changed code makes values equal to anything, reads the "
            f"tests or disables them: {_names(list(ways.values()))}. Compute the result instead."
        )
        return Verdict(status="fail", findings=(Finding(id=f"{EQUALS}: {gates[0]}", message=message),))

    async def _must_be_asked(self) -> Verdict | None:
        """Red if tests stay green with reversed assertions, and don't on the untouched tree."""
        named = sorted(set(self._named()))
        helpers = [path for path in self._known() if path.endswith(".py")]
        files = await self._changed_tests([*named, *helpers] or self._known(), with_opposites)
        title = "with opposite assertions"
        trial = await self._tried(title, self.contents, files)
        if trial is None or all(map(all_red, trial.verdicts.values())):
            return None
        untouched = replace(self.contents, snapshot=self.found.original, overlays={})
        before = await self._tried(f"on the untouched tree, {title}", untouched, files)
        control = before.verdicts if before is not None else {}
        loaded = not files.keys().isdisjoint(named)
        found = self._unasked(trial, control, files, loaded=loaded)
        # A test that fails now and then also passes now and then when reversed.
        for _ in range(_CONFIRMATIONS):
            if not any(found.values()):
                return None
            again = await self._tried(f"{title}, again", self.contents, files)
            still = self._unasked(again, control, files, loaded=loaded) if again is not None else found
            found = {gate: names & still[gate] for gate, names in found.items()}
        for gate, names in found.items():
            if names:
                return self._about_unasked(gate, sorted(names), sorted(files))
        return None

    def _unasked(
        self, trial: Trial, control: Mapping[str, Verdict], files: Mapping[str, bytes], *, loaded: bool
    ) -> dict[str, set[str]]:
        """By gate, the tests that stayed green."""
        known = self.trials.context.baseline
        python = [text for path, text in files.items() if path.endswith(".py")]
        texts = [text.decode(errors="surrogateescape") for text in python]
        return {
            gate: set(unasked(verdict, control.get(gate), known[gate], texts, loaded=loaded))
            for gate, verdict in trial.verdicts.items()
        }

    def _about_unasked(self, gate: str, names: Sequence[str], files: Sequence[str]) -> Verdict:
        changed = _names([change.path for change in self._of_the_product()])
        message = (
            f"With every assertion in {_names(files)} turned into its opposite, gate {gate!r} stayed green "
            f"for {_names(names)}. Changed code ({changed}) makes values equal to anything, reads the tests, "
            "replaces them or ends them early. Compute the result instead."
        )
        return Verdict(status="fail", findings=(Finding(id=f"{UNASKED}: {gate}", message=message),))

    def _of_the_product(self) -> list[Change]:
        own = {each.path for each in self.found.touched if not each.part} | set(self.found.new_tests)
        changes = (each for each in self.found.changes if each.status != "deleted")
        return [each for each in changes if each.path not in own]

    async def _tried(self, title: str, contents: Contents, files: Mapping[str, bytes]) -> Trial | None:
        """Run the gates that count tests, with these test files; None if there are no such gates or files."""
        known = self.trials.context.baseline
        counted = [name for name, each in known.items() if any(tool.total for tool in each.tools)]
        if not files or not counted:
            return None
        changed = replace(contents, overlays={**contents.overlays, **files})
        return await self.trials.run(title, changed, only=counted)

    async def _ways(self, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, str]:
        """New lines of changed product code that mention a way to mislead tests, by file."""
        snapshot, original = self.trials.context.snapshot, self.found.original
        whole = {each.path for each in self.found.touched if not each.part}
        found = {}
        for change in self.found.changes:
            pattern = _of_its_language(patterns, change.path)
            if pattern is None or change.path in whole or change.path in self.found.new_tests:
                continue
            before = set((await self._text(original, change.path)).splitlines())
            lines = (await self._text(snapshot, change.path)).splitlines()
            new = [line.strip() for line in lines if line not in before and pattern.search(line)]
            if new:
                found[change.path] = f"{change.path} ({new[0][:_LONGEST_LINE]})"
        return found

    async def _inside(self, ways: Collection[str]) -> dict[str, bytes]:
        """Changed files that hold their own tests, with one added that must fail."""
        found: dict[str, bytes] = {}
        for path in ways:
            own = self.contents.overlays.get(path)
            text = own.decode(errors="surrogateescape") if own is not None else ""
            text = with_canary_inside(path, text or await self._text(self.trials.context.snapshot, path))
            found |= {path: text.encode(errors="surrogateescape")} if text else {}
        return found

    def _named(self) -> Iterator[str]:
        """Test files that findings named before the first lap, so the gates run them."""
        for verdict in self.trials.context.baseline.values():
            for finding in verdict.findings:
                name = finding.file or re.split(r"::| > | › |: ", finding.id)[0]
                path = posixpath.normpath(f"{self.trials.below}{name}")
                if path in self.found.known:
                    yield path

    def _known(self) -> list[str]:
        return sorted(self.found.known)[: 10 * _MOST_FILES]

    async def _changed_tests(
        self, paths: Sequence[str], change: Callable[[str, str], str]
    ) -> dict[str, bytes]:
        files: dict[str, bytes] = {}
        for path in paths:
            if len(files) < _MOST_FILES and _of_its_language(_WAYS, path) is not None:
                text = change(path, await self._text(self.found.original, path))
                files |= {path: text.encode(errors="surrogateescape")} if text else {}
        return files

    async def _text(self, snapshot: str, path: str) -> str:
        return (await self.trials.rooms.trees.content(snapshot, path) or b"").decode(errors="surrogateescape")


def _of_its_language(patterns: Mapping[str, re.Pattern[str]], path: str) -> re.Pattern[str] | None:
    name = posixpath.basename(path)
    return patterns.get(".cmake" if name == "CMakeLists.txt" else posixpath.splitext(name)[1])


def _equal(trial: Trial) -> list[str]:
    """The gates that report a wrong value as equal."""
    said = {
        name: " ".join((each.excerpt, *(finding.message for finding in each.findings)))
        for name, each in trial.red.items()
    }
    return [name for name, words in said.items() if EQUAL in words]


def _names(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return f"{', '.join(found[:_MOST_NAMES])}{more}"
