"""Whatever is done to them, workspaces in memory and on disk have the same files and report the same."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untilgreen.ports import Workspace
from untilgreen.testing.workspaces import DiskFiles, Files, MemoryWorkspace
from untilgreen.workspace.factory import DirectoryWorkspace

PATHS = ["a", "a/b", "a/b/c", "a/d", "e", "f g"]
EDITS = st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(["1\n", "2\n", "3\n"]))
DELETIONS = st.tuples(st.just("delete"), st.sampled_from(PATHS), st.just(""))
SNAPSHOTS = st.tuples(st.just("snapshot"), st.just(""), st.just(""))
RESTORES = st.tuples(st.just("restore"), st.integers(0, 9), st.none() | st.integers(0, 9))
Deed = tuple[str, str | int, str | int | None]


async def play(deeds: Sequence[Deed], workspace: Workspace, files: Files) -> list[object]:
    """Perform the deeds and return everything visible, with snapshots by number instead of name."""
    snapshots = [await workspace.snapshot("0")]
    seen: list[object] = []
    for deed, what, how in deeds:
        if deed == "write":
            for other in [
                path for path in files if path.startswith(f"{what}/") or f"{what}".startswith(f"{path}/")
            ]:
                del files[other]
            files[str(what)] = str(how)
        elif deed == "delete":
            files.pop(str(what), None)
        elif deed == "snapshot":
            snapshots.append(await workspace.snapshot(str(len(snapshots))))
            seen.append(list(await workspace.changes(snapshots[-2], snapshots[-1])))
        else:
            known = None if how is None else snapshots[int(how) % len(snapshots)]
            done = await workspace.restore(snapshots[int(what) % len(snapshots)], known)
            seen.append(done.kept)
            snapshots.append(done.before)
        seen.append(sorted(files.items()))
        seen.append([snapshots.index(snapshot) for snapshot in snapshots])
    return seen


@settings(max_examples=12)
@given(st.lists(EDITS | EDITS | DELETIONS | SNAPSHOTS | RESTORES, min_size=3, max_size=14))
@pytest.mark.timeout(600)
def test_memory_and_disk_agree(deeds: list[Deed]) -> None:
    with TemporaryDirectory() as home:
        place = Path(home).resolve() / "place"
        place.mkdir()
        memory = MemoryWorkspace()
        disk = DirectoryWorkspace(place, "r1", Path(home) / "private")

        assert anyio.run(play, deeds, disk, DiskFiles(place)) == anyio.run(play, deeds, memory, memory.files)
