"""A journal's file, read without waiting for anybody."""

from __future__ import annotations

import os
from pathlib import Path

from untilgreen.core.events import Event
from untilgreen.errors import JournalError, RunGone
from untilgreen.journal.codec import End, decode


def read(path: Path, end: End = End()) -> tuple[list[Event], End]:  # noqa: B008 - frozen
    """The events that stand behind that end, and where they end; whoever writes need not stop."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < end.size:
                raise JournalError(f"{path} became shorter while it was read. Read it again.")
            file.seek(end.size)
            data = file.read()
    except FileNotFoundError:
        if end.size and not path.parent.exists():
            raise RunGone(path.parent.name) from None
        if end.size:
            raise JournalError(f"{path} was removed while it was read.") from None
        return [], end
    except OSError as error:
        raise JournalError(f"{path} can't be read: {error.strerror}. Mend that and try again.") from error
    return decode(data, end, name=str(path))
