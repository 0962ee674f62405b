"""The sandbox as it is written: a word, or a table with what is let through its walls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from untilgreen.config.layers import Layers
from untilgreen.config.schema import SandboxTable, kinds_of
from untilgreen.config.values import check_known, check_type
from untilgreen.core.model import BWRAP, NO_SANDBOX, Sandbox

_VARIABLE = re.compile(r"[A-Za-z_]\w*\*?")
_SHORTEST = 2
"""Parts of a path that is neither the whole disk nor the whole home directory, however it is written."""


def check_sandbox(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Every key by itself; what belongs together may stand in several layers."""
    table = _table(written)
    kinds = kinds_of(SandboxTable)
    check_known(layers, ("sandbox",), table, kinds, "the sandbox has no key")
    for key, value in table.items():
        path = ("sandbox",) if isinstance(written, str) else ("sandbox", key)
        check_type(layers, path, value, kinds[key])
    for name in table.get("env", ()):
        if not _VARIABLE.fullmatch(name):
            raise layers.error(
                ("sandbox", "env"),
                f"sandbox.env can't have {name!r}. Write names of variables, such as 'NPM_TOKEN' or 'AWS_*'.",
            )
    for key in ("read", "write"):
        for path in table.get(key, ()):
            _check_path(layers, key, path)


def sandbox_of(layers: Layers, written: str | Mapping[str, Any]) -> Sandbox:
    """The table with every key; options without a sandbox would be walls that nobody built."""
    table = _table(written)
    if table.get("mode", NO_SANDBOX) == NO_SANDBOX:
        for key in table:
            if key != "mode":
                raise layers.error(
                    ("sandbox", key),
                    f"sandbox.{key} belongs to the mode {BWRAP!r}. Add `mode = {BWRAP!r}`, or remove it.",
                )
    return msgspec.convert(dict(table), Sandbox)


def _table(written: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"mode": written} if isinstance(written, str) else written


def _check_path(layers: Layers, key: str, path: str) -> None:
    parts = PurePosixPath(path).parts
    whole = len(parts) < _SHORTEST
    if whole or ".." in parts or "\0" in path or not path.startswith(("/", "~/")):
        raise layers.error(
            ("sandbox", key),
            f"sandbox.{key} can't have {path!r}. Write paths that begin with / or ~/, "
            "and neither the whole disk nor the whole home directory.",
        )
