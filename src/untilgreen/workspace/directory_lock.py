"""One run at a time in a directory: the run that works there holds a lock with its name in it."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.process.flock import lock


class DirectoryLock:
    """The right to change the files of a directory, held until it is released or the process ends.

    The directory is the top of the git work tree, if there is one. The directory itself is locked, so runs
    with other state directories are kept out too; a file in the state directory holds the name of the run.
    Child processes don't inherit either lock.
    """

    def __init__(self, directory: Path, run: str, state_dir: Path) -> None:
        self._directory = directory.resolve()
        self._run = run
        key = hashlib.sha256(os.fsencode(self._directory)).hexdigest()[:32]
        self._file = state_dir / "claims" / key
        self._descriptor: int | None = None
        self._place: int | None = None

    def acquire(self) -> None:
        """Take the lock, or raise with the name of the run that has it."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        if not lock(descriptor):
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            os.close(descriptor)
            raise WorkspaceNotReady(self._taken(holder))
        try:
            self._place = self._lock_the_place()
        except WorkspaceNotReady:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{self._run}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others work here; does nothing if the lock is not held."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
        if self._place is not None:
            os.close(self._place)
            self._place = None

    def _lock_the_place(self) -> int | None:
        """Lock the directory itself, if its file system can; some network file systems can't."""
        if sys.platform == "win32":
            return None
        try:
            descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            free = lock(descriptor)
        except UserError:
            os.close(descriptor)
            return None
        if not free:
            os.close(descriptor)
            raise WorkspaceNotReady(
                f"Another run, with another state directory, is working in {str(self._directory)!r}. "
                "Wait for it, or stop it there."
            )
        return descriptor

    def forget(self) -> None:
        """Remove the lock file of a directory that is gone for good."""
        self._file.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _taken(self, holder: str) -> str:
        if not holder:  # it has the lock and has not written its name yet
            return (
                f"Another run is working in {str(self._directory)!r}. "
                "Wait for it, or find it with `untilgreen list`."
            )
        return (
            f"Run {holder} is working in {str(self._directory)!r}. "
            f"Wait for it, or stop it with `untilgreen stop {holder}`."
        )
