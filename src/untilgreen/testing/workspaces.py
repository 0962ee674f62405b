"""A workspace in memory, and the laws of every workspace."""

from __future__ import annotations

import difflib
import hashlib
import shutil
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from untilgreen.core.values.model import Change
from untilgreen.errors import UntilgreenError, UserError
from untilgreen.ports import Restoration, Workspace

Files: TypeAlias = MutableMapping[str, str]
Furnished: TypeAlias = tuple[Workspace, Files]


class MemoryWorkspace:
    """Files as a dictionary of text by path: edit `files` as an agent or a person would edit a directory.

    The root is passed to agents and gates as it is, and never read.
    """

    def __init__(self, files: Mapping[str, str] | None = None, *, root: Path = Path("/nowhere")) -> None:
        self.root = root
        self.files: dict[str, str] = dict(files or {})
        self.labels: dict[str, str] = {}
        """The newest snapshot under each label."""
        self.snapshots: dict[str, dict[str, str]] = {}

    async def snapshot(self, label: str) -> str:
        content = dict(sorted(self.files.items()))
        identity = hashlib.sha1(msgspec.json.encode(content), usedforsecurity=False).hexdigest()
        self.snapshots[identity] = content
        self.labels[label] = identity
        return identity

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        old, new = self._content(before), self._content(after)
        return [_change(path, old, new) for path in sorted(_unlike(old, new))]

    async def restore(self, snapshot: str, known: str | None, spare: Collection[str] = ()) -> Restoration:
        target = self._content(snapshot)
        before = await self.snapshot(f"before-restore-{len(self.labels) + 1}")
        found = self.snapshots[before]
        theirs = {*spare, *(_unlike(found, self._content(known)) if known else ())}
        kept = theirs & _unlike(found, target)
        self.files.clear()
        self.files.update((path, text) for path, text in found.items() if path in kept)
        mine = tuple(self.files)
        self.files.update(
            (path, text)
            for path, text in target.items()
            if path not in kept and not any(_excludes(file, path) for file in mine)
        )
        return Restoration(before=before, kept=tuple(sorted(kept)))

    async def diff(self, before: str, after: str) -> str:
        old, new = self._content(before), self._content(after)
        return "".join(_unified(path, old, new) for path in sorted(_unlike(old, new)))

    def _content(self, snapshot: str) -> dict[str, str]:
        if snapshot not in self.snapshots:
            raise UserError(f"{snapshot!r} is not a snapshot of this workspace. Take one first.")
        return self.snapshots[snapshot]


class DiskFiles(Files):
    """The files of a directory as text by path, so that laws can be checked on a workspace on disk."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __getitem__(self, path: str) -> str:
        try:
            return (self._root / path).read_bytes().decode()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise KeyError(path) from None

    def __setitem__(self, path: str, text: str) -> None:
        place = self._root / path
        if place.is_dir():
            shutil.rmtree(place)
        for above in reversed(place.relative_to(self._root).parents):
            if (self._root / above).is_file():
                (self._root / above).unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())

    def __delitem__(self, path: str) -> None:
        if path not in self:
            raise KeyError(path)
        (self._root / path).unlink()

    def __iter__(self) -> Iterator[str]:
        for place in sorted(self._root.rglob("*")):
            below = place.relative_to(self._root)
            if place.is_file() and ".git" not in below.parts:
                yield below.as_posix()

    def __len__(self) -> int:
        return sum(1 for _ in self)


async def workspace_laws(make: Callable[[], Furnished]) -> None:
    """Check a workspace: each call of `make` gives a new, empty one, and its files for editing."""
    for law in LAWS:
        await law(*make())


async def identity_is_content(workspace: Workspace, files: Files) -> None:
    """Equal content has one identity, under any label and at any time."""
    nothing = await workspace.snapshot("nothing")
    files["a.txt"] = "one\n"
    first = await workspace.snapshot("first")
    assert await workspace.snapshot("again") == first
    assert await workspace.snapshot("first") == first
    files["a.txt"] = "two\n"
    second = await workspace.snapshot("second")
    files["a.txt"] = "one\n"
    assert await workspace.snapshot("third") == first
    del files["a.txt"]
    assert await workspace.snapshot("fourth") == nothing
    assert len({nothing, first, second}) == 3


async def changes_are_named(workspace: Workspace, files: Files) -> None:
    """Added, modified and deleted paths, sorted, in both directions."""
    files.update({"gone.txt": "1\n", "kept.txt": "2\n", "src/moved.txt": "3\n"})
    before = await workspace.snapshot("before")
    del files["gone.txt"]
    files["new name.txt"] = "4\n"
    files["src/moved.txt"] = "5\n"
    after = await workspace.snapshot("after")
    assert list(await workspace.changes(before, before)) == []
    assert list(await workspace.changes(before, after)) == [
        Change(path="gone.txt", status="deleted"),
        Change(path="new name.txt", status="added"),
        Change(path="src/moved.txt", status="modified"),
    ]
    there_and_back = [change.status for change in await workspace.changes(after, before)]
    assert there_and_back == ["added", "deleted", "modified"]


async def diffs_are_unified(workspace: Workspace, files: Files) -> None:
    """A diff shows the removed and added lines, for each path that differs and for no other."""
    files.update({"a.txt": "same\nold\n", "b.txt": "untouched\n"})
    before = await workspace.snapshot("before")
    files.update({"a.txt": "same\nnew\n", "c.txt": "fresh\n"})
    after = await workspace.snapshot("after")
    lines = (await workspace.diff(before, after)).splitlines()
    assert {"--- a/a.txt", "+++ b/a.txt", " same", "-old", "+new", "+++ b/c.txt", "+fresh"} <= set(lines)
    assert "untouched" not in "\n".join(lines)
    assert await workspace.diff(after, after) == ""


async def restoring_can_be_undone(workspace: Workspace, files: Files) -> None:
    """A restore brings all files back, and `before` brings back what it undid."""
    old = {"a.txt": "1\n", "b/c.txt": "2\n", "b/d.txt": "3\n"}
    files.update(old)
    first = await workspace.snapshot("first")
    new = {"a.txt": "one\n", "b/d.txt": "3\n", "e/f.txt": "4\n"}
    files.update(new)
    del files["b/c.txt"]
    second = await workspace.snapshot("second")
    done = await workspace.restore(first, second)
    assert (done.before, done.kept, dict(files)) == (second, (), old)
    assert await workspace.snapshot("third") == first
    back = await workspace.restore(done.before, first)
    assert (back.before, back.kept, dict(files)) == (first, (), new)


async def unsnapshotted_work_is_kept_first(workspace: Workspace, files: Files) -> None:
    """Work that was in no snapshot yet is in `before`, even if `known` is not given."""
    files["a.txt"] = "1\n"
    first = await workspace.snapshot("first")
    files.update({"a.txt": "2\n", "b.txt": "3\n"})
    done = await workspace.restore(first, None)
    assert (done.kept, dict(files)) == ((), {"a.txt": "1\n"})
    await workspace.restore(done.before, None)
    assert dict(files) == {"a.txt": "2\n", "b.txt": "3\n"}


async def others_keep_their_changes(workspace: Workspace, files: Files) -> None:
    """Files edited, added or deleted since `known` are somebody else's changes: they stay and are named."""
    files.update({"agent.txt": "1\n", "edited.txt": "1\n", "deleted.txt": "1\n", "agreed.txt": "1\n"})
    first = await workspace.snapshot("first")
    files.update({"agent.txt": "2\n", "edited.txt": "2\n", "deleted.txt": "2\n", "agreed.txt": "2\n"})
    known = await workspace.snapshot("known")
    files.update({"edited.txt": "mine\n", "added.txt": "mine\n", "agreed.txt": "1\n"})
    del files["deleted.txt"]
    done = await workspace.restore(first, known)
    assert done.kept == ("added.txt", "deleted.txt", "edited.txt")
    assert dict(files) == {
        "added.txt": "mine\n",
        "agent.txt": "1\n",
        "agreed.txt": "1\n",
        "edited.txt": "mine\n",
    }


async def what_is_to_be_spared_stays(workspace: Workspace, files: Files) -> None:
    """Paths that a restore is told to spare stay, and are named if they would have changed."""
    files.update({"agent.txt": "1\n", "same.txt": "1\n", "gone.txt": "1\n"})
    first = await workspace.snapshot("first")
    files.update({"agent.txt": "2\n", "mine.txt": "mine\n"})
    del files["gone.txt"]
    known = await workspace.snapshot("known")
    done = await workspace.restore(first, known, ("gone.txt", "mine.txt", "same.txt"))
    assert done.kept == ("gone.txt", "mine.txt")
    assert dict(files) == {"agent.txt": "1\n", "mine.txt": "mine\n", "same.txt": "1\n"}


async def files_and_directories_change_places(workspace: Workspace, files: Files) -> None:
    """A file where a directory was, and back; somebody's file is not replaced by a directory."""
    files["place/inner.txt"] = "1\n"
    directory = await workspace.snapshot("directory")
    del files["place/inner.txt"]
    files["place"] = "2\n"
    file = await workspace.snapshot("file")
    await workspace.restore(directory, file)
    assert dict(files) == {"place/inner.txt": "1\n"}
    await workspace.restore(file, directory)
    assert dict(files) == {"place": "2\n"}
    await workspace.restore(directory, file)
    files["place/other.txt"] = "mine\n"
    done = await workspace.restore(file, directory)
    assert (done.kept, dict(files)) == (("place/other.txt",), {"place/other.txt": "mine\n"})


async def strangers_are_refused(workspace: Workspace, files: Files) -> None:
    """A snapshot that was never taken is an error, and no file changes."""
    files["a.txt"] = "1\n"
    first = await workspace.snapshot("first")
    for stranger in ("0" * 39 + "1", "no-snapshot", "--help"):
        await _refused(workspace.restore(stranger, None), stranger)
        await _refused(workspace.changes(first, stranger), stranger)
        await _refused(workspace.diff(stranger, first), stranger)
    assert dict(files) == {"a.txt": "1\n"}


LAWS = (
    identity_is_content,
    changes_are_named,
    diffs_are_unified,
    restoring_can_be_undone,
    unsnapshotted_work_is_kept_first,
    others_keep_their_changes,
    what_is_to_be_spared_stays,
    files_and_directories_change_places,
    strangers_are_refused,
)


async def _refused(asked: Awaitable[object], snapshot: str) -> None:
    try:
        await asked
    except UntilgreenError:
        return
    raise AssertionError(f"{snapshot!r} was never taken, and was not refused.")


def _unlike(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}


def _excludes(file: str, path: str) -> bool:
    """Whether one path needs a directory where the other is a file."""
    return path.startswith(file + "/") or file.startswith(path + "/")


def _change(path: str, old: Mapping[str, str], new: Mapping[str, str]) -> Change:
    if path not in old:
        return Change(path=path, status="added")
    return Change(path=path, status="modified" if path in new else "deleted")


def _unified(path: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    names = f"a/{path}" if path in old else "/dev/null", f"b/{path}" if path in new else "/dev/null"
    lines = difflib.unified_diff(
        old.get(path, "").splitlines(), new.get(path, "").splitlines(), *names, lineterm=""
    )
    return "".join(line + "\n" for line in lines)
