"""Puts a snapshot back: nothing is lost, and changes made by others are kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

import anyio.to_thread
import msgspec
from anyio import CancelScope
from msgspec import Struct

from untilgreen.crash_points import passing
from untilgreen.workspace.git.command import PLAINLY, Git, joined, path_as_text, split
from untilgreen.workspace.git.private_index import Index
from untilgreen.workspace.git.tree_diff import Difference, differences

NONE_IGNORED = 1


class Intent(Struct, frozen=True, kw_only=True):
    """What a restore is about to do, noted so that an interrupted one is not mistaken for someone's edits."""

    snapshot: str
    before: str
    after: str


class Intents:
    """The note about a restore in progress."""

    def __init__(self, private: Path) -> None:
        self._file = private / "restoring.json"

    def read(self) -> Intent | None:
        """The restore that a dead driver left unfinished."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Intent)
        except FileNotFoundError:
            return None

    def write(self, intent: Intent) -> None:
        """Write the note before the first file is touched."""
        beside = self._file.with_name("restoring.new")
        beside.write_bytes(msgspec.json.encode(intent))
        beside.replace(self._file)

    def put_back(self, intent: Intent | None) -> None:
        """Reinstate the note: a later restore was refused before it touched anything."""
        if intent:
            self.write(intent)
        else:
            self.clear()

    def clear(self) -> None:
        """Remove the note: the work tree is in a known state."""
        self._file.unlink(missing_ok=True)


class Restoring:
    """One restore, while no one else writes the private index."""

    def __init__(self, git: Git, index: Index, intents: Intents) -> None:
        self._git = git
        self._index = index
        self._intents = intents
        self._top = os.fsencode(git.place)

    async def free_the_way(self, seen: str, snapshot: str) -> tuple[str, frozenset[bytes]]:
        """The tree `seen`, with the ignored files added that are in the way of the snapshot's files.

        The second value lists paths that stay blocked because a nested repository is there.
        """
        planned = await differences(self._git, seen, snapshot)
        obstacles, blocked = await anyio.to_thread.run_sync(in_the_way, self._top, planned)
        if not obstacles:
            return seen, frozenset(blocked)
        await self._index.add(sorted(obstacles))
        return await self._index.tree(), frozenset(blocked)

    async def theirs(self, seen: str, known: str | None, cut_off: Intent | None) -> set[bytes]:
        """Paths that others changed since `known`; changes by an interrupted restore don't count."""
        if known is None:
            return set()
        changed = {difference.path for difference in await differences(self._git, known, seen)}
        if cut_off:
            ours = await differences(self._git, cut_off.before, cut_off.after)
            changed -= {difference.path for difference in ours}
        return changed

    async def apply(
        self,
        before: str,
        snapshot: str,
        left_alone: Collection[bytes],
        way_back: str,
        spare: Collection[str] = (),
    ) -> list[bytes]:
        """Make the files equal to the snapshot, and return those that were left different."""
        planned = await differences(self._git, before, snapshot)
        kept = [
            change
            for change in planned
            if change.path in left_alone or change.submodule or path_as_text(change.path) in spare
        ]
        after = snapshot
        if kept:
            after = await self._index.changed_tree(
                snapshot, [(change.old_mode, change.old, change.path) for change in kept]
            )
        with CancelScope(shield=True):
            self._intents.write(Intent(snapshot=snapshot, before=way_back, after=after))
            passing("restore", "before", "files")
            await self._move(before, after)
            passing("restore", "after", "files")
            self._intents.clear()
        return [change.path for change in kept]

    async def _move(self, before: str, after: str) -> None:
        """Ignore rules first: what the snapshot ignores was never in it, so it must not be deleted."""
        planned = await differences(self._git, before, after)
        rules = [change for change in planned if change.path.rpartition(b"/")[2] == b".gitignore"]
        doomed = [change.path for change in planned if change.deleted and change not in rules]
        if rules and doomed:
            entries = [(change.new_mode, change.new, change.path) for change in rules]
            ruled = await self._index.changed_tree(before, entries)
            await self._index.move(before, ruled)
            before = await self._spare_ignored(ruled, doomed)
        await self._index.move(before, after)

    async def _spare_ignored(self, before: str, doomed: list[bytes]) -> str:
        given = joined([PLAINLY + path for path in doomed])
        asked = await self._git.attempt("check-ignore", "--no-index", "-z", "--stdin", given=given)
        listed = split(asked.stdout if asked.returncode == NONE_IGNORED else self._git.checked(asked))
        ignored = [path.removeprefix(PLAINLY) for path in listed]
        if not ignored:
            return before
        await self._index.drop(ignored)
        return await self._index.tree()


def in_the_way(top: bytes, planned: Iterable[Difference]) -> tuple[set[bytes], set[bytes]]:
    """Files unknown to git at paths a snapshot needs, and needed paths that can't be freed."""
    planned = list(planned)
    leaving = {change.path for change in planned if change.deleted}
    obstacles: set[bytes] = set()
    blocked: set[bytes] = set()
    free: set[bytes] = set()
    for change in planned:
        if not change.added:
            continue
        found = _obstacles(top, change.path, free)
        if any(b".git" in path.split(b"/") for path in found):
            blocked.add(change.path)
        else:
            obstacles |= found - leaving
    return obstacles, blocked


def _obstacles(top: bytes, path: bytes, free: set[bytes]) -> set[bytes]:
    """What is at the path of a file, or in place of a directory above it."""
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        above = b"/".join(parts[:depth])
        if above in free:
            continue
        mode = _mode(top, above)
        if mode is None:
            return set()
        if not stat.S_ISDIR(mode):
            return {above}
        free.add(above)
    mode = _mode(top, path)
    if mode is None:
        return set()
    return _files_below(top, path) if stat.S_ISDIR(mode) else {path}


def _mode(top: bytes, path: bytes) -> int | None:
    try:
        return os.lstat(top + b"/" + path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _files_below(top: bytes, path: bytes) -> set[bytes]:
    """Every file and link in a directory, and the `.git` of a nested repository."""
    found: set[bytes] = set()
    with os.scandir(top + b"/" + path) as entries:
        for entry in entries:
            inner = path + b"/" + entry.name
            if entry.name != b".git" and entry.is_dir(follow_symlinks=False):
                found |= _files_below(top, inner)
            else:
                found.add(inner)
    return found
