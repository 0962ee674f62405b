"""`sandbox`: a mode, or a table with the exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from untilgreen.config.checks.types import check_table
from untilgreen.config.sources.layers import Layers
from untilgreen.core.values.model import BWRAP, CONTAINERS, NO_SANDBOX, SandboxSpec
from untilgreen.core.values.units import count
from untilgreen.errors import ConfigError
from untilgreen.regex import regex

_VARIABLE = regex(r"[A-Za-z_]\w*\*?")
_SHORTEST = 2
"""The fewest parts of a path that is neither the whole disk nor the whole home directory."""


def check_sandbox(layers: Layers, written: str | Mapping[str, Any]) -> None:
    """Check each key on its own; keys that belong together may come from several layers."""
    table = check_table(layers, "sandbox", written)
    for name in table.get("env", ()):
        if not _VARIABLE.fullmatch(name):
            raise layers.error(
                ("sandbox", "env"),
                f"sandbox.env can't contain {name!r}. "
                "Write names of variables, such as 'NPM_TOKEN' or 'AWS_*'.",
            )
    for key in ("disk", "memory"):
        if table.get(key) is not None:
            try:
                count(table[key], f"sandbox.{key}")
            except ConfigError as error:
                raise layers.error(("sandbox", key), str(error)) from error
    for key in ("read", "write"):
        for path in table.get(key, ()):
            _check_path(layers, key, path)


def sandbox_of(layers: Layers, written: str | Mapping[str, Any]) -> SandboxSpec:
    """The complete table; options without a sandbox are refused, since they would protect nothing."""
    table = _table(written)
    if table.get("mode", NO_SANDBOX) == NO_SANDBOX:
        for key in table:
            if key != "mode":
                raise layers.error(
                    ("sandbox", key),
                    f"sandbox.{key} needs the mode {BWRAP!r}. Add `mode = {BWRAP!r}`, or remove the key.",
                )
    if (table.get("mode") in CONTAINERS) != bool(table.get("image")):
        raise layers.error(
            ("sandbox", "image" if table.get("image") else "mode"),
            "Containers need sandbox.image, and it is only for them. Write, for example, "
            "sandbox = { mode = 'podman', image = 'localhost/mine' }.",
        )
    return msgspec.convert(dict(table), SandboxSpec)


def _table(written: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return {"mode": written} if isinstance(written, str) else written


def _check_path(layers: Layers, key: str, path: str) -> None:
    parts = PurePosixPath(path).parts
    whole = len(parts) < _SHORTEST
    if whole or ".." in parts or "\0" in path or not path.startswith(("/", "~/")):
        raise layers.error(
            ("sandbox", key),
            f"sandbox.{key} can't contain {path!r}. Write paths that begin with / or ~/, "
            "and neither the whole disk nor the whole home directory.",
        )
