"""Places on this machine: the user's own directory, a worktree beside it, or a program's own workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
from msgspec import Struct, field

from untilgreen.core.values.state import RunState
from untilgreen.engine.store.artifacts import Watcher
from untilgreen.engine.store.notes import session_notes
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.objects import Objects
from untilgreen.engine.wiring.sandbox import enclosure
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.place import Place
from untilgreen.engine.worktree.result_commit import commit_result
from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Hold, Workspace
from untilgreen.process.tree_note import GRACE_SECONDS
from untilgreen.workspace.directory_lock import DirectoryLock
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git.head import History
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.git_workspace import GitWorkspace


def ignore(sentence: str) -> None:
    """Ignore it."""


class StartFacts(Struct, frozen=True, kw_only=True):
    """What was found out while starting a run, so that driving it in the same process does not ask again."""

    objects: Objects | None = None
    """Plugin objects that exist already."""
    repositories: Repositories = field(default_factory=Repositories)
    workspaces: dict[str, GitWorkspace] = field(default_factory=dict)
    """By run: places opened at the start and not used yet."""


class LocalPremises:
    """The place that a run's plan asks for: in place, or in a worktree on this machine."""

    def __init__(
        self,
        store: Store,
        known: StartFacts | None = None,
        *,
        warn: Callable[[str], None] = ignore,
        watchers: tuple[Watcher, ...] = (),
    ) -> None:
        """`warn` gets warnings about the workspace, `watchers` the activity of setup."""
        self._store = store
        self._known = known
        self._warn = warn
        self._watchers = watchers

    @asynccontextmanager
    async def enter(self, state: RunState, hold: Hold) -> AsyncIterator[Place]:
        """The directory, locked for this run alone."""
        scratch, plan = self._store.record(state.run).scratch, state.plan
        if workplace(plan).remote:
            raise WorkspaceNotReady(
                f"Run {state.run} belongs to a fleet, and only the fleet's workers drive it; this is a copy. "
                f"To continue from one of its laps: untilgreen fork {state.run} --fleet"
            )
        found = self._known or StartFacts()
        known = found.repositories
        top = await setup.top_of(plan, scratch, known)
        session_notes.check_free(top, self._store, besides=scratch.run)
        with DirectoryLock(top, run=scratch.run, state_dir=scratch.state_dir):
            await scratch.clear_up(GRACE_SECONDS)
            untouched = await setup.ensure(state, scratch, self._watchers, self._warn)
            workspace, begin = found.workspaces.pop(scratch.run, None), setup.root_of(plan, scratch)
            workspace = workspace or await open_workspace(begin, scratch.run, scratch.private, known)
            warn_once = _Once(self._warn)
            workspace.tell = warn_once
            workspace.max_file = workplace(plan).max_file
            if untouched:
                workspace.checked_out()
            await workspace.recover()
            repository = await known.find(begin) if workplace(plan).repository else None
            worktree = setup.worktree_of(plan, scratch)
            try:
                yield Place(
                    workspace=workspace,
                    scratch=scratch,
                    snapshots=workspace,
                    history=History(repository) if repository else None,
                    enclosure=await enclosure(plan, workspace.root, scratch.state_dir, worktree, known),
                    deliver=partial(commit_result, scratch, workspace, self._warn),
                )
            finally:
                await _settle(workspace, self._warn)
                for sentence in workspace.warnings():
                    warn_once(sentence)


class _Once:
    """Passes on each message once, however often it comes."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._said: set[str] = set()

    def __call__(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._warn(sentence)


class GivenWorkspace:
    """A workspace object passed by a program, which is responsible for who else uses it."""

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self._workspace = workspace
        self._store = store

    @asynccontextmanager
    async def enter(self, state: RunState, hold: Hold) -> AsyncIterator[Place]:
        """The workspace as it is."""
        scratch, root = self._store.record(state.run).scratch, self._workspace.root
        await scratch.clear_up(GRACE_SECONDS)
        sandbox = await enclosure(state.plan, root, scratch.state_dir)
        yield Place(workspace=self._workspace, scratch=scratch, enclosure=sandbox)


async def _settle(workspace: GitWorkspace, warn: Callable[[str], None]) -> None:
    with anyio.CancelScope(shield=True):
        try:
            await workspace.settle()
        except WorkspaceNotReady as error:  # only extra refs are missing; the snapshots are safe
            warn(str(error))
