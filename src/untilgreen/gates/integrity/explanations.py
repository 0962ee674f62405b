"""Describes changes to a protected file, to explain a verdict, never to reach one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from untilgreen.regex import regex

_NAMES = regex(
    r"""^[ \t]*+(?:(?:async\s+)?def\s+(test\w*)|class\s+(Test\w*|\w+Tests?)\b|func\s+(Test\w+))|"""
    r"""\b(?:it|test|describe|specify)(?:\.\w+)*\(\s*["'`]([^"'`]+)|"""
    r"""#\[(?:\w+::)?(?:test|rstest)\b[^\]]{0,200}\]\s*(?:#\[[^\]]{0,200}\]\s*){0,9}(?:pub\s+)?(?:async\s+)?fn\s+(\w+)""",
    re.MULTILINE,
)
_SKIPS = regex(
    r"\bskip(?:if|unless|test)?\b|\bxfail\b|\bexpectedFailure\b|\bx(?:it|test|describe)\(|\.(?:skip|only|todo)\b"
    r"|\bSkip(?:Now|f)?\(|#\[ignore|\btodo\s*:",
    re.IGNORECASE,
)
_ASSERTS = regex(r"\bassert|\bexpect\s*\(|\bshould\b|\brequire\.|\bt\.(?:Error|Fatal|Fail)|\bself\.fail\(")
_ENDINGS = regex(r"\b_exit\(|\bsys\.exit|\bprocess\.exit|\bpytest\.exit|\bos\.kill|\bexit 0\b|\bos\.abort")
_SHOWN = 3
_LONGEST = 100
_COMPARED = 1_000
ALIKE = 0.6


def explain(path: str, status: str, old: str, new: str, *, part: str = "", moved_to: str = "") -> str:
    """One sentence or more about one file."""
    what = f"{part} in {path}" if part and part != "the whole file" else path
    if status == "hidden":
        return f"{what} is new, and hidden by a changed .gitignore. {_about_new(new)}".rstrip()
    if status == "added":
        return f"{what} is new and can change what the tools do. {_about_new(new)}".rstrip()
    if status == "deleted":
        where = f": renamed to {moved_to}" if moved_to else ""
        return f"{what} was removed{where}. {_about_tests(_tests(old), [])}".rstrip()
    if not new.strip():
        return f"{what} was emptied. {_about_tests(_tests(old), [])}".rstrip()
    said = [*_about_change(old, new)] or [_first_change(old, new)]
    return f"{what} was changed: {'; '.join(said)}."


def find_renamed(old: str, candidates: Iterable[tuple[str, str]]) -> str:
    """The new file that has most of a removed file's text; empty if none has enough."""
    best, place, begin = ALIKE, "", _begin(old)
    for path, text in candidates:
        matcher = difflib.SequenceMatcher(None, begin, _begin(text), autojunk=False)
        if matcher.quick_ratio() >= best and (ratio := matcher.ratio()) >= best:
            best, place = ratio, path
    return place


def _begin(text: str) -> list[str]:
    """Enough lines to recognize a file; comparing takes quadratic time if many are alike."""
    return [line for line in text.splitlines() if line.strip()][:_COMPARED]


def _about_change(old: str, new: str) -> Iterable[str]:
    gone, come = _lines_of(old, new)
    before, after = _tests(old), _tests(new)
    if removed := [name for name in before if name not in after]:
        added = [name for name in after if name not in before]
        yield _about_tests(removed, added).rstrip(".")
    if len(_SKIPS.findall(new)) > len(_SKIPS.findall(old)):
        yield f"skipped: {_quoted(line for line in come if _SKIPS.search(line))}"
    weaker = [line for line in gone if _ASSERTS.search(line)]
    if weaker:
        instead = [line for line in come if _ASSERTS.search(line)]
        now = f", now {_quoted(instead)}" if instead else ""
        yield f"{'loosened' if instead else 'assertions removed'}: was {_quoted(weaker)}{now}"
    if endings := [line for line in come if _ENDINGS.search(line)]:
        yield f"ends the process itself: {_quoted(endings)}"


def _about_new(new: str) -> str:
    endings = [line.strip() for line in new.splitlines() if _ENDINGS.search(line)]
    return f"It ends the process itself: {_quoted(endings)}." if endings else ""


def _about_tests(removed: list[str], added: list[str]) -> str:
    if not removed:
        return ""
    instead = f"; new tests: {_few(added)}" if added else ""
    return f"Removed or renamed tests: {_few(removed)}{instead}."


def _first_change(old: str, new: str) -> str:
    gone, come = _lines_of(old, new)
    was = f"was {_quoted(gone)}" if gone else "nothing was removed"
    return f"{was}, now {_quoted(come)}" if come else was


def _lines_of(old: str, new: str) -> tuple[list[str], list[str]]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    gone = [line[1:].strip() for line in changed if line.startswith("-")]
    come = [line[1:].strip() for line in changed if line.startswith("+")]
    return [line for line in gone if line], [line for line in come if line]


def _tests(text: str) -> list[str]:
    found = ("".join(groups) for groups in _NAMES.findall(text))
    return list(dict.fromkeys(name for name in found if name))


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _quoted(lines: Iterable[str]) -> str:
    return _few([f"`{line[:_LONGEST]}`" for line in lines])
