"""Where a run works, as it is written: a word, or a table with what the mode needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from untilgreen.config.layers import Layers
from untilgreen.config.schema import MODES, WorkspaceTable, kinds_of
from untilgreen.config.values import check_known, check_type
from untilgreen.core.model import IN_PLACE, WORKTREE
from untilgreen.errors import nearest

_OF_A_WORKTREE = ("setup", "copy")
_GIT = ".git"


def check_workspace(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Every key by itself; what belongs together may stand in several layers."""
    table = _table(written)
    kinds = kinds_of(WorkspaceTable)
    check_known(layers, ("workspace",), table, kinds, "the workspace has no key")
    mode = table.get("mode", IN_PLACE)
    if not isinstance(mode, str) or mode not in MODES:
        near = nearest(str(mode), MODES)
        raise layers.error(("workspace", "mode"), f"the workspace mode can't be {mode!r}. {near}")
    for key, value in table.items():
        check_type(layers, ("workspace", key), value, kinds[key])
    for command in _commands(table.get("setup", [])):
        if not command.strip() or "\0" in command:
            raise layers.error(("workspace", "setup"), "workspace.setup has an empty command. Remove it.")
    for pattern in table.get("copy", ()):
        _check_copy(layers, pattern)


def workspace_of(layers: Layers, written: str | Mapping[str, Any]) -> dict[str, Any]:
    """The table with every key of its mode, where nothing contradicts it."""
    table = _table(written)
    mode = table.get("mode", IN_PLACE)
    for key in _OF_A_WORKTREE if mode == IN_PLACE else ():
        if key in table:
            raise layers.error(
                ("workspace", key),
                f"workspace.{key} belongs to the mode {WORKTREE!r}. Add `mode = {WORKTREE!r}`, or remove it.",
            )
    if mode == IN_PLACE:
        return {"mode": IN_PLACE}
    return {"mode": mode, "setup": _commands(table.get("setup", [])), "copy": list(table.get("copy", []))}


def _table(written: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"mode": written} if isinstance(written, str) else written


def _commands(setup: str | list[str]) -> list[str]:
    return [setup] if isinstance(setup, str) else list(setup)


def _check_copy(layers: Layers, pattern: str) -> None:
    """Only what lies in the project, and nothing of git's own."""
    path = PurePosixPath(pattern)
    wrong = path.is_absolute() or ".." in path.parts or _GIT in path.parts or pattern.startswith("~")
    if wrong or not path.parts or "\0" in pattern:
        raise layers.error(
            ("workspace", "copy"),
            f"workspace.copy can't have {pattern!r}. Write paths in the project, relative to the spec, "
            "for example '.env'.",
        )
