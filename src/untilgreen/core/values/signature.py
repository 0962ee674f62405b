"""A short, recognizable name for an output, such as `error:TypeError-null-auth.ts`.

For people, alongside the fingerprint that programs compare: tests by their file and names, errors by class,
cause and file, changes by file and what was done, searches by their query, all else by the first words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from untilgreen.regex import regex

LONGEST = 80
_LOOKED_AT = 20_000
"""Characters read at either end of a text."""
_MOST_NAMES = 2
_LONGEST_NAME = 40

_FILE = r"(?<![\w.])(?:[\w.@~-]*[/\\])*([\w-][\w.-]*\.(?!\d)[A-Za-z]\w{0,4})(?![\w.]*[/\\(])"
_ANY_FILE = regex(_FILE + r"\b")
_FAILED = regex(
    r"\b(\d+)\s+(?:\w+\s+){0,2}?(?:failed|failing|failures?)\b|\bfail(?:ed|ures?):?\s+(\d+)", re.I
)
_CLASS = regex(
    r"\b((?:[A-Z]\w*)?[A-Z]\w*(?:Error|Exception|Panic|Fault))\b|^(panic|fatal error|error)(?=:)", re.M
)
_DID = regex(
    r"\b(?:added|removed|fixed|updated|changed|replaced|refactored|renamed|implemented|introduced|moved|handled)"
    r"\s+(?![`'\"]?" + _FILE + r")([^,.;:\n]+)",
    re.I,
)
_TOUCHED = regex(
    r"\b(?:modified|changed|updated|fixed|edited|wrote|created|patched|rewrote|refactored)\s+[`'\"]?" + _FILE,
    re.I,
)
_SEARCHED = regex(
    r"\b(?:search(?:ed|ing)?|looked|googled|grepped|queried)\b[^\n'\"`]{0,60}"
    r"(?:['\"`]([^'\"`\n]{2,120})['\"`]|\bfor\s+([^'\"`\n.,;:]{2,120}))",
    re.I,
)
_INNER = ("node:", "node_modules", "internal/", "site-packages", "<anonymous>", "<frozen")
_CAUSES = (
    "null",
    "undefined",
    "none",
    "nil",
    "timeout",
    "timed out",
    "not found",
    "not defined",
    "permission",
)
_DULL = regex(
    r"(?:an?|and|are|as|at|be|by|can|cannot|could|did|do|does|for|from|had|has|have|i|in|is|its?|my|no|not|of|on|or"
    r"|our|so|some|still|that|the|their|them|then|there|these|they|this|to|was|we|were|when|which|with|your?"
    r"|tests?|cases?|lines?)",
    re.I,
)
_WORD = regex(r"[A-Za-z_][\w]*")


def signature(text: str) -> str:
    """The signature of an output or a reply; empty if it says nothing."""
    if len(text) > 2 * _LOOKED_AT:
        text = f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    return _short(_tests(text) or _error(text) or _change(text) or _search(text) or _slug(text, 6))


def signature_of_findings(ids: Iterable[str]) -> str:
    """The signature of findings: the file they share and the first names, or that of a lone exception."""
    known = sorted(set(ids))
    if len(known) == 1 and (found := _CLASS.search(known[0])) and known[0][found.end() :].startswith(": "):
        return _short(_error(known[0]))
    files = [_ANY_FILE.search(each) for each in known]
    shared = {found[1] for found in files if found is not None}
    if len(shared) != 1 or None in files:
        return _short(_listed([_name(each) for each in known]))
    file = shared.pop()
    ends = [found.end() for found in files if found is not None]
    told = _listed([name for each, end in zip(known, ends, strict=True) if (name := _name(each[end:]))])
    return _short(f"{file}:{told}" if told else file)


def _name(text: str) -> str:
    """An id, or what is left of it, as one word."""
    return "-".join(text.strip(" :-.>").split())[:_LONGEST_NAME]


def _tests(text: str) -> str:
    """`auth.test.ts:login-timeout,logout-assertion`, or how many failed where no file is named."""
    counted = _FAILED.search(text)
    if counted is None:
        return ""
    rest = text[counted.end() :].partition("\n")[0]
    file = _ANY_FILE.search(rest)
    named = rest[file.end() :] if file is not None else rest
    names = [_slug(each, 2) for each in named.lstrip(" :-–—").split(",")]
    told = ",".join([name for name in names if name][:_MOST_NAMES])
    if file is not None:
        return f"{file[1]}:{told}" if told else file[1]
    return f"test-fail:{counted[1] or counted[2]}" + (f"-{told}" if told else "")


def _error(text: str) -> str:
    """`error:TypeError-null-auth.ts`: the class, the cause, and the first file that is not a library's."""
    found = _CLASS.search(text)
    if found is None:
        return ""
    said = text[found.end() :].partition("\n")[0]
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()] + said
    cause = next((each for each in _CAUSES if each in said.lower()), "") or _slug(_ANY_FILE.sub("", said), 2)
    file = _ours(line) or _ours(text[found.end() :]) or _ours(text[: found.start()])
    return "-".join(filter(None, (f"error:{found[1] or found[2]}", cause.replace(" ", "-"), file)))


def _ours(text: str) -> str:
    """The first file that is named, except those of libraries and the runtime."""
    for line in text.splitlines():
        if not any(each in line for each in _INNER) and (found := _ANY_FILE.search(line)) is not None:
            return found[1]
    return ""


def _change(text: str) -> str:
    """`auth.ts:null-check`: the file that was changed, and what was done to it."""
    touched = _TOUCHED.search(text)
    if touched is None:
        return ""
    for did in _DID.finditer(text):
        what = re.split(r"\b(?:for|in|to|on|of|so|because)\b", did[2])[0]
        if told := _slug(what, 2):
            return f"{touched[1]}:{told}"
    return f"{touched[1]}:modified"


def _search(text: str) -> str:
    found = _SEARCHED.search(text)
    return f"search:{_slug(found[1] or found[2], 6)}" if found is not None else ""


def _slug(text: str, most: int) -> str:
    """The first words that say something, joined by hyphens."""
    words = [word for word in _WORD.findall(text) if not _DULL.fullmatch(word)]
    return "-".join(word.lower() if word.istitle() or word.isupper() else word for word in words[:most])


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ",".join(names[:_MOST_NAMES]) + (f"+{more}" if more > 0 else "")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
