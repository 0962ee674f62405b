"""Snapshots of a git work tree: made and brought back beside everything that git itself knows."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from untilgreen.core.model import Change
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.ports import Restoration
from untilgreen.workspace.collecting import Watch, check_whole
from untilgreen.workspace.ground import Ground, find_ground
from untilgreen.workspace.index import Difference, Index, differences
from untilgreen.workspace.plumbing import Git, GitFailed, shown
from untilgreen.workspace.restoring import Intent, Intents, Restoring
from untilgreen.workspace.seed import seed, submodules
from untilgreen.workspace.shadow import Shadow
from untilgreen.workspace.still import View, view

DIFF = (
    *("diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0"),
)
RACES = ("not uptodate", "would be overwritten", "would lose untracked")
"""What git says, before it touches anything, when somebody wrote a file since it was looked at."""
GONE = (
    *("nonexistent object", "invalid object", "unable to read", "missing", "bad object", "unable to write"),
    "unable to create temporary file: No such file or directory",
)
"""What git says of objects, and folders of theirs, that were there a moment ago."""
DAMAGE = ("index file smaller", "index file corrupt", "bad signature", "bad index", "index file open failed")
"""What git says of an index that a power cut left; ours can be made again."""
ATTEMPTS = 3
ATTEMPTS_BESIDE_A_GC = 20
_TREE = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class GitWorkspace:
    """The work tree around a directory, and its trees under `refs/untilgreen/<run>/`.

    A snapshot covers the whole work tree, also when the run was started in a part of it.
    The user's index, HEAD, branches, stash and configuration are never written, and no hook runs.
    Files keep their bytes, whatever is configured about line ends.

    Neither kept nor restored: ignored files; empty directories; what is inside a submodule (its commit is
    kept, and a restore leaves it alone); what is inside another repository in this one. `warnings` tells.
    """

    def __init__(self, start: Path, run: str, private_dir: Path) -> None:
        self.root = start.resolve()
        self._run = run
        self._private = private_dir.resolve()
        self._intents = Intents(self._private)
        self._shadow: Shadow | None = None
        self._tree: tuple[tuple[int, ...], str] | None = None
        """The tree that was written last, and the mark of the index then."""
        self._still: tuple[View, tuple[int, ...]] | None = None
        """What was on disk before git looked last, and the mark of the index behind it."""
        self._whole: str | None = None
        """The last tree that has a name and was found complete."""
        self._warnings: dict[str, None] = {}

    def warnings(self) -> list[str]:
        """What a person should know about this workspace, as far as it has been looked at."""
        return list(self._warnings)

    async def prepare(self) -> None:
        """Find out what stands in the way before work begins."""
        shadow = await self._ready()
        async with shadow.alone() as git:
            await seed(shadow, git)
            if inside := await submodules(git):
                self._warn(
                    f"Changes inside submodules are neither kept nor restored: {_listed(inside)}. "
                    "Start a run inside one to work on it."
                )

    async def snapshot(self, label: str) -> str:
        shadow = await self._ready()
        async with shadow.alone() as git:
            tree = await self._kept(shadow, git, label)
            self._intents.clear()
            return tree

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        shadow = await self._ready()
        return [_change(found) for found in await differences(shadow.git, _tree(before), _tree(after))]

    async def diff(self, before: str, after: str) -> str:
        return (await self.patch(before, after)).decode(errors="replace")

    async def patch(self, before: str, after: str) -> bytes:
        """The same byte by byte, so that it can be applied whatever the files are written in."""
        shadow = await self._ready()
        return await shadow.git(*DIFF, _tree(before), _tree(after))

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        shadow = await self._ready()
        target, seen = _tree(snapshot), _tree(known) if known else None
        async with shadow.alone() as git:
            cut_off = self._intents.read()
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return await self._restore(shadow, git, target, seen, cut_off=cut_off, spare=spare)
                except GitFailed as failure:
                    if not any(sign in failure.words for sign in RACES):
                        raise
                    self._intents.put_back(cut_off)
                    if attempt == ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    async def kept(self) -> list[str]:
        """Every snapshot that the run still keeps."""
        return sorted(set((await (await self._ready()).refs.trees()).values()))

    async def settle(self) -> None:
        """Give every snapshot its own name, also those that were safe under another's."""
        if self._shadow is not None:
            await self._shadow.refs.settle()

    async def forget(self) -> None:
        """Give up every snapshot of the run."""
        await (await self._ready()).refs.forget()

    async def _kept(self, shadow: Shadow, git: Git, label: str) -> str:
        """The tree of what is on disk, under a name, with all that is in it: a gc may have taken some."""
        for attempt in range(1, ATTEMPTS_BESIDE_A_GC + 1):
            watch = Watch(shadow.ground.common, shadow.ground.top)
            try:
                tree = await self._look(shadow, git)
                await shadow.refs.keep(tree, label)
                await self._check(shadow, git, tree, watch)
                return tree
            except GitFailed as failure:
                if attempt == ATTEMPTS_BESIDE_A_GC or not any(sign in failure.words for sign in GONE):
                    raise
                shadow.index.unlink(missing_ok=True)
                self._tree = self._still = self._whole = None
        raise AssertionError("the last attempt returns or raises")

    async def _check(self, shadow: Shadow, git: Git, tree: str, watch: Watch) -> None:
        """See that a tree that has got its name is complete; one that was is, unless a gc came by."""
        if tree == self._whole and not watch.changed:
            return
        before = None if await watch.saw_one() else self._whole or await _committed(shadow.users)
        await watch.no_prune()
        await check_whole(git, shadow.ground.objects, tree, before)
        self._whole = tree

    async def _restore(
        self,
        shadow: Shadow,
        git: Git,
        snapshot: str,
        known: str | None,
        *,
        cut_off: Intent | None,
        spare: Collection[str],
    ) -> Restoration:
        restoring, watch = (
            Restoring(git, Index(git, shadow.index), self._intents),
            Watch(shadow.ground.common, shadow.ground.top),
        )
        seen = await self._look(shadow, git)
        theirs = await restoring.theirs(seen, known, cut_off)
        before, blocked = await restoring.free_the_way(seen, snapshot)
        await shadow.refs.keep(before, "before-restore")
        await self._check(shadow, git, before, watch)
        way_back = cut_off.before if cut_off and cut_off.snapshot == snapshot else before
        kept = await restoring.apply(before, snapshot, theirs | blocked, way_back, spare)
        self.root.mkdir(parents=True, exist_ok=True)
        return Restoration(before=way_back, kept=tuple(map(shown, kept)))

    async def _look(self, shadow: Shadow, git: Git) -> str:
        """The tree of what is on disk; where nothing moved, that is known without writing it."""
        index, seen = Index(git, shadow.index), view(os.fsencode(shadow.ground.top))
        if seen is not None and self._tree is not None and self._still == (seen, index.mark()):
            return self._tree[1]
        await seed(shadow, git)
        known = self._tree[1] if self._tree and self._tree[0] == index.mark() else None
        try:
            looked = await index.update(known)
        except GitFailed as failure:
            if not any(sign in failure.words for sign in DAMAGE):
                raise
            shadow.index.unlink()
            await seed(shadow, git)
            looked = await index.update()
        self._note(looked.nested, looked.warnings)
        if self._tree is None or self._tree[0] != index.mark():
            tree = looked.tree or await index.tree()
            self._tree = (index.mark(), tree)
        self._still = (seen, index.mark()) if seen is not None else None
        return self._tree[1]

    async def _ready(self) -> Shadow:
        if self._shadow is None:
            ground = await self._ground()
            if _inside(self._private, ground.top):
                raise WorkspaceNotReady(
                    f"The state directory lies inside the workspace {str(ground.top)!r}, "
                    "so that a restore would undo the run's own record. Choose another with `--state-dir`."
                )
            self._private.mkdir(parents=True, exist_ok=True, mode=0o700)
            shadow = Shadow(ground, self._run, self._private)
            shadow.lay_out()
            self._shadow = shadow
        return self._shadow

    async def _ground(self) -> Ground:
        ground = await find_ground(self.root)
        if ground is None:
            raise WorkspaceNotReady(
                f"{str(self.root)!r} is not in a git repository, or ignored by it. Run `git init` there, "
                "or start in a directory that git knows."
            )
        return ground

    def _note(self, nested: Sequence[bytes], words: Sequence[str]) -> None:
        if nested:
            self._warn(
                f"Repositories inside this one are left alone: {_listed(nested)}. "
                "Add them as submodules, or to .gitignore."
            )
        for word in words:
            self._warn(f"git says: {word}")

    def _warn(self, sentence: str) -> None:
        self._warnings[sentence] = None


async def _committed(git: Git) -> str | None:
    """The tree of HEAD, which is complete; None before the first commit."""
    told = await git.attempt("rev-parse", "--quiet", "--verify", "HEAD^{tree}")
    return told.stdout.decode().strip() or None if told.returncode == 0 else None


def _change(found: Difference) -> Change:
    path = shown(found.path)
    if found.added:
        return Change(path=path, status="added")
    return Change(path=path, status="deleted" if found.deleted else "modified")


def _tree(snapshot: str) -> str:
    if not _TREE.fullmatch(snapshot):
        raise UserError(f"{snapshot!r} is no snapshot. Name one that `untilgreen show` lists.")
    return snapshot


def _inside(path: Path, top: Path) -> bool:
    return path.is_relative_to(top) and path.relative_to(top).parts[:1] != (".git",)


def _listed(paths: Sequence[bytes], most: int = 5) -> str:
    names = ", ".join(shown(path) for path in paths[:most])
    return names if len(paths) <= most else f"{names} and {len(paths) - most} more"
