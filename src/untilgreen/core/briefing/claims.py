"""Recognizes a claim: the promise as a tag, in the agent's own last message of this lap.

A claim is evidence and never proof, and an echo of the instruction is not even that.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from untilgreen.core.values.model import Promise
from untilgreen.regex import regex

TOKENS = frozenset({"TASK_COMPLETE", "TASK_COMPLETED", "DONE", "[COMPLETE]", "[TASK COMPLETE]", "[DONE]"})
"""Words that count as a claim when they are the whole last line, if a strategy asks for that."""

_FENCE = regex(r"\s*(?:(?:[-*+>]|\d+[.)])\s+)*(```+(?=[^`]*$)|~~~+)(.*)")
_TAG = regex(r"</?promise>", re.IGNORECASE)
_NEIGHBORS = 2
_NEAR = 2_000
"""How many characters of a line to read around a tag; an answer may be one line full of tags."""
_QUOTES = ('"', "'", "`", "\u201c", "\u2018", "\u00ab", "\u201e")
_NEGATION = regex(
    r"\b(?:not|never|no|nor|cannot|without|before|until|unless|if|when)\b|n['’]t\b", re.IGNORECASE
)


def tag(promise: Promise) -> str:
    """The promise as the agent should write it."""
    return f"<promise>{promise.text}</promise>"


def claimed(text: str, brief: str, promise: Promise) -> bool:
    """Whether the agent says that it is done; `brief` is what it was told, to recognize an echo."""
    said = _without_fences(text)
    if promise.tokens and _last_line(said) in TOKENS:
        return True
    told = _words(brief)
    return any(_is_meant(each, told) for each in _tags(said, promise))


class _Tag(NamedTuple):
    words: str
    before: str
    """What comes before it on its line."""
    after: str
    last: bool
    """Whether only punctuation comes after it."""


def _tags(text: str, promise: Promise) -> Iterator[_Tag]:
    wanted = re.compile(rf"<promise>\s*{re.escape(promise.text.strip())}\s*</promise>", re.IGNORECASE)
    end = _end_of_words(text)
    for match in wanted.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + _NEAR].partition("\n")[0]
        yield _Tag(_words(match[0]), before, after, last=match.end() >= end)


def _is_meant(tag: _Tag, told: str) -> bool:
    """On its own line, or as the end of the reply; never in a quote, a negation or an echo."""
    if tag.before.lstrip(" *_-").startswith(">") or tag.before.rstrip("*_").endswith(_QUOTES):
        return False
    if not _has_words(tag.before) and not _has_words(tag.after):
        return True
    sentence = re.split(r"[.!?:;]\s", tag.before)[-1]
    return tag.last and not _NEGATION.search(sentence) and not _echoes(tag, told)


def _echoes(tag: _Tag, told: str) -> bool:
    """Whether the brief has the tag among the same words."""
    before, after = _words(tag.before).split(), _words(tag.after).split()
    return " ".join((*before[-_NEIGHBORS:], tag.words, *after[:_NEIGHBORS])) in told


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, _TAG.sub("", text)))


def _end_of_words(text: str) -> int:
    """Where the last word of a text ends; computed once, since an answer may have very many tags."""
    blank = _TAG.sub(lambda found: " " * len(found[0]), text)
    return next((at for at in range(len(blank), 0, -1) if blank[at - 1].isalnum()), 0)


def _words(text: str) -> str:
    return " ".join(_TAG.sub(r" \g<0> ", text).lower().split())


def _without_fences(text: str) -> str:
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            kept.append(line)
    return "\n".join(kept)


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")
