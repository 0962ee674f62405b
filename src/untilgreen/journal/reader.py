"""Reads a journal file without waiting for its writer."""

from __future__ import annotations

import os
from pathlib import Path

from untilgreen.core.values.events import Event
from untilgreen.errors import JournalError, RunGone
from untilgreen.journal.codec import End, decode
from untilgreen.journal.fsync import open_regular


def read(path: Path, end: End = End()) -> tuple[list[Event], End]:  # noqa: B008 - frozen
    """The events after that end, and the new end; the writer need not stop."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size < end.size:
                raise JournalError(f"{path} became shorter while it was being read. Try again.")
            file.seek(end.size)
            data = file.read()
    except FileNotFoundError:
        if end.size and not path.parent.exists():
            raise RunGone(path.parent.name) from None
        if end.size:
            raise JournalError(f"{path} was removed while it was being read.") from None
        return [], end
    except OSError as error:
        raise JournalError(f"{path} can't be read: {error.strerror}. Fix that and try again.") from error
    return decode(data, end, name=str(path))
