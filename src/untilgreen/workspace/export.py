"""Writes snapshots into other directories, to try something without touching the workspace."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from untilgreen.core.values.model import Change
from untilgreen.workspace.file_stamps import Stamp, listing
from untilgreen.workspace.git.command import Git, path_as_text, split
from untilgreen.workspace.git.index_seed import submodules
from untilgreen.workspace.git.object_check import (
    LINK,
    check_all,
    check_files,
    check_trees,
    check_written,
    content_of,
)
from untilgreen.workspace.git.private_index import Index
from untilgreen.workspace.git.private_repository import PrivateRepository
from untilgreen.workspace.git.tree_diff import ABSENT, Difference, differences
from untilgreen.workspace.git_workspace import RULES, GitWorkspace

FIRST = "1-base"
"""The label of the snapshot that the first turn starts from."""


class Exporter:
    """Reads a workspace's snapshots, and writes them into other directories."""

    def __init__(self, workspace: GitWorkspace) -> None:
        self._workspace = workspace
        self._unkept: tuple[_Seen, list[str]] | None = None
        """The files at the last call of `unkept`, and what it found."""

    async def top(self) -> Path:
        """The directory that paths in a snapshot are relative to."""
        return (await self._workspace._ready()).repository.top

    async def first(self) -> str:
        """The snapshot that the first turn started from; empty if there is none."""
        trees = await (await self._workspace._ready()).refs.trees()
        return next((tree for ref, tree in trees.items() if ref.endswith(f"/{FIRST}")), "")

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ; raises if `before` or a directory in it does not match its name."""
        await check_trees((await self._workspace._ready()).git, before)
        return await self._workspace.changes(before, after)

    async def files(self, snapshot: str) -> dict[str, bool]:
        """Every path in a snapshot, and whether it is a link."""
        private = await self._workspace._ready()
        listed = split(await private.git("ls-tree", "-r", "-z", snapshot))
        return {path_as_text(each.partition(b"\t")[2]): each.startswith(LINK) for each in listed}

    async def content(self, snapshot: str, path: str) -> bytes | None:
        """The content of a file in a snapshot; None if there is no file at that path."""
        private = await self._workspace._ready()
        return await content_of(private.git, snapshot, path)

    async def lines(self, snapshot: str, pattern: str, files: str) -> dict[str, list[str]]:
        """The lines in a snapshot that match an extended regular expression, by file."""
        private = await self._workspace._ready()
        await check_files(private.git, snapshot, files)
        said = await private.git.attempt("grep", "-z", "-I", "-E", "-e", pattern, snapshot, "--", files)
        found: dict[str, list[str]] = {}
        for line in said.stdout.splitlines():
            path, _, text = line.removeprefix(f"{snapshot}:".encode()).partition(b"\0")
            found.setdefault(path_as_text(path), []).append(text.decode(errors="replace"))
        return found

    async def unkept(self) -> list[str]:
        """What is on disk but in no snapshot: ignored files, nested repositories, files that are too large.

        Directories end in "/".
        """
        private = await self._workspace._ready()
        now = _seen(private, self._workspace.max_file)
        if now is not None and self._unkept is not None and self._unkept[0] == now:
            return list(self._unkept[1])
        async with private.alone() as git:
            asked = ("ls-files", "-z", "--others", "--directory", "--exclude-standard")
            ignored = split(await git(*asked, "--ignored"))
            known = now is not None and self._workspace.accounts_for(now.files)
            others = [] if known else split(await git("ls-files", "-z", "--others", "--exclude-standard"))
            inside = [path + b"/" for path in await submodules(git, private.index)]
        nested = [path for path in others if path.endswith(b"/")]
        if limit := self._workspace.max_file:
            top = private.repository.top
            nested += [path for path in others if _size(top / os.fsdecode(path)) > limit]
        found = [path_as_text(path) for path in (*ignored, *nested, *inside)]
        self._unkept = None if now is None else (now, found)
        return list(found)

    async def export(
        self, snapshot: str, into: Path, *, originals: str = "", paths: Collection[str] = ()
    ) -> None:
        """Write a snapshot into an empty directory, with some paths as they are in `originals`."""
        private = await self._workspace._ready()
        async with private.alone() as git:
            tree = await _with_originals(git, private.index, snapshot, originals, paths)
            index = into.with_name(f"{into.name}.index")
            variables = {**git.variables, "GIT_WORK_TREE": str(into), "GIT_INDEX_FILE": str(index)}
            there = replace(git, place=into, variables=variables)
            await there("read-tree", "-m", "-u", tree)
            index.unlink(missing_ok=True)
            await check_written(git, tree, into)

    @asynccontextmanager
    async def in_place(
        self,
        snapshot: str,
        *,
        originals: str = "",
        paths: Collection[str] = (),
        parts: Mapping[str, bytes],
        aside: Collection[str],
    ) -> AsyncIterator[None]:
        """Like `export`, but in the workspace itself; its own files are put back at the end of the block."""
        private = await self._workspace._ready()
        async with private.alone() as git:
            tree = await _with_originals(git, private.index, snapshot, originals, paths)
            await check_all(git, tree)
        async with self._workspace.holding(tree, parts=parts, aside=aside):
            yield


class _Seen(NamedTuple):
    """Everything that determines which files no snapshot contains."""

    files: dict[bytes, Stamp]
    mark: tuple[int, ...]
    max_file: int


def _seen(private: PrivateRepository, max_file: int) -> _Seen | None:
    """None if there are too many files, or if an ignore file is so new that its next change may not show."""
    now = listing(os.fsencode(private.repository.top))
    if now is None or any(path.rpartition(b"/")[2].lower() in RULES for path in now.fresh):
        return None
    return _Seen(now.found, Index(private.git, private.index).mark(), max_file)


def _size(path: Path) -> int:
    """The size of a file; 0 for a directory or a missing file."""
    try:
        found = path.lstat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


async def _with_originals(
    git: Git, index: Path, snapshot: str, originals: str, paths: Collection[str]
) -> str:
    """The tree of a snapshot with some paths as they are in `originals`."""
    if not paths:
        return snapshot
    found = await differences(git, originals, snapshot)
    paths = {*paths, *_in_the_way(found, paths)}
    entries = [(each.old_mode, each.old, each.path) for each in found if path_as_text(each.path) in paths]
    # Removals first: a file may be where a directory was.
    entries.sort(key=lambda entry: entry[0] != ABSENT)
    return await Index(git, index).changed_tree(snapshot, entries)


def _in_the_way(found: Sequence[Difference], paths: Collection[str]) -> set[str]:
    """New files where an original had a directory, or below a path where it had a file."""
    back = {path_as_text(each.path) for each in found if not each.added} & set(paths)
    above = {"/".join(path.split("/")[:depth]) for path in back for depth in range(1, path.count("/") + 1)}
    new = [path_as_text(each.path) for each in found if each.added]
    return {path for path in new if path in above or any(path.startswith(f"{each}/") for each in back)}
