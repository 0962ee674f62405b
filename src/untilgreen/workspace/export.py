"""Kept trees written elsewhere, for whoever wants to try something without touching the workspace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from untilgreen.core.model import Change
from untilgreen.workspace.git import GitWorkspace
from untilgreen.workspace.index import ABSENT, Difference, Index, differences
from untilgreen.workspace.plumbing import shown, split
from untilgreen.workspace.seed import submodules

FIRST = "1-base"
"""The label under which the engine keeps what the first turn begins with."""


class Exporter:
    """Reads a workspace's trees, and writes them into other directories."""

    def __init__(self, workspace: GitWorkspace) -> None:
        self._workspace = workspace

    async def top(self) -> Path:
        """The directory that the paths of a tree are seen from."""
        return (await self._workspace._ready()).ground.top

    async def first(self) -> str:
        """The tree that the first turn began with, where no baseline was taken."""
        trees = await (await self._workspace._ready()).refs.trees()
        return next((tree for ref, tree in trees.items() if ref.endswith(f"/{FIRST}")), "")

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ."""
        return await self._workspace.changes(before, after)

    async def files(self, snapshot: str) -> list[str]:
        """Every path in a tree."""
        shadow = await self._workspace._ready()
        return [
            shown(path) for path in split(await shadow.git("ls-tree", "-r", "-z", "--name-only", snapshot))
        ]

    async def content(self, snapshot: str, path: str) -> bytes | None:
        """What a tree has under a path; None where it has no file there."""
        shadow = await self._workspace._ready()
        found = await shadow.git.attempt("cat-file", "blob", f"{snapshot}:{path}")
        return None if found.returncode else found.stdout

    async def unkept(self) -> list[str]:
        """What is there and in no snapshot: ignored files, other repositories; directories end in a slash."""
        shadow = await self._workspace._ready()
        async with shadow.alone() as git:
            asked = ("ls-files", "-z", "--others", "--directory", "--exclude-standard")
            ignored = split(await git(*asked, "--ignored"))
            others = split(await git("ls-files", "-z", "--others", "--exclude-standard"))
            inside = [path + b"/" for path in await submodules(git)]
        nested = [path for path in others if path.endswith(b"/")]
        return [shown(path) for path in (*ignored, *nested, *inside)]

    async def export(
        self, snapshot: str, into: Path, *, originals: str = "", paths: Collection[str] = ()
    ) -> None:
        """Write a tree into an empty directory, with some paths as another tree has them, or has not."""
        shadow = await self._workspace._ready()
        tree = snapshot
        async with shadow.alone() as git:
            if paths:
                found = await differences(git, originals, snapshot)
                paths = {*paths, *_in_the_way(found, paths)}
                entries = [
                    (each.old_mode, each.old, each.path) for each in found if shown(each.path) in paths
                ]
                # What leaves goes first: a file may lie where a directory was.
                entries.sort(key=lambda entry: entry[0] != ABSENT)
                tree = await Index(git, shadow.index).changed_tree(snapshot, entries)
            index = into.with_name(f"{into.name}.index")
            variables = {**git.variables, "GIT_WORK_TREE": str(into), "GIT_INDEX_FILE": str(index)}
            there = replace(git, place=into, variables=variables)
            await there("read-tree", "-m", "-u", tree)
            index.unlink(missing_ok=True)


def _in_the_way(found: Sequence[Difference], paths: Collection[str]) -> set[str]:
    """New files that lie where an original had a directory, or below where it had a file."""
    back = {shown(each.path) for each in found if not each.added} & set(paths)
    above = {"/".join(path.split("/")[:depth]) for path in back for depth in range(1, path.count("/") + 1)}
    new = [shown(each.path) for each in found if each.added]
    return {path for path in new if path in above or any(path.startswith(f"{each}/") for each in back)}
