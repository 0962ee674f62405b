"""The sandbox of a run: what of its workspace, repository and state agents and gates may touch.

In place the repository can only be read: index, branches and stash are the user's. In a worktree the agent
commits on the branch of the run, so that it may add objects and move that branch, and nothing else. Hooks and
configuration can't be written in either: git would run what they say, later and outside.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from untilgreen.core.model import JUDGE_GATE, NO_SANDBOX, Plan, Sandbox
from untilgreen.errors import WorkspaceNotReady
from untilgreen.ports import Mount, Walls
from untilgreen.process.ready import SHUT, require
from untilgreen.process.sandbox import homes
from untilgreen.workspace.ground import find_ground
from untilgreen.workspace.worktree import Worktree

_FIXED = ("commondir", "gitdir", "config.worktree")
"""What leads git from a worktree to its repository, and to further configuration."""
_PACKED = ("pack", "info")
"""Objects that were there before are in packs, which no commit has to write."""


@dataclass(frozen=True, kw_only=True)
class Enclosure:
    """The walls around agents, and those around gates; None is no sandbox."""

    agents: Walls | None = None
    gates: Walls | None = None

    def around(self, kind: str) -> Walls | None:
        """The walls of a gate of this kind; a judge is an agent that may only read."""
        if kind == JUDGE_GATE and self.gates is not None and self.agents is not None:
            return replace(self.gates.sealed(), network=self.agents.network)
        return self.gates


OPEN = Enclosure()


async def check_possible(plan: Plan) -> None:
    """Whether the sandbox that is asked for can be made at all, before anything is begun."""
    if plan.sandbox.mode != NO_SANDBOX:
        await require(SHUT, Path("/"))


async def enclosure(plan: Plan, root: Path, state_dir: Path, worktree: Worktree | None = None) -> Enclosure:
    """The walls of a run that works in `root`; tried once, so that a broken wall is no red gate."""
    sandbox = plan.sandbox
    if sandbox.mode == NO_SANDBOX:
        return OPEN
    top, repository = await _in_place(root) if worktree is None else (worktree.path, _linked(worktree))
    _refuse_a_home(top)
    work = Mount(path=_real(top), way="write")
    common = (work, *_our_own(top), *_named(sandbox), *_hidden(state_dir), *repository)
    walls = Walls(mounts=common, env=sandbox.env, network=sandbox.network == "all")
    commits = () if worktree is None else tuple(_for_commits(worktree))
    inside = replace(walls.opened(*commits), network=sandbox.network != "none")
    await require(walls, root)
    await require(inside, root)
    return Enclosure(agents=inside, gates=walls)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _refuse_a_home(top: Path) -> None:
    for home in homes():
        if _real(top) in (home, *home.parents):
            raise WorkspaceNotReady(
                f"The sandbox hides the home directory {str(home)!r}, and the workspace {str(top)!r} is or "
                "holds it. Work in a directory below it, or leave the sandbox out with --sandbox none."
            )


def _named(sandbox: Sandbox) -> Iterator[Mount]:
    """What the spec adds; a place to write to has to be there, or it would be lost with the sandbox."""
    for way, paths in (("read", sandbox.read), ("write", sandbox.write)):
        for written in paths:
            path = Path(written).expanduser()
            if way == "write" and not path.exists():
                raise WorkspaceNotReady(
                    f"sandbox.write names {written!r}, and there is no such path. Make it, or take it out."
                )
            yield Mount(path=_real(path.parent) / path.name, way="write" if way == "write" else "read")


def _our_own(top: Path) -> Iterator[Mount]:
    """An environment in the workspace that we run from ourselves: the next driver would run what is there."""
    if _real(Path(sys.prefix)).is_relative_to(_real(top)):
        yield Mount(path=_real(Path(sys.prefix)), way="read")


def _hidden(state_dir: Path) -> Iterator[Mount]:
    if state_dir.is_dir():
        yield Mount(path=_real(state_dir), way="empty")


async def _in_place(root: Path) -> tuple[Path, tuple[Mount, ...]]:
    """The top of the repository around a directory, and what of the repository is shown."""
    ground = await find_ground(root)
    if ground is None:
        return root, ()
    shown = (ground.top / ".git", ground.repository, ground.common, *_borrowed(ground.common / "objects"))
    return ground.top, tuple(Mount(path=_real(path), way="read") for path in shown)


def _linked(worktree: Worktree) -> tuple[Mount, ...]:
    shown = (worktree.path / ".git", worktree.repository, *_borrowed(worktree.repository / "objects"))
    return tuple(Mount(path=_real(path), way="read") for path in shown)


def _for_commits(worktree: Worktree) -> Iterator[Mount]:
    """What a commit on the branch of the run writes."""
    common, admin = worktree.repository, next(iter(worktree.admins()), None)
    if admin is None:
        return
    (admin / "config.worktree").touch()  # one that is not there could be made
    branches = Path("refs/heads", worktree.branch).parent
    for folder in (common / branches, common / "logs" / branches):
        folder.mkdir(parents=True, exist_ok=True)
    for path in (admin, common / "objects", common / branches, common / "logs" / branches):
        yield Mount(path=_real(path), way="write")
    for path in (*(admin / name for name in _FIXED), *(common / "objects" / name for name in _PACKED)):
        yield Mount(path=_real(path), way="read")


def _borrowed(objects: Path) -> Iterator[Path]:
    """Other stores of objects that this one builds upon."""
    try:
        lines = (objects / "info" / "alternates").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        if line and not line.startswith("#"):
            yield objects / line
