"""A `git gc --prune=now` or a `git prune` of somebody else: it may take what had no name when it began.

Both look for names first and remove afterwards, so even a tree that got its name meanwhile can lose its
files. Whether a gc was under way is seen by its note `gc.pid`, and by the folder that the note lies in. A
prune leaves no trace: one that runs is waited for, and then everything that is new in a tree is looked for.
"""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import psutil
from anyio import to_thread

from untilgreen.process.table import called, lives
from untilgreen.workspace.index import SUBMODULE, differences
from untilgreen.workspace.plumbing import Git, GitFailed

NOTE = "gc.pid"
PATIENCE = 600.0
"""Seconds; a gc of a large repository takes minutes."""
PATIENCE_WITH_A_PRUNE = 60.0
"""Seconds; it is told by its name alone, and whatever has such a name must not hold a run up."""
_LOOK_SECONDS = 0.02


async def check_whole(git: Git, objects: Path, tree: str, before: str | None) -> None:
    """Raise where something of a tree is gone, as far as the one before, where there is one, has it not."""
    if before is None:
        await git("rev-list", "--objects", "--quiet", tree)
        return
    found = await differences(git, before, tree)  # which reads every new tree itself
    new = {each.new.decode() for each in found if not each.deleted and each.new_mode != SUBMODULE}
    packed = sorted(name for name in new if not (objects / name[:2] / name[2:]).exists())
    if not packed:
        return
    told = await git("cat-file", "--batch-check=%(objectname)", given="\n".join([*packed, ""]).encode())
    if gone := [line for line in told.decode().splitlines() if line.endswith(" missing")]:
        raise GitFailed("cat-file", gone[0], git.place)


class Watch:
    """Tells whether a gc was under way since the watch began."""

    def __init__(self, repository: Path, top: Path | None = None) -> None:
        self._repository = repository
        self._places = (repository.parent, *([top] if top else []))
        self._before = self._mark()

    async def saw_one(self) -> bool:
        """Whether there was one; one that still is under way is waited for."""
        seen = self.changed
        with anyio.move_on_after(PATIENCE):
            while self._lives():  # noqa: ASYNC110 - it is another program's
                await anyio.sleep(_LOOK_SECONDS)
        return seen

    async def no_prune(self) -> None:
        """Wait for every prune that is under way here; one that begins later sees all names."""
        prunes = await to_thread.run_sync(called, "git", "prune", self._places)
        with anyio.move_on_after(PATIENCE_WITH_A_PRUNE):
            while any(map(lives, prunes)):  # noqa: ASYNC110 - they are another program's
                await anyio.sleep(_LOOK_SECONDS)

    @property
    def changed(self) -> bool:
        """Whether there is one, or was."""
        return self._mark() != self._before or (self._repository / NOTE).exists()

    def _mark(self) -> int:
        return self._repository.stat().st_mtime_ns

    def _lives(self) -> bool:
        """Whether the gc of the note still runs, as far as this machine can tell."""
        try:
            pid, host = (self._repository / NOTE).read_text(errors="replace").split()[:2]
            return host == socket.gethostname() and psutil.pid_exists(int(pid))
        except (OSError, ValueError, OverflowError):
            return False
