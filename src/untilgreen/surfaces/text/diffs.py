"""Diffs for people: colored on a terminal, or as a table of files."""

from __future__ import annotations

import os
import sys

from untilgreen.core.values.units import several
from untilgreen.surfaces.text.safe_text import columns_of, inert, inert_lines, padded

_RED, _GREEN, _CYAN, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
_HEADS = ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ", "similarity ", "old mode")
WIDEST_BAR = 40


def colored() -> bool:
    """Whether to print colors: on a terminal or with FORCE_COLOR, but never with NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def in_color(diff: str) -> str:
    """A unified diff in git's colors; escape sequences in the diff itself are dropped."""
    return "".join(f"{_painted(line)}\n" for line in inert_lines(diff).splitlines())


def stat(diff: str) -> list[str]:
    """A line per file with its added and removed lines, and a line with the sum."""
    counts = _counts(diff)
    if not counts:
        return []
    width = max(columns_of(path) for path in counts)
    most = max(added + removed for added, removed in counts.values())
    scale = min(1.0, WIDEST_BAR / most) if most else 1.0
    lines = [
        f" {padded(path, width)} | {added + removed:4} {_bar(added, '+', scale)}{_bar(removed, '-', scale)}"
        for path, (added, removed) in counts.items()
    ]
    added, removed = (sum(each[place] for each in counts.values()) for place in (0, 1))
    return [*lines, f" {several(len(counts), 'file')} changed, {added:,} added, {removed:,} removed"]


def _counts(diff: str) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    path, in_head = "", False
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            path, in_head = inert(line.rpartition(" b/")[2]), True
            counts[path] = (0, 0)
        elif line.startswith("@@"):
            in_head = False
        elif path and not in_head and line[:1] in ("+", "-"):
            added, removed = counts[path]
            counts[path] = (added + 1, removed) if line[0] == "+" else (added, removed + 1)
    return counts


def _bar(count: int, sign: str, scale: float) -> str:
    return sign * (max(1, round(count * scale)) if count else 0)


def _painted(line: str) -> str:
    if line.startswith(_HEADS):
        return f"{_BOLD}{line}{_OFF}"
    color = {"@": _CYAN, "+": _GREEN, "-": _RED}.get(line[:1])
    return f"{color}{line}{_OFF}" if color else line
