"""Snapshots of a git work tree, taken and restored without touching index, HEAD or branches."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread

from untilgreen.core.values.model import Change
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.ports import Restoration
from untilgreen.regex import regex
from untilgreen.workspace.file_stamps import Listing, Stamp, listing
from untilgreen.workspace.folder_stamps import Folders, folders
from untilgreen.workspace.git.command import Git, GitFailed, path_as_text
from untilgreen.workspace.git.gc_guard import GcWatch, check_whole, tell_nobody
from untilgreen.workspace.git.head import History
from untilgreen.workspace.git.index_seed import adopt, refresh, seed, submodules
from untilgreen.workspace.git.private_index import Index, Looked
from untilgreen.workspace.git.private_repository import PrivateRepository
from untilgreen.workspace.git.repository import Repository, find_repository
from untilgreen.workspace.git.settings import Setting
from untilgreen.workspace.git.tree_diff import Difference, differences
from untilgreen.workspace.git.tree_patch import NotPatchable
from untilgreen.workspace.in_place import InPlace
from untilgreen.workspace.restore import Intent, Intents, Restoring

DIFF = (
    *("diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0"),
)
RACES = ("not uptodate", "would be overwritten", "would lose untracked")
"""What git says, before it touches anything, if a file was written since git last checked it."""
GONE = (
    *("nonexistent object", "invalid object", "unable to read", "missing", "bad object", "unable to write"),
    "unable to create temporary file: No such file or directory",
)
"""What git says about objects, or their folders, that existed a moment ago."""
DAMAGE = ("index file smaller", "index file corrupt", "bad signature", "bad index", "index file open failed")
"""What git says about an index damaged by a power cut; ours can be rebuilt."""
RULES = (b".gitignore", b".gitattributes")
"""Files that decide how git treats others; compared in lower case, since some disks ignore case."""
ATTEMPTS = 3
REMEMBERED, MOST_REMEMBERED = 32, 10_000
"""How many differences between trees are remembered, and the most paths that one may have."""
ATTEMPTS_BESIDE_A_GC = 20
_TREE = regex(r"[0-9a-f]{40}([0-9a-f]{24})?")


class GitWorkspace:
    """The work tree around a directory, and its snapshots under `refs/untilgreen/<run>/`.

    A snapshot covers the whole work tree, even when the run was started in a part of it.
    The user's index, HEAD, branches, stash and configuration are never written, and no hook runs.
    Files keep their bytes, whatever line endings are configured.

    Neither kept nor restored: ignored files; empty directories; the content of submodules (their commit is
    kept, and a restore leaves them alone); the content of nested repositories. `warnings` lists those.
    """

    def __init__(
        self,
        start: Path,
        run: str,
        private_dir: Path,
        repository: Repository | None = None,
        settings: Sequence[Setting] | None = None,
    ) -> None:
        """`repository` is the one around `start`, and `settings` what it tells git, if known already."""
        self.root = start.resolve()
        self._run = run
        self._known = repository
        self._settings = settings
        self._private = private_dir.resolve()
        self._intents = Intents(self._private)
        self._in_place = InPlace(self._private)
        self._private_repository: PrivateRepository | None = None
        self._tree: tuple[tuple[int, ...], str] | None = None
        """The mark of the index, and its tree at that time."""
        self._seen: tuple[Listing, str] | None = None
        """The files just before git last read them, all of them kept or ignored, and the tree it found."""
        self._names: tuple[Folders, tuple[int, ...]] | None = None
        """The directories just before the last update, which added every new name, and the index's mark."""
        self._whole: str | None = None
        """The last tree that has a ref and was found complete."""
        self._differences: dict[tuple[str, str], Sequence[Difference]] = {}
        """Between pairs of trees, which never change; several are asked for more than once in a lap."""
        self._untouched = self._unread = False
        """Whether only git has written the files so far; whether its index was adopted without a check."""
        self._warnings: dict[str, None] = {}
        self.tell: Callable[[str], None] = tell_nobody
        """Called while something is waited for, and when a huge file enters git."""
        self.max_file = 0
        """Bytes above which a new file is left out of snapshots; 0 leaves none out."""

    def warnings(self) -> list[str]:
        """What a person should know about this workspace, as far as it has been inspected."""
        return list(self._warnings)

    def checked_out(self) -> None:
        """Note that git has just written the work tree, and that nothing else was there or has run since.

        The first snapshot then trusts git's index and reads no file; later ones check as usual.
        """
        self._untouched = True

    async def prepare(self) -> None:
        """Find problems before work begins."""
        private = await self._ready()
        async with private.alone() as git:
            known = private.index.exists() or not private.repository.index.exists()
            index = private.index if known else private.repository.index
            if inside := await submodules(git if known else private.users, index):
                self._warn(
                    f"Changes in submodules are neither kept nor restored: {_listed(inside)}. "
                    "To work on one, start a run in it."
                )

    async def snapshot(self, label: str) -> str:
        await self.recover()
        private = await self._ready()
        async with private.alone() as git:
            tree = await self._kept(private, git, label)
            self._intents.clear()
            return tree

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        private = await self._ready()
        pair = (tree_id(before), tree_id(after))
        found = self._differences.get(pair)
        if found is None:
            found = await differences(private.git, *pair)
            self._remember(*pair, found)
        return [_change(each) for each in found]

    async def diff(self, before: str, after: str) -> str:
        return (await self.patch(before, after)).decode(errors="replace")

    async def patch(self, before: str, after: str) -> bytes:
        """Like `diff`, but as bytes, so that it can be applied whatever the encoding."""
        private = await self._ready()
        return await private.git(*DIFF, tree_id(before), tree_id(after))

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        await self.recover()
        private = await self._ready()
        target, seen = tree_id(snapshot), tree_id(known) if known else None
        async with private.alone() as git:
            cut_off = self._intents.read()
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return await self._restore(private, git, target, seen, cut_off=cut_off, spare=spare)
                except GitFailed as failure:
                    if not any(sign in failure.words for sign in RACES):
                        raise
                    self._intents.put_back(cut_off)
                    if attempt == ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def holding(
        self, tree: str, *, parts: Mapping[str, bytes], aside: Collection[str]
    ) -> AsyncIterator[None]:
        """Temporarily swap other files into the work tree; its own are put back, even after a crash."""
        await self.recover()
        top = (await self._ready()).repository.top
        async with self._in_place.hold(self, top, tree, parts=parts, aside=aside):
            yield

    async def recover(self) -> None:
        """Put back the work tree's own files if a driver died while others were in their place."""
        await self._in_place.recover(self)

    async def kept(self) -> list[str]:
        """Every snapshot the run still has."""
        return sorted(set((await (await self._ready()).refs.trees()).values()))

    async def settle(self) -> None:
        """Write the refs of all snapshots, including those whose tree was already kept by another ref."""
        if self._private_repository is not None:
            await self._private_repository.refs.settle()

    async def forget(self) -> None:
        """Delete every snapshot of the run."""
        await (await self._ready()).refs.forget()

    async def _kept(self, private: PrivateRepository, git: Git, label: str) -> str:
        """The tree of what is on disk, kept by a ref and checked to be complete, as a gc may be running."""
        for attempt in range(1, ATTEMPTS_BESIDE_A_GC + 1):
            watch = GcWatch(private.repository.common, private.repository.top, self.tell)
            try:
                tree = await self._look(private, git)
                await private.refs.keep(tree, label)
                await self._check(private, git, tree, watch)
                return tree
            except GitFailed as failure:
                if attempt == ATTEMPTS_BESIDE_A_GC or not any(sign in failure.words for sign in GONE):
                    raise
                private.index.unlink(missing_ok=True)
                self._tree = self._seen = self._whole = None
        raise AssertionError("the last attempt returns or raises")

    async def _check(self, private: PrivateRepository, git: Git, tree: str, watch: GcWatch) -> None:
        """Check that a tree with a ref is complete; one that was complete still is, unless a gc ran."""
        if tree == self._whole and not watch.changed:
            return
        before = None if await watch.wait_for_gc() else self._whole or await _committed(private)
        await watch.wait_for_prunes()
        known = private.patcher.differences(before, tree) if before and private.patcher else None
        found = await check_whole(git, private.objects, tree, before, known)
        if before is not None and found is not None:
            self._remember(before, tree, found)
        self._whole = tree

    def _remember(self, before: str, after: str, found: Sequence[Difference]) -> None:
        """Keep only the latest, and only small ones: a run may take thousands of laps."""
        if len(found) > MOST_REMEMBERED:
            return
        if len(self._differences) >= REMEMBERED:
            del self._differences[next(iter(self._differences))]
        self._differences[before, after] = found

    async def _restore(
        self,
        private: PrivateRepository,
        git: Git,
        snapshot: str,
        known: str | None,
        *,
        cut_off: Intent | None,
        spare: Collection[str],
    ) -> Restoration:
        restoring, watch = (
            Restoring(git, Index(git, private.index), self._intents),
            GcWatch(private.repository.common, private.repository.top, self.tell),
        )
        seen = await self._look(private, git, in_index=True)
        theirs = await restoring.theirs(seen, known, cut_off)
        before, blocked = await restoring.free_the_way(seen, snapshot)
        await private.refs.keep(before, "before-restore")
        await self._check(private, git, before, watch)
        way_back = cut_off.before if cut_off and cut_off.snapshot == snapshot else before
        kept = await restoring.apply(before, snapshot, theirs | blocked, way_back, spare)
        self.root.mkdir(parents=True, exist_ok=True)
        return Restoration(before=way_back, kept=tuple(map(path_as_text, kept)))

    async def _look(self, private: PrivateRepository, git: Git, *, in_index: bool = False) -> str:
        """The tree of what is on disk; with `in_index` the private index holds it afterwards."""
        now = listing(os.fsencode(private.repository.top)) if private.patcher else None
        if not in_index and (tree := await self._patched(private, git, now)) is not None:
            return tree
        patches = not in_index and not self.max_file  # the limit is for files new to the index
        index = Index(git, private.index, self.max_file, private.patcher if patches else None)
        if self._untouched:
            self._untouched = False
            self._unread = await adopt(private, git)
            if self._unread:
                self._tree = (index.mark(), await index.tree())
                return self._tree[1]
        unchanged = await seed(private, git) or (self._unread and await refresh(git))
        self._unread = False
        known = self._tree[1] if self._tree and self._tree[0] == index.mark() else None
        places = await self._folders(private) if now is None and index.large() else None
        before, mark = self._names or (None, None)  # the index has every name that was there then
        same_names = places is not None and places.same_as(before) and mark == index.mark()
        try:
            looked = await index.update(known, unchanged=unchanged, same_names=same_names)
        except GitFailed as failure:
            if not any(sign in failure.words for sign in DAMAGE):
                raise
            private.index.unlink()
            await seed(private, git)
            looked = await index.update()
        self._note(looked.nested, looked.warnings)
        self._note_large(looked)
        tree = looked.tree or await index.tree()
        if self._tree is None or self._tree[0] != index.mark():
            self._tree = (index.mark(), tree)
        odd = looked.nested or looked.warnings or looked.left_out
        self._names = (places, index.mark()) if places is not None and not odd else None
        self._seen = (now, tree) if now is not None and not odd and self._stands_still(private, now) else None
        return tree

    def accounts_for(self, files: Mapping[bytes, Stamp]) -> bool:
        """Whether these are the files that git last read, and found each of them kept or ignored."""
        return self._seen is not None and self._seen[0].found == files

    async def _folders(self, private: PrivateRepository) -> Folders | None:
        if private.patcher is None:
            return None
        before = self._names[0] if self._names else None
        return await to_thread.run_sync(folders, os.fsencode(private.repository.top), before)

    def _stands_still(self, private: PrivateRepository, before: Listing) -> bool:
        """Whether no file was added, removed or changed meanwhile: then any that git left out are ignored."""
        after = listing(os.fsencode(private.repository.top))
        return after is not None and after.found == before.found

    async def _patched(self, private: PrivateRepository, git: Git, now: Listing | None) -> str | None:
        """The tree of what is on disk, derived from the last one; None if git has to read the files."""
        if now is None or self._seen is None or private.patcher is None:
            return None
        before, tree = self._seen
        moved = now.changed_since(before)
        if moved is None or any(path.rpartition(b"/")[2].lower() in RULES for path in moved):
            return None
        try:
            tree = await private.patcher.patched(git, tree, moved, new="skip")
        except (NotPatchable, GitFailed):
            return None
        self._seen = (now, tree)
        return tree

    async def _ready(self) -> PrivateRepository:
        if self._private_repository is None:
            repository = await self._repository()
            if _inside(self._private, repository.top):
                raise WorkspaceNotReady(
                    f"The state directory is inside the workspace {str(repository.top)!r}, "
                    "so a restore would undo the run's own record. Choose another with `--state-dir`."
                )
            self._private.mkdir(parents=True, exist_ok=True, mode=0o700)
            private = PrivateRepository(repository, self._run, self._private)
            if refused := await private.lay_out(self._settings):
                self._warn(
                    f"Filters that this repository configures itself are not run: {', '.join(refused)}. "
                    "Set them in your own ~/.gitconfig if you want them."
                )
            self._private_repository = private
        return self._private_repository

    async def _repository(self) -> Repository:
        repository = self._known or await find_repository(self.root)
        if repository is None:
            raise WorkspaceNotReady(
                f"{str(self.root)!r} is not in a git repository, or is ignored by it. Run `git init` there, "
                "or start in a directory that git tracks."
            )
        return repository

    def _note(self, nested: Sequence[bytes], words: Sequence[str]) -> None:
        if nested:
            self._warn(
                f"Nested repositories are not part of snapshots: {_listed(nested)}. "
                "Add them as submodules, or to .gitignore."
            )
        for word in words:
            self._warn(f"git says: {word}")

    def _note_large(self, looked: Looked) -> None:
        for path, size in looked.large:
            what = f"{path_as_text(path)} ({size / 1_000_000:,.0f} MB)"
            sentence = (
                f"{what} is above workspace.max_file: snapshots leave it out, and a restore leaves it alone."
                if looked.left_out
                else f"{what} is stored in git again for each lap that changes it. "
                'Ignore it, or leave such files out with workspace.max_file = "100M".'
            )
            if sentence not in self._warnings:  # now, while somebody can still stop it
                self.tell(sentence)
            self._warn(sentence)

    def _warn(self, sentence: str) -> None:
        self._warnings[sentence] = None


async def _committed(private: PrivateRepository) -> str | None:
    """The tree of HEAD, which is complete; None before the first commit."""
    history = History(private.repository)
    if found := await to_thread.run_sync(history.loose_tree, private.objects):
        return found
    told = await private.users.attempt("rev-parse", "--quiet", "--verify", "HEAD^{tree}")
    return told.stdout.decode().strip() or None if told.returncode == 0 else None


def _change(found: Difference) -> Change:
    path = path_as_text(found.path)
    if found.added:
        return Change(path=path, status="added")
    return Change(path=path, status="deleted" if found.deleted else "modified")


def tree_id(snapshot: str) -> str:
    """The id of a snapshot, which is that of a tree; anything else could be an option of git."""
    if not _TREE.fullmatch(snapshot):
        raise UserError(f"{snapshot!r} is not a snapshot. Use one that `untilgreen show` lists.")
    return snapshot


def _inside(path: Path, top: Path) -> bool:
    return path.is_relative_to(top) and path.relative_to(top).parts[:1] != (".git",)


def _listed(paths: Sequence[bytes], most: int = 5) -> str:
    names = ", ".join(path_as_text(path) for path in paths[:most])
    return names if len(paths) <= most else f"{names} and {len(paths) - most} more"
