"""Which permission requests of an agent are granted: edits in the workspace, and the gates' commands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection
from pathlib import Path

from untilgreen.agents.kit.json_lines import JsonObject
from untilgreen.regex import regex

HARMLESS = frozenset({"read", "search", "think"})
CHANGES_FILES = frozenset({"edit", "delete", "move"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_IN_BACKTICKS = regex(r"^`([^`]+)`$")


def allowed(call: JsonObject, kind: str, commands: Collection[str], root: Path) -> bool:
    """Whether an agent that may only edit files and run the gates may make this call."""
    if kind in HARMLESS:
        return True
    if kind in CHANGES_FILES:
        return all(_within(path, root) for path in _paths(call))
    return kind == "execute" and command_of(call) in commands


def command_of(call: JsonObject) -> str:
    """The command that a call would run, without the shell around it."""
    given = call.part("rawInput")
    if words := given.texts("command"):
        if len(words) == 3 and Path(words[0]).name in _SHELLS and words[1] in ("-c", "-lc"):
            return words[2].strip()
        return shlex.join(words)
    title = call.text("title").strip()
    quoted = _IN_BACKTICKS.match(title)
    return (given.text("command") or given.text("cmd") or (quoted[1] if quoted else title)).strip()


def _paths(call: JsonObject) -> list[str]:
    given = call.part("rawInput")
    named = [given.text(key) for key in ("file_path", "filePath", "path", "abs_path")]
    located = [each.text("path") for each in (*call.parts("locations"), *call.parts("content"))]
    return [path for path in (*named, *located) if path]


def _within(path: str, root: Path) -> bool:
    real = Path(os.path.realpath(root / path))
    return real == root or real.is_relative_to(os.path.realpath(root))
