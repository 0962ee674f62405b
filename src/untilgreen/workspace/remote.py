"""Snapshots over a git remote: a cache on each machine, and a workspace that pushes every snapshot.

A snapshot is pushed as a commit: git finds common objects only through commits, and a bare tree would send
the whole repository each time. All commits of a run are one chain under one ref, since a push lists all refs.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from anyio import to_thread
from msgspec.structs import replace

from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Restoration
from untilgreen.process.flock import lock
from untilgreen.workspace.git.command import LONGEST, Git, GitFailed
from untilgreen.workspace.git_workspace import DIFF, GitWorkspace, tree_id
from untilgreen.workspace.worktree import NOBODY

REFS = "refs/untilgreen"
_FETCHED = "refs/fleet"
"""Where a cache keeps what it fetched, apart from the refs that runs make here."""
_ATTEMPTS = 6
_STALE = "stale info"
"""What git says when a ref has moved since we looked."""
_SAME_DATE = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
"""The same tree on the same parent is the same commit, on every machine."""


@dataclass(frozen=True)
class Chain:
    """The snapshots of a run as a remote has them, newest first."""

    tip: str
    entries: tuple[tuple[str, str], ...]
    """Each tree, and what it is a snapshot of."""

    def left_by(self, turn: str) -> str | None:
        """The last tree that was pushed for an interrupted turn."""
        return next((tree for tree, what in self.entries if what == f"left {turn}"), None)


class RemoteFailed(GitFailed):
    """A remote failed several times in a row: which one, and git's own words."""

    def __init__(self, failure: GitFailed, url: str) -> None:
        self.command, self.words = failure.command, failure.words
        parts = urlsplit(url)
        shown = url.replace(f":{parts.password}@", "@", 1) if parts.password else url
        told = " ".join(failure.words.replace(url, shown)[:LONGEST].split()) or "nothing"
        WorkspaceNotReady.__init__(
            self,
            f"`git {failure.command}` can't use the remote {shown!r}; git says: {told} "
            "Check the address, and that this machine may read and write there.",
        )


class Remote:
    """One repository elsewhere and its cache here, shared by all runs of this machine."""

    def __init__(self, url: str, cache: Path) -> None:
        """The URL may come from another machine, so it must not pass for an option of git."""
        if url.startswith("-"):
            raise WorkspaceNotReady(f"{url!r} is not the address of a git remote. Check the run's plan.")
        self.url = url
        self.path = cache.absolute() / "git" / f"{blake2b(url.encode(), digest_size=8).hexdigest()}.git"

    @property
    def git(self) -> Git:
        """git in the cache."""
        return Git(place=self.path, variables={"GIT_DIR": str(self.path)})

    async def fetch(self, run: str, commit: str) -> Chain:
        """Fetch everything that the remote has about a run."""
        await self._ensure()
        await self._fetch(run)
        tip = (await self.git("rev-parse", f"{_FETCHED}/{run}")).decode().strip()
        listed = (await self.git("log", "--format=%T %s", f"{commit}..{tip}")).decode().splitlines()
        entries = [line.split(" ", 1) for line in listed]
        return Chain(tip, tuple((tree, what) for tree, what in entries))

    async def diff(self, run: str, before: str, after: str) -> str:
        """The difference between two snapshots of a run, fetched if they are not here yet."""
        await self._ensure()
        asked = (*DIFF, tree_id(before), tree_id(after))
        done = await self.git.attempt(*asked)
        if done.returncode:
            await self._fetch(run)
            done = await self.git.attempt(*asked)
        return self.git.checked(done).decode(errors="replace")

    async def fetch_branch(self, name: str) -> str | None:
        """The newest commit of a branch, or of the default branch for `HEAD`; None if there is none."""
        await self._ensure()
        ref = name if name == "HEAD" else f"refs/heads/{name}"
        listed = (await self._patiently("ls-remote", self.url, ref)).decode().split()
        if not listed:
            return None
        async with self._alone():
            await self._patiently(*_FETCH, self.url, f"+{listed[0]}:{_FETCHED}-branches/{listed[0]}")
        return listed[0]

    async def begin(self, run: str, source: Git, commit: str) -> None:
        """Push the commit that a run begins with, so that workers can fetch it."""
        await self._patiently(*_PUSH, self.url, f"{commit}:{REFS}/{run}", git=source)

    async def chain_on(self, tree: str, parent: str, what: str) -> str:
        """Make the next commit of a chain, in the cache."""
        return await chain_on(self.git, tree, parent, what)

    async def push(self, *arguments: str) -> None:
        """Push all or nothing, and retry if the connection fails."""
        options = [each for each in arguments if each.startswith("--")]
        refs = [each for each in arguments if not each.startswith("--")]
        await self._patiently(*_PUSH, *options, self.url, *refs)

    async def _fetch(self, run: str) -> None:
        async with self._alone():
            await self._patiently(*_FETCH, self.url, f"+{REFS}/{run}:{_FETCHED}/{run}")

    async def _ensure(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with self._alone():
            if not (self.path / "HEAD").exists():
                await self.git("init", "--quiet", "--bare", ".")

    async def _patiently(self, *arguments: str, git: Git | None = None) -> bytes:
        pause = 0.2
        for _ in range(_ATTEMPTS - 1):
            try:
                return await (git or self.git)(*arguments)
            except GitFailed as failure:
                if _STALE in failure.words:
                    raise
            await anyio.sleep(pause)
            pause *= 2
        try:
            return await (git or self.git)(*arguments)
        except GitFailed as failure:
            raise RemoteFailed(failure, self.url) from failure

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """One fetch at a time in a cache."""
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while not await to_thread.run_sync(lock, descriptor):  # noqa: ASYNC110 - another process holds it
                await anyio.sleep(0.02)
            yield
        finally:
            os.close(descriptor)


async def chain_on(git: Git, tree: str, parent: str, what: str) -> str:
    """A commit with fixed author and date: the same tree on the same parent is the same commit everywhere."""
    git = replace(git, variables={**git.variables, **NOBODY, **_SAME_DATE})
    return (await git("commit-tree", tree, "-p", parent, given=f"{what}\n".encode())).decode().strip()


_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
_PUSH = ("push", "--quiet", "--no-verify")


class RemoteWorkspace(GitWorkspace):
    """A work tree whose snapshots are all on the remote before anyone learns of them."""

    def __init__(
        self,
        start: Path,
        run: str,
        private_dir: Path,
        *,
        remote: Remote,
        chain: Chain,
        commit: str,
        check: Callable[[], Awaitable[None]],
    ) -> None:
        """`check` raises if another driver has the run."""
        super().__init__(start, run, private_dir)
        self._remote, self._commit, self._name, self._still_ours = remote, commit, run, check
        self._tip = chain.tip
        self._carried = {tree for tree, _ in chain.entries}
        self._left: tuple[str, str] | None = None
        self._one = anyio.Lock()

    async def snapshot(self, label: str) -> str:
        tree = await super().snapshot(label)
        await self._carry(tree, f"snapshot {label}")
        return tree

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        done = await super().restore(snapshot, known, spare)
        await self._carry(done.before, "before a restore")
        return done

    async def leave(self, lap: int, attempt: int) -> None:
        """Push what a turn has done so far, in case a driver continues it elsewhere; no event mentions it."""
        tree, turn = await super().snapshot("left"), f"{lap}-{attempt}"
        if (turn, tree) != self._left:
            await self._push(tree, f"left {turn}")
            self._left = (turn, tree)

    async def _carry(self, tree: str, what: str) -> None:
        if tree not in self._carried:
            await self._push(tree, what)

    async def _push(self, tree: str, what: str) -> None:
        """If another driver pushed first, check that we still have the run, and continue after its commit."""
        async with self._one:
            ref = f"{REFS}/{self._name}"
            while True:
                commit = await self._remote.chain_on(tree, self._tip, what)
                try:
                    await self._remote.push(f"--force-with-lease={ref}:{self._tip}", f"{commit}:{ref}")
                except GitFailed as failure:
                    if _STALE not in failure.words:
                        raise
                    await self._still_ours()
                    self._tip = (await self._remote.fetch(self._name, self._commit)).tip
                    if self._tip != commit:  # else our push succeeded, and the answer got lost
                        continue
                break
            self._tip = commit
            self._carried.add(tree)
