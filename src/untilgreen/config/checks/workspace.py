"""`workspace`: a mode, or a table with what a worktree needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from untilgreen.config.checks.types import check_table
from untilgreen.config.sources.layers import Layers
from untilgreen.core.values.model import IN_PLACE, WORKTREE
from untilgreen.core.values.units import count
from untilgreen.errors import ConfigError

_OF_A_WORKTREE = ("setup", "copy")
_GIT = ".git"


def check_workspace(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Check each key on its own; keys that belong together may come from several layers."""
    table = check_table(layers, "workspace", written)
    for command in _commands(table.get("setup", [])):
        if not command.strip() or "\0" in command:
            raise layers.error(("workspace", "setup"), "workspace.setup has an empty command. Remove it.")
    _bytes(layers, table)
    for pattern in table.get("copy", ()):
        _check_copy(layers, pattern)


def workspace_of(layers: Layers, written: str | Mapping[str, Any]) -> dict[str, Any]:
    """The complete table of its mode."""
    table = _table(written)
    mode = table.get("mode", IN_PLACE)
    for key in _OF_A_WORKTREE if mode == IN_PLACE else ():
        if key in table:
            raise layers.error(
                ("workspace", key),
                f"workspace.{key} needs the mode {WORKTREE!r}. Add `mode = {WORKTREE!r}`, or remove the key.",
            )
    size = _bytes(layers, table)
    limit = {"max_file": size} if size else {}
    if mode == IN_PLACE:
        return {"mode": IN_PLACE, **limit}
    return {
        "mode": mode,
        **limit,
        "setup": _commands(table.get("setup", [])),
        "copy": list(table.get("copy", [])),
    }


def _bytes(layers: Layers, table: Mapping[str, Any]) -> int:
    """The size as a number; 0 if it is not set."""
    written = table.get("max_file")
    try:
        return 0 if written is None else count(written, "workspace.max_file")
    except ConfigError as error:
        raise layers.error(("workspace", "max_file"), str(error)) from error


def _table(written: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"mode": written} if isinstance(written, str) else written


def _commands(setup: str | list[str]) -> list[str]:
    return [setup] if isinstance(setup, str) else list(setup)


def _check_copy(layers: Layers, pattern: str) -> None:
    """Allow only files of the project, and nothing in .git."""
    path = PurePosixPath(pattern)
    wrong = path.is_absolute() or ".." in path.parts or _GIT in path.parts or pattern.startswith("~")
    if wrong or not path.parts or "\0" in pattern:
        raise layers.error(
            ("workspace", "copy"),
            f"workspace.copy can't contain {pattern!r}. Write paths in the project, relative to the spec, "
            "for example '.env'.",
        )
