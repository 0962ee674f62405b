"""One run at a time in a directory: whoever works there holds a lock with the run's name in it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.flock import lock


class DirectoryClaim:
    """The right to change the files of a directory, held until it is released or the process ends.

    The directory is the git root where there is one. Children of the process don't inherit the claim.
    """

    def __init__(self, directory: Path, run: str, state_dir: Path) -> None:
        self._directory = directory.resolve()
        self._run = run
        key = hashlib.sha256(os.fsencode(self._directory)).hexdigest()[:32]
        self._file = state_dir / "claims" / key
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Claim the directory, or name the run that has it."""
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        if not lock(descriptor):
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            os.close(descriptor)
            raise WorkspaceNotReady(self._taken(holder))
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{self._run}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others work here; nothing happens where nothing is held."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def forget(self) -> None:
        """Remove what tells of a directory that is gone for good."""
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
        if not holder:  # it has the lock and is about to write its name
            return (
                f"Another run works in {str(self._directory)!r}. Stop it (`untilgreen list`), or wait for it."
            )
        return (
            f"Run {holder} works in {str(self._directory)!r}. "
            f"Stop it with `untilgreen stop {holder}`, or wait for its end."
        )
