"""File locks that the system releases when their owner dies, however it dies; nothing here waits for one."""

from __future__ import annotations

import os
import sys

from untilgreen.errors import UserError

if sys.platform == "win32":
    import msvcrt

    _AFTER_THE_TEXT = 1 << 30  # a locked region can't be read by others, who need to read the text

    def lock(descriptor: int, mode: int = msvcrt.LK_NBLCK) -> bool:
        """Lock an open file until it is closed; False if someone else holds the lock."""
        os.lseek(descriptor, _AFTER_THE_TEXT, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, mode, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

    def is_free(descriptor: int) -> bool:
        """Whether no one holds the lock at this moment."""
        return lock(descriptor) and lock(descriptor, msvcrt.LK_UNLCK)

else:
    import fcntl

    def lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
        """Lock an open file until it is closed; False if someone else holds the lock."""
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
        """Owners take exclusive locks, so if a shared lock succeeds there is no owner."""
        return lock(descriptor, fcntl.LOCK_SH) and lock(descriptor, fcntl.LOCK_UN)
