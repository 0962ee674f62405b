"""What a run of a fleet begins with: the current commit, or uncommitted files as its first snapshot."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from untilgreen.core.values.model import WORKTREE, Plan
from untilgreen.engine.wiring.workplace import start_of, workplace
from untilgreen.errors import UserError, WorkspaceNotReady
from untilgreen.regex import regex
from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.remote import Remote, chain_on
from untilgreen.workspace.starting_point import StartingPoint, starting_point

_TRAVELS = ("setup", "max_file", "tree", "forked")
"""Keys of a plan's workspace that mean the same on every machine."""
_MOST_NAMED = 5
_ELSEWHERE = regex(r"[^/]*:")
"""What git takes for an address; anything else is a path, which may be relative to the clone."""


@dataclass(frozen=True)
class PortablePlan:
    """A plan without paths of this machine, and the commit that its workers need."""

    plan: Plan
    source: Git
    tip: str

    async def push(self, run: str) -> None:
        """Push that commit for the workers."""
        await Remote(workplace(self.plan).remote, Path()).begin(run, self.source, self.tip)


@asynccontextmanager
async def beginning(plan: Plan, warn: Callable[[str], None]) -> AsyncIterator[PortablePlan]:
    """Make a plan portable; a snapshot of uncommitted files is kept until the end of the block."""
    _refuse_copies(plan)
    found = await starting_point(start_of(plan), Repositories())
    if found is None:
        raise WorkspaceNotReady("A run in the fleet needs a git repository with a remote.")
    if found.commit is None:
        raise WorkspaceNotReady(
            "A run in the fleet starts from a commit, and there is none yet. Commit first."
        )
    git, where = Git(place=found.repository.top), workplace(plan)
    facts: dict[str, Any] = {"remote": await _remote(git), "below": found.repository.below}
    facts |= {key: plan.workspace[key] for key in _TRAVELS if key in plan.workspace}
    facts |= {"mode": WORKTREE, "commit": where.commit or found.commit}
    if where.tree or not found.dirty:  # a fork begins with the files of its lap, whatever is on disk
        tip = where.tree and await chain_on(git, where.tree, facts["commit"], "begun with")
        yield PortablePlan(replace(plan, workspace=facts), git, tip or facts["commit"])
        return
    async with _on_disk(plan, where.max_file) as tree:
        warn(_says(found))
        tip = await chain_on(git, tree, found.commit, "begun with")
        yield PortablePlan(replace(plan, workspace={**facts, "tree": tree}), git, tip)


@asynccontextmanager
async def _on_disk(plan: Plan, max_file: int) -> AsyncIterator[str]:
    with TemporaryDirectory(prefix="untilgreen-begin-") as private:
        workspace = await open_workspace(start_of(plan), f"begin-{secrets.token_hex(6)}", Path(private))
        workspace.max_file = max_file
        try:
            yield await workspace.snapshot("begin")
        finally:
            await workspace.forget()


def _refuse_copies(plan: Plan) -> None:
    if workplace(plan).copy:
        raise UserError(
            "workspace.copy can't work in a fleet: the files are on this machine only. "
            "Provide them on the workers, or make them in workspace.setup."
        )


async def _remote(git: Git) -> str:
    url = (await git.attempt("remote", "get-url", "origin")).stdout.decode().strip()
    if not url:
        raise WorkspaceNotReady(
            "A run in the fleet needs the remote 'origin', and this repository has none. "
            "Add one: git remote add origin URL"
        )
    return url if _ELSEWHERE.match(url) else str((git.place / url).resolve())


def _says(found: StartingPoint) -> str:
    named = ", ".join(found.dirty[:_MOST_NAMED])
    more = f" and {len(found.dirty) - _MOST_NAMED} more" if len(found.dirty) > _MOST_NAMED else ""
    return f"Uncommitted changes are part of the run, and pushed to origin with it: {named}{more}"
