"""Writes a file completely or not at all, readable by its owner only."""

from __future__ import annotations

import os
from pathlib import Path

from untilgreen.crash_points import passing
from untilgreen.journal.fsync import sync_folder


def put(path: Path, data: bytes) -> None:
    """Write it under another name, sync it, and then rename it."""
    kind = path.name if path.stem.isalpha() else path.parent.name
    passing("put", "before", kind)
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)
    passing("put", "after", kind)
