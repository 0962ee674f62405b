"""Locks that the system takes back when their owner dies, however it dies; never waited for here."""

from __future__ import annotations

import os
import sys

from untilgreen.errors import UserError

if sys.platform == "win32":
    import msvcrt

    _BEHIND_THE_TEXT = 1 << 30  # a locked region can't be read by others, and the text is for others

    def lock(descriptor: int, mode: int = msvcrt.LK_NBLCK) -> bool:
        """Lock an open file for as long as it stays open; False where somebody else holds it."""
        os.lseek(descriptor, _BEHIND_THE_TEXT, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

    def is_free(descriptor: int) -> bool:
        """Whether nobody holds it at this moment."""
        return lock(descriptor) and lock(descriptor, msvcrt.LK_UNLCK)

else:
    import fcntl

    def lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
        """Lock an open file for as long as it stays open; False where somebody else holds it."""
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise UserError(
                f"The state directory can't lock files: {error.strerror}. Choose one on a local disk "
                "with `--state-dir`."
            ) from error
        return True

    def is_free(descriptor: int) -> bool:
        """An owner never shares its lock, so who can share it knows that there is no owner."""
        return lock(descriptor, fcntl.LOCK_SH) and lock(descriptor, fcntl.LOCK_UN)
