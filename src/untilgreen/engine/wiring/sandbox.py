"""The sandbox of a run: what agents and gates may touch of its workspace, repository and state.

In place the repository is read-only: index, branches and stash are the user's. In a worktree the agent
commits on the branch of the run, so it may add objects and move that branch, and nothing else. Hooks and
configuration are read-only in both: git would later run what they name, outside the sandbox.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.values.model import CONTAINERS, JUDGE_GATE, NO_SANDBOX, Plan, SandboxSpec
from untilgreen.core.values.units import count
from untilgreen.errors import AgentUnavailable, WorkspaceNotReady
from untilgreen.ports import Mount, Sandbox
from untilgreen.process.sandbox.bubblewrap import homes
from untilgreen.process.sandbox.hidden_paths import resolved
from untilgreen.process.sandbox.probe import SHUT, require
from untilgreen.workspace.git.repository import Repositories
from untilgreen.workspace.worktree import Worktree

_FIXED = ("commondir", "gitdir", "config.worktree")
"""Files that lead git from a worktree to its repository, and to more configuration."""
_PACKED = ("pack", "info")
"""Packs hold older objects, and no commit has to write there."""


class Enclosure(Struct, frozen=True, kw_only=True):
    """The sandbox of agents, and the one of gates; None means that there is none."""

    agents: Sandbox | None = None
    gates: Sandbox | None = None

    def around(self, kind: str) -> Sandbox | None:
        """The sandbox of a gate of this kind; a judge is an agent that may only read."""
        if kind == JUDGE_GATE and self.gates is not None and self.agents is not None:
            return replace(self.gates.sealed(), network=self.agents.network)
        return self.gates


OPEN = Enclosure()


async def check_possible(plan: Plan) -> None:
    """Check that the requested sandbox works, before anything starts."""
    if plan.sandbox.mode != NO_SANDBOX:
        _refuse_root(plan.sandbox)
        await require(replace(SHUT, engine=_engine(plan.sandbox), image=plan.sandbox.image), Path("/"))


async def enclosure(
    plan: Plan,
    root: Path,
    state_dir: Path,
    worktree: Worktree | None = None,
    repositories: Repositories | None = None,
) -> Enclosure:
    """The sandbox of a run in `root`; tested once, so a broken one does not look like a red gate."""
    spec = plan.sandbox
    if spec.mode == NO_SANDBOX:
        return OPEN
    _refuse_root(spec)
    top, repository = (
        await _in_place(root, repositories or Repositories())
        if worktree is None
        else (worktree.path, _linked(worktree))
    )
    _refuse_a_home(top)
    work = Mount(path=_real(top), way="write")
    common = (work, *_our_own(top), *_named(spec, _real(top)), *_hidden(state_dir), *repository)
    sandbox = Sandbox(
        mounts=common,
        env=spec.env,
        engine=_engine(spec),
        image=spec.image,
        network=spec.network == "all",
        disk=None if spec.disk is None else count(spec.disk, "sandbox.disk"),
        memory=None if spec.memory is None else count(spec.memory, "sandbox.memory"),
        processes=spec.processes,
    )
    commits = () if worktree is None else tuple(_for_commits(worktree))
    inside = replace(sandbox.opened(*commits), network=spec.network != "none")
    await require(sandbox, root)
    await require(inside, root)
    return Enclosure(agents=inside, gates=sandbox)


def _engine(spec: SandboxSpec) -> str:
    """The container engine; empty for bubblewrap."""
    return spec.mode if spec.mode in CONTAINERS else ""


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _refuse_root(spec: SandboxSpec) -> None:
    """A sandbox made by root keeps root's access to files, so it protects less."""
    if os.getuid() == 0 and not spec.as_root:
        raise AgentUnavailable(
            "You are root, and a sandbox that root makes keeps root's access to files. Start untilgreen as "
            "an ordinary user, for example with `runuser -u NAME -- untilgreen run`, or accept that with "
            "`--set sandbox.as_root=true`."
        )


def _refuse_a_home(top: Path) -> None:
    for home in homes():
        if _real(top) in (home, *home.parents):
            raise WorkspaceNotReady(
                f"The sandbox hides the home directory {str(home)!r}, and the workspace {str(top)!r} is or "
                "contains it. Work in a directory below it."
            )


def _named(sandbox: SandboxSpec, top: Path) -> Iterator[Mount]:
    """Mounts from the spec; a writable path must exist, or its content would be lost with the sandbox."""
    agents = [top, *(Path(written).expanduser() for written in sandbox.write)]
    for way, paths in (("read", sandbox.read), ("write", sandbox.write)):
        for written in paths:
            path = Path(os.path.abspath(Path(written).expanduser()))  # noqa: PTH100 - resolved below
            if way == "write" and not path.exists():
                raise WorkspaceNotReady(
                    f"sandbox.write names {written!r}, which does not exist. Create it, or remove it."
                )
            real = resolved(path.parent, agents) / path.name
            yield Mount(path=real, way="write" if way == "write" else "read")


def _our_own(top: Path) -> Iterator[Mount]:
    """Protect an environment in the workspace that we run from: the next driver would run its files."""
    if _real(Path(sys.prefix)).is_relative_to(_real(top)):
        yield Mount(path=_real(Path(sys.prefix)), way="read")


def _hidden(state_dir: Path) -> Iterator[Mount]:
    if state_dir.is_dir():
        yield Mount(path=_real(state_dir), way="empty")


async def _in_place(root: Path, repositories: Repositories) -> tuple[Path, tuple[Mount, ...]]:
    """The top of the repository around a directory, and what is shown of the repository."""
    repository = await repositories.find(root)
    if repository is None:
        return root, ()
    shown = (
        repository.top / ".git",
        repository.git_dir,
        repository.common,
        *_borrowed(repository.common / "objects"),
    )
    return repository.top, tuple(Mount(path=_real(path), way="read") for path in shown)


def _linked(worktree: Worktree) -> tuple[Mount, ...]:
    shown = (worktree.path / ".git", worktree.repository, *_borrowed(worktree.repository / "objects"))
    return tuple(Mount(path=_real(path), way="read") for path in shown)


def _for_commits(worktree: Worktree) -> Iterator[Mount]:
    """What a commit on the run's branch has to write."""
    common, admin = worktree.repository, next(iter(worktree.admins()), None)
    if admin is None:
        return
    (admin / "config.worktree").touch()  # a missing one could be made by the agent
    branches = Path("refs/heads", worktree.branch).parent
    for folder in (common / branches, common / "logs" / branches):
        folder.mkdir(parents=True, exist_ok=True)
    for path in (admin, common / "objects", common / branches, common / "logs" / branches):
        yield Mount(path=_real(path), way="write")
    for path in (*(admin / name for name in _FIXED), *(common / "objects" / name for name in _PACKED)):
        yield Mount(path=_real(path), way="read")


def _borrowed(objects: Path) -> Iterator[Path]:
    """Alternate object stores that this one uses."""
    try:
        lines = (objects / "info" / "alternates").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        if line and not line.startswith("#"):
            yield objects / line
