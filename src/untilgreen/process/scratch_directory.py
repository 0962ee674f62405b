"""Temporary directories for one command, removed even if the driver dies: noted first, then made."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_PREFIX = "untilgreen-"
_SUFFIX = ".private"


@contextmanager
def private_directory(kind: str, tree: Path | None, outside: Path | None = None) -> Iterator[Path]:
    """An empty private directory, removed afterwards; never inside `outside`, where it would look like work.

    A note beside the `tree` note of the command lets `remove_left_behind` find it if the driver dies.
    """
    token = secrets.token_hex(6)
    path = _place(outside) / f"{_PREFIX}{kind}-{token}"
    note = tree.with_name(f"{tree.stem}-{token}{_SUFFIX}") if tree else None
    if note is not None:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(os.fsencode(path))
    path.mkdir(mode=0o700)
    try:
        yield path
    finally:
        _remove(path, note)


def remove_left_behind(notes: Path) -> None:
    """Remove every directory that a note in this folder names."""
    for note in notes.glob(f"*{_SUFFIX}"):
        path = Path(os.fsdecode(note.read_bytes()))
        if path.is_absolute() and path.name.startswith(_PREFIX):
            _remove(path, note)
        else:  # the note was cut off before its directory was made
            note.unlink(missing_ok=True)


def _remove(path: Path, note: Path | None) -> None:
    """A directory that the command made unremovable only costs disk space."""
    shutil.rmtree(path, ignore_errors=True)
    if note is not None:
        note.unlink(missing_ok=True)


@cache
def _place(outside: Path | None) -> Path:
    usual = Path(tempfile.gettempdir())
    places = (usual, Path("/tmp"), Path("/var/tmp"), Path.home())
    if outside is None:
        return usual
    root = outside.resolve()
    return next(
        (place for place in places if place.is_dir() and not place.resolve().is_relative_to(root)), usual
    )
