"""The private index: what is on disk now, as git sees it, without a trace in the user's own index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import anyio

from untilgreen.workspace.graft import Ungraftable, grafted, times
from untilgreen.workspace.plumbing import Git, GitFailed, joined, split

SUBMODULE = b"160000"
ABSENT = b"000000"
MOVING = ("No such file or directory", "short read", "file changed")
"""What git says of a file that somebody writes or removes while it is read."""
PASSED_OVER = "Ignoring path"
ATTEMPTS = 3
LARGE = 1_000_000
"""Bytes of an index, about a hundred for each file, from which on two processes are faster than one."""
OTHERS = ("ls-files", "-z", "--others", "--exclude-standard")
CHANGED = ("diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
DIFFERING = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")


class Difference(NamedTuple):
    """One path that differs between two trees, in git's own terms."""

    path: bytes
    old_mode: bytes
    new_mode: bytes
    old: bytes
    new: bytes

    @property
    def submodule(self) -> bool:
        """Whether either side is the commit of another repository."""
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def added(self) -> bool:
        """Only the second tree has it."""
        return self.old_mode == ABSENT

    @property
    def deleted(self) -> bool:
        """Only the first tree has it."""
        return self.new_mode == ABSENT


class Index:
    """The private index while nobody else writes it."""

    def __init__(self, git: Git, path: Path) -> None:
        self._git = git
        self._path = path
        self._passed_over: dict[str, None] = {}
        """What git said about names that it never takes in, such as `.GIT` or `git~1`."""

    async def update(self, known: str | None = None) -> Looked:
        """Bring the index up to what is on disk, and tell what was left out; `known` is its tree before.

        First a look, which writes nothing, then all that differs at once: that is faster than `git add -A`,
        and shows repositories inside this one instead of adding them, or choking on them.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._update(known)
            except GitFailed as failure:
                if attempt == ATTEMPTS or not any(sign in failure.words for sign in MOVING):
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _update(self, known: str | None) -> Looked:
        differing, warnings = await self._look()
        paths = [path for path in differing if not path.endswith(b"/")]
        tree = None if paths else known
        if paths:
            try:
                tree = await self._take_in(paths, known if self._size() > LARGE else None)
            except GitFailed:  # of files below what is a link now, `update-index` knows nothing
                await self._git("add", "-u")
                await self.add([path for path in await self._others() if not path.endswith(b"/")])
        return Looked(
            nested=tuple(path.rstrip(b"/") for path in differing if path.endswith(b"/")),
            warnings=(*warnings, *self._passed_over),
            tree=tree,
        )

    async def _take_in(self, paths: Sequence[bytes], known: str | None) -> str | None:
        """Add the paths; where `known` is the tree before, make the one after beside that, if it can be."""
        if known is None:
            await self.add(paths)
            return None
        before = times(self._git, paths)
        trees: list[str] = []
        failures: list[GitFailed] = []

        async def graft() -> None:
            with suppress(Ungraftable, GitFailed):
                trees.append(await grafted(self._git, known, paths))

        async def add() -> None:
            try:
                await self.add(paths)
            except GitFailed as failure:
                failures.append(failure)

        async with anyio.create_task_group() as group:
            group.start_soon(graft)
            group.start_soon(add)
        for failure in failures:
            raise failure
        return trees[0] if trees and times(self._git, paths) == before else None

    async def _look(self) -> tuple[list[bytes], tuple[str, ...]]:
        """Every path that is not as the index has it; where there are many files, by two looks at once."""
        looks = (CHANGED, OTHERS) if self._size() > LARGE else (DIFFERING,)
        done: dict[tuple[str, ...], CompletedProcess[bytes]] = {}

        async def run(look: tuple[str, ...]) -> None:
            done[look] = await self._git.attempt(*look)

        async with anyio.create_task_group() as group:
            for look in looks:
                group.start_soon(run, look)
        listed = [path for look in looks for path in split(self._git.checked(done[look]))]
        return list(dict.fromkeys(listed)), tuple(
            done[looks[-1]].stderr.decode(errors="replace").splitlines()
        )

    async def _others(self) -> list[bytes]:
        return split(await self._git(*OTHERS))

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    async def add(self, paths: Sequence[bytes]) -> None:
        """Take in files, ignored or not; one that is gone again is none."""
        asked = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        done = await self._git.attempt(*asked, given=joined(paths))
        self._git.checked(done)
        said = done.stderr.decode(errors="replace").splitlines()
        self._passed_over |= {line: None for line in said if line.startswith(PASSED_OVER)}

    async def drop(self, paths: Sequence[bytes]) -> None:
        """Forget files without touching them."""
        await self._git("update-index", "--force-remove", "-z", "--stdin", given=joined(paths))

    async def tree(self) -> str:
        """Write what the index holds as a tree."""
        return (await self._git("write-tree", "--missing-ok")).decode().strip()

    def mark(self) -> tuple[int, ...]:
        """Another value after every change: git replaces the file, it never writes into it."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns

    async def changed_tree(self, tree: str, entries: Sequence[tuple[bytes, bytes, bytes]]) -> str:
        """A tree with some entries replaced (mode, object, path); the mode `000000` takes one out."""
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
        """Turn the files of one tree into those of another; refused where they are not as in the first.

        What a sparse checkout left out stays out, because it is the same in both.
        """
        await self._git("read-tree", "-m", "-u", "--no-sparse-checkout", before, after)


class Looked(NamedTuple):
    """What a look at the work tree left out, and what git said about it."""

    nested: tuple[bytes, ...]
    """Repositories inside this one that are not its submodules."""
    warnings: tuple[str, ...]
    tree: str | None
    """What the index holds now, where that is known without writing it."""


async def differences(git: Git, before: str, after: str) -> list[Difference]:
    """Every path that differs between two trees, in git's order."""
    parts = split(await git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after))
    found = []
    for facts, path in zip(parts[::2], parts[1::2], strict=True):
        old_mode, new_mode, old, new, _ = facts.lstrip(b":").split(b" ")
        found.append(Difference(path, old_mode, new_mode, old, new))
    return found
