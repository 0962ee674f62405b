"""Where a run of a fleet works on this machine: a worktree of a clone, made ready for each drive."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from msgspec.structs import replace

from untilgreen.core.loop.step import Conclude
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.model import Plan
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import LOOK_SECONDS
from untilgreen.engine.store import lock
from untilgreen.engine.store.atomic_file import put
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.wiring.sandbox import enclosure
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.engine.worktree import setup
from untilgreen.engine.worktree.place import Place
from untilgreen.engine.worktree.result_commit import commit_result
from untilgreen.errors import UntilgreenError, WorkspaceNotReady
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.undriven import told_to_end
from untilgreen.ports import Hold
from untilgreen.process.tree_note import GRACE_SECONDS
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git.head import History
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.remote import Chain, Remote, RemoteWorkspace


@dataclass(frozen=True)
class Machine:
    """Where this worker keeps clones, worktrees and scratch; its name lasts as long as these files do."""

    cache: Path

    @property
    def name(self) -> str:
        """A unique name; a new one after the cache was lost."""
        path = self.cache / "machine"
        with suppress(FileExistsError):
            self.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            with path.open("x", encoding="utf-8") as file:
                file.write(f"{platform.node()}-{secrets.token_hex(3)}")
        return path.read_text(encoding="utf-8")

    def scratch(self, run: str) -> Scratch:
        """What this machine stores about a run it drives; of no use elsewhere."""
        path = self.cache / "runs" / run
        for name in ("activity", "output", "code", "trees"):
            (path / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        worktree = self.cache / "worktrees" / run
        return Scratch(run=run, path=path, worktree=worktree, state_dir=self.cache)


class RemotePremises:
    """A worktree of a clone whose snapshots go to the run's remote."""

    def __init__(self, machine: Machine, record: PostgresRecord, warn: Callable[[str], None]) -> None:
        self._machine, self._record, self._warn = machine, record, warn

    @asynccontextmanager
    async def enter(self, state: RunState, hold: Hold) -> AsyncIterator[Place]:
        """The worktree with the run's current files, for this driver alone."""
        scratch = self._machine.scratch(state.run)
        me = Driver(place=self._machine.name, pid=os.getpid())
        async with lock.hold_when_free(scratch.path / "lock", run=state.run, driver=me):
            await scratch.clear_up(GRACE_SECONDS)
            where = workplace(state.plan)
            remote = Remote(where.remote, self._machine.cache)
            local = _localized(state, scratch, remote)
            async with self._unless_told_to_end(state):
                chain = await self._prepare(local, scratch, remote)
            root = setup.root_of(local.plan, scratch)
            workspace = RemoteWorkspace(
                root,
                state.run,
                scratch.private,
                remote=remote,
                chain=chain,
                commit=where.commit or "",
                check=self._record.check,
            )
            workspace.max_file = where.max_file
            await workspace.prepare()
            repositories = Repositories()
            repository = await repositories.find(root)
            worktree = setup.worktree_of(local.plan, scratch)
            try:
                yield Place(
                    workspace=workspace,
                    scratch=scratch,
                    name=self._machine.name,
                    snapshots=workspace,
                    history=History(repository) if repository else None,
                    enclosure=await enclosure(local.plan, root, scratch.state_dir, worktree, repositories),
                    deliver=partial(self._deliver, workspace, remote, scratch, local.plan),
                    leave=workspace.leave,
                )
            finally:
                with anyio.CancelScope(shield=True), suppress(UntilgreenError, OSError):
                    await workspace.settle()

    async def _prepare(self, local: RunState, scratch: Scratch, remote: Remote) -> Chain:
        """Fetch the run's snapshots, and put its current files in place with what its gates need."""
        await self._bring_code(scratch)
        chain = await remote.fetch(local.run, workplace(local.plan).commit or "")
        if local.place != self._machine.name:
            await self._put_in_place(local, scratch, chain.left_by(_turn(local)) or local.tree)
        await setup.ensure(local, scratch, (), self._warn)
        return chain

    @asynccontextmanager
    async def _unless_told_to_end(self, state: RunState) -> AsyncIterator[None]:
        """Raise as soon as a run that has never worked is told to end, rather than finish preparing it."""

        async def watch() -> None:
            while state.place or not await told_to_end(self._record):
                await self._record.wait_for_news(LOOK_SECONDS)
            raise WorkspaceNotReady("The run was told to end before its files were in place.")

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            yield
            group.cancel_scope.cancel()

    async def _deliver(  # noqa: PLR0917 - the last two are the engine's
        self,
        workspace: RemoteWorkspace,
        remote: Remote,
        scratch: Scratch,
        plan: Plan,
        state: RunState,
        end: Conclude,
    ) -> str | None:
        """Commit the result to its branch, here and on the remote."""
        at_home = replace(state, plan=plan)
        commit = await commit_result(scratch, workspace, self._warn, at_home, end)
        if commit is not None:
            await remote.push(f"+{commit}:refs/heads/untilgreen/{state.run}")
        return commit

    async def _bring_code(self, scratch: Scratch) -> None:
        for name in await self._record.names("code/"):
            path = scratch.path / name
            content = await self._record.kept(name)
            if not path.exists() and content is not None:
                put(path, content)

    async def _put_in_place(self, local: RunState, scratch: Scratch, tree: str | None) -> None:
        """Replace the outdated files of an earlier drive with the run's current ones."""
        worktree = setup.worktree_of(local.plan, scratch)
        if worktree is None or not worktree.whole:
            await setup.ensure(replace(local, tree=tree), scratch, (), self._warn)
        elif tree is not None:
            root = setup.root_of(local.plan, scratch)
            workspace = await open_workspace(root, local.run, scratch.private)
            await workspace.restore(tree, None)


def _localized(state: RunState, scratch: Scratch, remote: Remote) -> RunState:
    """The plan with this machine's paths in place of portable names."""
    place = scratch.worktree / workplace(state.plan).below
    paths = {"repository": str(remote.path), "start": str(remote.path), "base": str(place)}
    return replace(state, plan=replace(state.plan, workspace={**state.plan.workspace, **paths}))


def _turn(state: RunState) -> str:
    lap = state.open
    return f"{lap.number}-{lap.attempt}" if lap is not None and lap.offered and lap.snapshot is None else ""
