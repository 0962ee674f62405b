"""Find the spec file of a directory and read it."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from untilgreen.config.sources import safe_toml
from untilgreen.config.sources.layers import Source
from untilgreen.errors import ConfigError, nearest
from untilgreen.regex import regex

SPEC = "untilgreen.toml"
PYPROJECT = "pyproject.toml"
LARGEST = 10_000_000
"""Bytes; a larger file can't be a spec."""
_TABLE = ("tool", "untilgreen")
_AT = regex(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)


def find(start: Path) -> Path | None:
    """The nearest spec from here up to the root of the repository.

    Without a repository the search stops below a directory that several users share, such as /tmp: we
    would run what others put there.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        if folder != start and _shared(folder):
            return None
        if _if_allowed((folder / SPEC).is_file):
            return folder / SPEC
        if _has_our_table(folder / PYPROJECT):
            return folder / PYPROJECT
        if _if_allowed((folder / ".git").exists):
            return None
    return None


def read(path: Path, shown: str | None = None) -> tuple[dict[str, Any], Source]:
    """The values of a spec file, and the source that errors name."""
    name = shown or path.name
    text = _text(path, name)
    values = _parsed(text, name)
    if path.name != PYPROJECT:
        return values, Source(name, path, text)
    inner: Any = values
    for key in _TABLE:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if inner is None:
        raise ConfigError(f"{name} has no table [tool.untilgreen]. Add it, or name another file.")
    source = Source(name, path, text, _TABLE)
    if not isinstance(inner, dict):
        raise ConfigError(f"{source.place(())}: tool.untilgreen must be a table. Write [tool.untilgreen].")
    return inner, source


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        return safe_toml.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{name} is nested too deeply to be read. Make it simpler.") from error
    except ValueError as error:  # not only TOMLDecodeError: a number may have too many digits
        at = _AT.fullmatch(str(error))
        line = f", line {at['line']}" if at and at["line"] else ""
        what = at["what"] if at else str(error)
        end = " (at its end)" if at and not at["line"] else ""
        raise ConfigError(f"{name}{line}: this is not TOML: {what}{end}. Correct it.") from error


def _text(path: Path, name: str) -> str:
    try:
        _check_size(path, name)
        content = path.read_bytes()
    except FileNotFoundError as error:
        beside = [other.name for other in path.parent.glob("*.toml")]
        close = f" {nearest(path.name, beside)}" if beside else ""
        raise ConfigError(
            f"There is no file {name}.{close} Write one with `untilgreen init`, or name another one."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{name} can't be read: {error.strerror}. Make it readable, or name another with --config."
        ) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: this is not UTF-8. Save the file as UTF-8.") from error


def _check_size(path: Path, name: str) -> None:
    """A named file may also be a pipe, whose size is 0."""
    if path.stat().st_size > LARGEST:
        raise ConfigError(f"{name} has more than {LARGEST:,} bytes, too large for a spec. Name another file.")


def _has_our_table(path: Path) -> bool:
    """Whether pyproject.toml has our table; if it has none, other errors in the file do not matter."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:  # a pipe would never end
            return False
        content = path.read_bytes()
    except OSError:
        return False
    if b"untilgreen" not in content:
        return False
    try:
        tool = safe_toml.loads(content.decode("utf-8-sig")).get("tool")
    except (ValueError, RecursionError):
        return re.search(rb"^\s*\[\s*tool\s*\.\s*untilgreen\b", content, re.MULTILINE) is not None
    return isinstance(tool, dict) and "untilgreen" in tool


def _shared(folder: Path) -> bool:
    return _if_allowed(lambda: bool(folder.stat().st_mode & stat.S_ISVTX))


def _if_allowed(look: Callable[[], bool]) -> bool:
    """A file that we may not access counts as missing."""
    try:
        return look()
    except OSError:
        return False
