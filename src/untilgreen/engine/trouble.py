"""What is wrong with the world around a run and not with the run: somebody mends it, and the run goes on."""

from __future__ import annotations

import errno

from untilgreen.errors import JournalError, UntilgreenError, WorkspaceNotReady

_OF_THE_DISK = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EIO", "ESTALE", "EMFILE", "ENFILE")
    if hasattr(errno, name)  # Windows lacks some
)


def worldly(error: BaseException, run: str) -> UntilgreenError | None:
    """The sentence about trouble that leaves the run open; None where the run itself has failed."""
    go_on = f"Then go on with `untilgreen resume {run}`; what was recorded before is safe."
    match error:
        case JournalError():
            return error
        case WorkspaceNotReady():
            return WorkspaceNotReady(f"{error} {go_on}")
        case OSError() if error.errno in _OF_THE_DISK:
            where = f" ({error.filename})" if error.filename else ""
            return JournalError(
                f"What run {run} leaves can't be kept: {error.strerror}{where}. Mend that. {go_on}"
            )
        case _:
            return None
