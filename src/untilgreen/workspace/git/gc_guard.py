"""Waits for a running `git gc` or `git prune`, and checks that a snapshot is still complete.

Both collect refs first and delete objects afterwards, so even a tree that got its ref in between can lose
objects. A running gc shows in its file `gc.pid` and in the modification time of the folder around it. A prune
leaves no trace: a running one is waited for, and then every new object of a tree is checked for.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio import to_thread

from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.table import called, lives
from untilgreen.workspace.git.command import Git, GitFailed
from untilgreen.workspace.git.loose_objects import LooseObjects
from untilgreen.workspace.git.tree_diff import SUBMODULE, Difference, differences
from untilgreen.workspace.git.tree_patch import Compared

NOTE = "gc.pid"
PROGRAM = "git"
PATIENCE = 600.0
"""Seconds; a gc of a large repository takes minutes."""
PATIENCE_WITH_A_PRUNE = 60.0
"""Seconds; it is recognized by its name alone, so it must not hold up a run for long."""
_LOOK_SECONDS = 0.02
_SILENT_SECONDS = 2.0
"""How long to wait silently."""


def tell_nobody(sentence: str) -> None:
    """A `tell` for callers that show nothing."""


async def check_whole(
    git: Git, objects: LooseObjects, tree: str, before: str | None, compared: Compared | None = None
) -> list[Difference] | None:
    """Raise if an object of a tree is missing; those of `before` are assumed to exist.

    Returns what differs from `before`, which is needed for this anyway; `compared` is that, if known already.
    """
    if before is None:
        await git("rev-list", "--objects", "--quiet", tree)
        return None
    # `differences` reads every new directory itself, so none is missing then.
    found, trees = compared or Compared(await differences(git, before, tree), [])
    new = {each.new.decode() for each in found if not each.deleted and each.new_mode != SUBMODULE}
    packed = sorted(name for name in new.union(trees) if not objects.has(name))
    if not packed:
        return found
    told = await git("cat-file", "--batch-check=%(objectname)", given="\n".join([*packed, ""]).encode())
    if gone := [line for line in told.decode().splitlines() if line.endswith(" missing")]:
        raise GitFailed("cat-file", gone[0], git.place)
    return found


class GcWatch:
    """Tells whether a gc has been running since the watch began."""

    def __init__(
        self, repository: Path, top: Path | None = None, tell: Callable[[str], None] = tell_nobody
    ) -> None:
        self._repository = repository
        self._tell = tell
        self._places = (repository.parent, *([top] if top else []))
        self._before = self._mark()

    async def wait_for_gc(self) -> bool:
        """Whether there was one; waits for one that is still running."""
        seen = self.changed
        began, told = anyio.current_time(), False
        with anyio.move_on_after(PATIENCE):
            while pid := self._running():
                if not told and anyio.current_time() - began > _SILENT_SECONDS:
                    self._tell(
                        f"Waiting for `git gc` (process {pid}) in {str(self._repository)!r} to finish."
                    )
                    told = True
                await anyio.sleep(_LOOK_SECONDS)
        return seen

    async def wait_for_prunes(self) -> None:
        """Wait for every prune running here; one that starts later sees all refs."""
        prunes = await to_thread.run_sync(called, PROGRAM, "prune", self._places)
        with anyio.move_on_after(PATIENCE_WITH_A_PRUNE):
            while any(map(lives, prunes)):  # noqa: ASYNC110 - processes of another program
                await anyio.sleep(_LOOK_SECONDS)

    @property
    def changed(self) -> bool:
        """Whether a gc is or was running."""
        return self._mark() != self._before or (self._repository / NOTE).exists()

    def _mark(self) -> int:
        try:
            return self._repository.stat().st_mtime_ns
        except FileNotFoundError:
            raise WorkspaceNotReady(
                f"The repository {str(self._repository)!r} is gone. Restore it, for example from a backup."
            ) from None

    def _running(self) -> int | None:
        """The process that the note names, if it is a git running here; a stale note may name any process."""
        if not (self._repository / NOTE).exists():
            return None
        import psutil  # noqa: PLC0415 - takes longer to load than most commands, and few repositories have a note

        try:
            pid, host = (self._repository / NOTE).read_text(errors="replace").split()[:2]
            named = psutil.Process(int(pid)).name() if host == socket.gethostname() else ""
        except (OSError, ValueError, OverflowError, psutil.Error):
            return None
        return int(pid) if named.removesuffix(".exe") == PROGRAM else None
