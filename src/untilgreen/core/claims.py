"""Hearing a claim: the promise as a tag, in the agent's own last words of this lap.

A claim is evidence and never proof, and an echo of the instruction is not even that.
"""

import re
from collections.abc import Iterator

from untilgreen.core.model import Promise

TOKENS = frozenset({"TASK_COMPLETE", "TASK_COMPLETED", "DONE", "[COMPLETE]", "[TASK COMPLETE]", "[DONE]"})
"""Bare words that count as a whole last line, where a strategy asks for them."""

_FENCE = re.compile(r"\s*(?:(?:[-*+>]|\d+[.)])\s+)*(```+(?=[^`]*$)|~~~+)(.*)")
_NEIGHBOURS = 2
_NEAR = 2_000
"""Characters; an answer may be one line with a tag after the other."""


def tag(promise: Promise) -> str:
    """The promise as the agent is to write it."""
    return f"<promise>{promise.text}</promise>"


def claimed(text: str, brief: str, promise: Promise) -> bool:
    """Whether the agent says that it is done; `brief` is what it was told, for telling an echo."""
    said = _without_fences(text)
    if promise.tokens and _last_line(said) in TOKENS:
        return True
    told = _words(brief)
    return any(not _echoes(words, before, after, told) for words, before, after in _tags(said, promise))


def _tags(text: str, promise: Promise) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each tag, with the words near it, before and after it on its lines."""
    wanted = re.compile(rf"<promise>\s*{re.escape(promise.text.strip())}\s*</promise>", re.IGNORECASE)
    for match in wanted.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + _NEAR].partition("\n")[0]
        yield _words(match[0]), _words(before).split(), _words(after).split()


def _echoes(tag_words: str, before: list[str], after: list[str], told: str) -> bool:
    """A tag among other words that the brief has too; alone on its line it is always meant."""
    if not any(any(map(str.isalnum, word)) for word in (*before, *after)):
        return False
    return " ".join((*before[-_NEIGHBOURS:], tag_words, *after[:_NEIGHBOURS])) in told


def _words(text: str) -> str:
    return " ".join(re.sub(r"(</?promise>)", r" \1 ", text, flags=re.IGNORECASE).lower().split())


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
