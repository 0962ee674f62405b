"""Every workspace obeys the same laws: in memory, in a repository and in a plain directory."""

from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from uuid import uuid4

import pytest

from tests.workspace.helpers import git
from untilgreen.core.values.model import Change
from untilgreen.ports import Restoration, Workspace
from untilgreen.testing.workspaces import LAWS, DiskFiles, Files, Furnished, MemoryWorkspace, workspace_laws
from untilgreen.workspace.factory import DirectoryWorkspace
from untilgreen.workspace.git_workspace import GitWorkspace

Law = Callable[[Workspace, Files], Awaitable[None]]


def in_memory(_: Path) -> Furnished:
    workspace = MemoryWorkspace()
    return workspace, workspace.files


def in_git(home: Path) -> Furnished:
    place = home / uuid4().hex
    place.mkdir()
    git(place, "init", "--quiet")
    return GitWorkspace(place, "r1", home / f"private-{place.name}"), DiskFiles(place)


def in_a_directory(home: Path) -> Furnished:
    place = home / uuid4().hex
    place.mkdir()
    return DirectoryWorkspace(place, "r1", home / f"private-{place.name}"), DiskFiles(place)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("make", [in_memory, in_git, in_a_directory])
async def test_the_law_holds(law: Law, make: Callable[[Path], Furnished], tmp_path: Path) -> None:
    await law(*make(tmp_path))


async def test_all_laws_are_checked_in_one_call(tmp_path: Path) -> None:
    made: list[Furnished] = []

    def make() -> Furnished:
        made.append(in_memory(tmp_path))
        return made[-1]

    await workspace_laws(make)

    assert len(made) == len(LAWS)


class Forgetful(MemoryWorkspace):
    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        return await super().restore(snapshot, None, spare)


class Merciless(MemoryWorkspace):
    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        return await super().restore(snapshot, known)


class Numbered(MemoryWorkspace):
    async def snapshot(self, label: str) -> str:
        identity = await super().snapshot(label)
        self.snapshots[identity + label] = self.snapshots[identity]
        return identity + label


class Blind(MemoryWorkspace):
    async def changes(self, before: str, after: str) -> list[Change]:
        return []


@pytest.mark.parametrize("broken", [Forgetful, Merciless, Numbered, Blind])
async def test_a_workspace_that_breaks_a_law_is_found_out(broken: type[MemoryWorkspace]) -> None:
    def make() -> Furnished:
        workspace = broken()
        return workspace, workspace.files

    with pytest.raises(AssertionError):
        await workspace_laws(make)


def test_every_kind_is_a_workspace(tmp_path: Path) -> None:
    kinds = [MemoryWorkspace(), in_git(tmp_path)[0], in_a_directory(tmp_path)[0]]

    assert all(isinstance(workspace, Workspace) for workspace in kinds)
