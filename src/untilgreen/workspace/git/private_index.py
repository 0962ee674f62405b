"""The private index: records what is on disk now, and writes it as a git tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Literal, NamedTuple

import anyio

from untilgreen.workspace.git.command import Git, GitFailed, joined, split
from untilgreen.workspace.git.tree_patch import NotPatchable, Patcher, times

MOVING = ("No such file or directory", "short read", "file changed")
"""What git says about a file that is written or removed while git reads it."""
PASSED_OVER = "Ignoring path"
ATTEMPTS = 3
NOTEWORTHY = 100_000_000
"""Size in bytes from which a new file is reported before git stores it."""
LARGE = 1_000_000
"""Size of an index, at about 100 bytes per file, from which two processes are faster than one."""
OTHERS = ("ls-files", "-z", "--others", "--exclude-standard")
CHANGED = ("diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
DIFFERING = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")


class Index:
    """The private index, while no one else writes it."""

    def __init__(self, git: Git, path: Path, max_file: int = 0, patcher: Patcher | None = None) -> None:
        """New files with more than `max_file` bytes are left out; 0 leaves none out."""
        self._patcher = patcher
        self._git = git
        self._path = path
        self._max_file = max_file
        self._passed_over: dict[str, None] = {}
        """What git said about names that it never adds, such as `.GIT` or `git~1`."""

    async def update(
        self, known: str | None = None, *, unchanged: bool = False, same_names: bool = False
    ) -> Looked:
        """Record what is on disk, and report what was left out; `known` is the tree of the index so far.

        Lists differences without writing, then adds them all at once: faster than `git add -A`, and nested
        repositories are reported instead of added. If the differences are simple and no file is new, the
        tree is derived from `known`; the index stays as it is, and shows the same differences next time.

        `unchanged` says that the files in it were compared a moment ago, so only new ones are searched for.
        `same_names` says that since the last update no name was added or removed, nor ignored or unignored.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._update(
                    known, (OTHERS,) if unchanged and attempt == 1 else self._looks(same_names=same_names)
                )
            except GitFailed as failure:
                if attempt == ATTEMPTS or not any(sign in failure.words for sign in MOVING):
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _update(self, known: str | None, looks: Sequence[tuple[str, ...]]) -> Looked:
        differing, warnings = await self._look(looks)
        paths = [path for path in differing if not path.endswith(b"/")]
        large, left_out = await self._large(paths), False
        if large and self._max_file:
            paths, left_out = [path for path in paths if path not in large], True
        tree = await self._patched(known, paths, "refuse")
        if tree is None and paths:
            tree = await self._take_in(paths, known)
        return Looked(
            nested=tuple(path.rstrip(b"/") for path in differing if path.endswith(b"/")),
            warnings=(*warnings, *self._passed_over),
            tree=tree,
            large=tuple(large.items()),
            left_out=left_out,
        )

    async def _take_in(self, paths: Sequence[bytes], known: str | None) -> str | None:
        """Add the paths, and return the new tree if it can be derived from `known`."""
        before = times(self._git.place, paths)
        try:
            await self.add(paths)
        except GitFailed:  # `update-index` can't handle files below what is a link now
            await self._git("add", "-u")
            await self.add([path for path in await self._others() if not path.endswith(b"/")])
            return None
        tree = None if self._passed_over else await self._patched(known, paths, "take")
        # A file written in between may be in the index as it was, and in the tree as it is now.
        return tree if times(self._git.place, paths) == before else None

    async def _patched(
        self, known: str | None, paths: Sequence[bytes], new: Literal["take", "refuse"]
    ) -> str | None:
        """The tree of what is on disk, derived from the index's tree; None if that can't be done."""
        if known is None or not paths or self._patcher is None:
            return None if paths else known
        try:
            return await self._patcher.patched(self._git, known, paths, new)
        except NotPatchable:
            return None

    async def _large(self, paths: Sequence[bytes]) -> dict[bytes, int]:
        """New files that git would have to store in full, with their sizes."""
        sizes = {path: self._file_size(path) for path in paths}
        large = {path: size for path, size in sizes.items() if size > (self._max_file or NOTEWORTHY)}
        if not large:
            return {}
        tracked = set(split(await self._git("ls-files", "-z", "--", *map(_literal, large))))
        return {path: size for path, size in large.items() if path not in tracked}

    def _file_size(self, path: bytes) -> int:
        try:
            found = Path(self._git.place, os.fsdecode(path)).lstat()
        except OSError:
            return 0
        return found.st_size if stat.S_ISREG(found.st_mode) else 0

    def _looks(self, *, same_names: bool) -> Sequence[tuple[str, ...]]:
        """The git commands that list every difference; with many files, two that run at once."""
        if same_names:
            return (CHANGED,)
        return (CHANGED, OTHERS) if self.large() else (DIFFERING,)

    async def _look(self, looks: Sequence[tuple[str, ...]]) -> tuple[list[bytes], tuple[str, ...]]:
        """Every path that differs from the index, and what git warned about."""
        done: dict[tuple[str, ...], CompletedProcess[bytes]] = {}

        async def run(look: tuple[str, ...]) -> None:
            done[look] = await self._git.attempt(*look)

        if self._git.before is not None:
            self._git.before()  # here, since a task group would wrap its error
        async with anyio.create_task_group() as group:
            for look in looks:
                group.start_soon(run, look)
        listed = [path for look in looks for path in split(self._git.checked(done[look]))]
        said = b"" if looks[-1] == CHANGED else done[looks[-1]].stderr
        return list(dict.fromkeys(listed)), tuple(said.decode(errors="replace").splitlines())

    async def _others(self) -> list[bytes]:
        return split(await self._git(*OTHERS))

    def large(self) -> bool:
        """Whether it has so many files that comparing them takes long."""
        try:
            return self._path.stat().st_size > LARGE
        except FileNotFoundError:
            return False

    async def add(self, paths: Sequence[bytes]) -> None:
        """Add files, ignored or not; those that are gone are removed."""
        asked = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        done = await self._git.attempt(*asked, given=joined(paths))
        self._git.checked(done)
        said = done.stderr.decode(errors="replace").splitlines()
        self._passed_over |= {line: None for line in said if line.startswith(PASSED_OVER)}

    async def drop(self, paths: Sequence[bytes]) -> None:
        """Forget files without touching them."""
        await self._git("update-index", "--force-remove", "-z", "--stdin", given=joined(paths))

    async def tree(self) -> str:
        """Write the content of the index as a tree."""
        return (await self._git("write-tree", "--missing-ok")).decode().strip()

    def mark(self) -> tuple[int, ...]:
        """A value that differs after every change: git replaces the file and never writes into it."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns

    async def changed_tree(self, tree: str, entries: Sequence[tuple[bytes, bytes, bytes]]) -> str:
        """A tree with some entries replaced (mode, object, path); the mode `000000` removes one."""
        scratch = self._path.with_name("scratch")
        git = self._git.with_index(scratch)
        scratch.unlink(missing_ok=True)
        await git("read-tree", tree)
        lines = [b"%s %s\t%s" % entry for entry in entries]
        await git("update-index", "-z", "--index-info", given=joined(lines))
        changed = (await git("write-tree", "--missing-ok")).decode().strip()
        scratch.unlink(missing_ok=True)
        return changed

    async def move(self, before: str, after: str) -> None:
        """Turn the files of one tree into those of another; refused if files differ from the first.

        What a sparse checkout left out stays out, because it is the same in both.
        """
        # A file written again with the same bytes has a new time, which `read-tree` takes for a change.
        await self._git.attempt("update-index", "-q", "--refresh")
        await self._git("read-tree", "-m", "-u", "--no-sparse-checkout", before, after)


def _literal(path: bytes) -> str:
    """A pathspec that means exactly this path."""
    return f":(literal){os.fsdecode(path)}"


class Looked(NamedTuple):
    """What an update left out, and what git said about it."""

    nested: tuple[bytes, ...]
    """Nested repositories that are not submodules."""
    warnings: tuple[str, ...]
    tree: str | None
    """The tree of what is on disk, if known without the index."""
    large: tuple[tuple[bytes, int], ...] = ()
    """New files large enough for a warning, with their sizes."""
    left_out: bool = False
    """Whether the large files were left out, as the spec asks."""
