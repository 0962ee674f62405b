"""Problems around a run, such as a full disk: fix them, and the run continues."""

from __future__ import annotations

import errno

from untilgreen.errors import JournalError, UntilgreenError, WorkspaceNotReady

DISK_ERRORS = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EIO", "ESTALE", "EMFILE", "ENFILE")
    if hasattr(errno, name)  # Windows lacks some
)
"""Error numbers that a machine is to blame for, not a program."""


def resumable(error: BaseException, run: str) -> UntilgreenError | None:
    """A message about an error that leaves the run open; None if the run itself has failed."""
    go_on = f"Then continue with `untilgreen resume {run}`; what was recorded is safe."
    match error:
        case JournalError():
            return error
        case WorkspaceNotReady():
            return WorkspaceNotReady(f"{error} {go_on}")
        case OSError() if error.errno in DISK_ERRORS:
            where = f" ({error.filename})" if error.filename else ""
            return JournalError(
                f"Run {run}'s data can't be saved: {error.strerror}{where}. Fix that. {go_on}"
            )
        case _:
            return None
