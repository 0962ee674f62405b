"""Tests as CMake declares them: commands about tests are protected, not the file that builds the product."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator

from msgspec import Struct

from untilgreen.gates.integrity.protected.mixed_files import Swap
from untilgreen.regex import regex

_COMMAND = regex(r"^[ \t]*([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_TOKEN = regex(r"#\[(=*)\[.*?\]\1\]|#[^\n]*|\[(=*)\[.*?\]\2\]|\"(?:[^\"\\]|\\.)*\"|[()]", re.DOTALL)
_WORD = regex(r"\"(?:[^\"\\]|\\.)*\"|[^\s\"()]+")
_DISCOVERS = frozenset(
    {"gtest_discover_tests", "gtest_add_tests", "catch_discover_tests", "doctest_discover_tests"}
)
_BUILDS = frozenset(
    {"add_executable", "target_sources", "target_link_libraries", "target_compile_definitions"}
)
_MODULES = frozenset({"CTest", "GoogleTest", "Catch", "doctest"})
_OPENS, _CLOSES = ("foreach", "while", "function", "macro", "if"), "end"
_OWN = _DISCOVERS | {"add_test", "set_tests_properties", "enable_testing", "set_property", "add_subdirectory"}
_ADDABLE = frozenset({"enable_testing", "include", "add_subdirectory"})
"""Commands that add tests; only removing them does harm."""
_CUSTOM = regex(r"CTestCustom|CTestTestfile|CTEST_CUSTOM_", re.IGNORECASE)
"""Files and variables that tell ctest which tests to skip, whatever command writes them."""
_WHOLE = Swap(("the whole file",), None)


class _Invocation(Struct, frozen=True):
    name: str
    words: tuple[str, ...]
    start: int
    end: int
    depth: int

    @property
    def said(self) -> tuple[str, ...]:
        return (self.name, *self.words)

    @property
    def first(self) -> tuple[str, ...]:
        """Its name and first argument, after the word NAME if there is one."""
        return self.said[:3] if self.words[:1] == ("NAME",) else self.said[:2]


def declares_tests(path: str) -> bool:
    """Whether files of this name may declare tests."""
    return posixpath.basename(path) == "CMakeLists.txt" or path.endswith(".cmake")


def swap_cmake(original: bytes | None, current: bytes | None) -> Swap | None:
    """The file as it is now with the commands about old tests as they were; None if none was changed."""
    if current is None:
        return _WHOLE if original is not None and _about_tests(list(_parse(_text(original)))) else None
    text, old, new = _text(current), list(_parse(_text(original or b""))), list(_parse(_text(current)))
    known = {each.said for each in old}
    if any(
        each.name in ("function", "macro") and _names(each) & _OWN and each.said not in known for each in new
    ):
        return _WHOLE
    before, now = _about_tests(old), _about_tests(new, _tests(old) | _targets(old))
    missing = Counter(each.said for each in before) - Counter(each.said for each in now)
    extra = Counter(each.said for each in now if each.name not in _ADDABLE)
    extra -= Counter(each.said for each in before)
    if not missing and not extra:
        return None
    lost = [each for each in before if missing[each.said] > 0]
    content = _put_back(text, [each for each in now if extra[each.said] > 0], lost, _text(original or b""))
    keys = tuple(dict.fromkeys(" ".join(each) for each in (*missing, *extra)))
    return Swap(
        keys, None if content is None else content.encode(errors="surrogateescape"), only_new=not lost
    )


def _put_back(text: str, extra: list[_Invocation], lost: list[_Invocation], original: str) -> str | None:
    """Remove what is new, and put what was there back in its place; None if that is not possible."""
    waiting = list(lost)
    for each in sorted(extra, key=lambda one: one.start, reverse=True):
        fitting = next((one for one in waiting if one.first == each.first), None)
        if fitting is not None:
            waiting.remove(fitting)
        instead = original[fitting.start : fitting.end] if fitting is not None else ""
        text = text[: each.start] + instead + text[each.end :]
    if any(each.depth for each in waiting):
        return None
    return "\n".join([text, *(original[each.start : each.end] for each in waiting), ""])


def _about_tests(found: list[_Invocation], known: set[str] | None = None) -> list[_Invocation]:
    """The commands about tests; if old ones are `known`, commands about new ones are left out."""
    own = _tests(found) | _targets(found)
    new = set() if known is None else own - known
    return [each for each in found if _is_about(each, own | (known or set())) and not _subjects(each) & new]


def _is_about(each: _Invocation, subjects: Collection[str]) -> bool:
    if any(_CUSTOM.search(word) for word in each.words):
        return True
    match each.name:
        case "add_test" | "enable_testing" | "set_tests_properties":
            return True
        case "set_property":
            return each.words[:1] == ("TEST",)
        case "include":
            return bool(_MODULES & set(each.words))
        case "add_subdirectory":
            return "test" in each.words[0].lower() if each.words else False
        case name if name in _DISCOVERS:
            return True
        case name if name in _BUILDS:
            return bool(each.words) and each.words[0] in subjects
    return False


def _subjects(each: _Invocation) -> set[str]:
    """The tests or the target that it is about."""
    if each.name == "add_test":
        return {_named(each)}
    if each.name in ("set_tests_properties", "set_property"):
        stop = next((n for n, word in enumerate(each.words) if word.startswith("PROPERT")), len(each.words))
        return set(each.words[:stop]) - {"TEST"}
    return set(each.words[:1])


def _tests(found: list[_Invocation]) -> set[str]:
    return {_named(each) for each in found if each.name == "add_test"}


def _targets(found: list[_Invocation]) -> set[str]:
    """The targets that tests run, if they are built here."""
    named = {each.words[0] for each in found if each.name in _DISCOVERS and each.words}
    ran = {word for each in found if each.name == "add_test" for word in each.words}
    built = {each.words[0] for each in found if each.name == "add_executable" and each.words}
    return named | (ran & built) | {name for name in built if f"$<TARGET_FILE:{name}>" in ran}


def _named(each: _Invocation) -> str:
    return next(iter(each.words[1:] if each.words[:1] == ("NAME",) else each.words), "")


def _names(each: _Invocation) -> set[str]:
    return {word.lower() for word in each.words[:1]}


def _parse(text: str) -> Iterator[_Invocation]:
    """Every command with its arguments; unclosed ones are ignored."""
    place = depth = 0
    while (head := _COMMAND.search(text, place)) is not None:
        end = _closing(text, head.end())
        if end is None:
            return
        name = head[1].lower()
        depth = max(0, depth - name.startswith(_CLOSES))
        inner = _TOKEN.sub(
            lambda found: "" if found[0].startswith("#") else found[0], text[head.end() : end - 1]
        )
        yield _Invocation(
            name, tuple(word.strip('"') for word in _WORD.findall(inner)), head.start(), end, depth
        )
        depth += name in _OPENS
        place = end


def _closing(text: str, place: int) -> int | None:
    depth = 1
    for token in _TOKEN.finditer(text, place):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


def _text(content: bytes) -> str:
    return content.decode(errors="surrogateescape")
