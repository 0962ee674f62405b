"""Where the spec of a directory is, and what it says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from untilgreen.config.layers import Source
from untilgreen.errors import ConfigError

SPEC = "untilgreen.toml"
PYPROJECT = "pyproject.toml"


def find(start: Path) -> Path | None:
    """The nearest spec from here up to the root of the repository."""
    for folder in (start, *start.parents):
        if (folder / SPEC).is_file():
            return folder / SPEC
        if (folder / PYPROJECT).is_file() and "tool.untilgreen" in _text(folder / PYPROJECT):
            return folder / PYPROJECT
        if (folder / ".git").exists():
            return None
    return None


def read(path: Path, shown: str | None = None) -> tuple[dict[str, Any], Source]:
    """The values of a spec file, and the source that errors about them name."""
    name, text = shown or path.name, _text(path)
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name} is no valid TOML: {error}.") from error
    if path.name != PYPROJECT:
        return values, Source(name, path, text)
    tool = values.get("tool", {}).get("untilgreen", {})
    if not isinstance(tool, dict):
        raise ConfigError(f"{name}: tool.untilgreen must be a table.")
    return tool, Source(name, path, text, ("tool", "untilgreen"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name} is not UTF-8: {error}. Save it as UTF-8.") from error
    except OSError as error:
        raise ConfigError(
            f"{path.name} can't be read: {error.strerror}. Name another with --config."
        ) from error
