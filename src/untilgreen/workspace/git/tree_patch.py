"""Derives the next git tree from the last one when only a few files changed, without git's index.

Handles simple cases only: regular files added, changed or deleted, which no filter rewrites. The rest is left
to `git write-tree`. A tree is read from git once: its name is the hash of its content, so it never changes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from anyio import to_thread

from untilgreen.workspace.git.command import Git, joined, split
from untilgreen.workspace.git.loose_objects import LooseObjects, object_name
from untilgreen.workspace.git.tree_diff import ABSENT, Difference

MOST_PATHS = 100
MOST_BYTES = 4_000_000
"""Of all changed files together; and of one directory, as git stores it."""
MOST_ENTRIES = 20_000
"""Of all directories that are remembered."""
TREE, FILE, PROGRAM = b"40000", b"100644", b"100755"
_MODES = frozenset({TREE, FILE, PROGRAM, b"120000", b"160000"})
"""All modes that git writes; old repositories have others, which it replaces."""

Entry = tuple[bytes, bytes]
"""Mode and object."""
Entries = dict[bytes, Entry]
"""The entries of a directory by name."""


class NotPatchable(Exception):
    """These changes are not simple enough."""


class Compared(NamedTuple):
    """What differs between two trees, and the directories that only the second has."""

    found: list[Difference]
    trees: list[str]


class Patcher:
    """The trees of one work tree: read once, compared, and written without git."""

    def __init__(self, top: Path, objects: LooseObjects, *, filters: bool = False) -> None:
        """`filters` says that some are configured, so that git has to be asked which files they concern."""
        self._top = os.fsencode(top) + b"/"
        self._objects = objects
        self._filters = filters
        self._known: dict[bytes, Entries] = {}

    async def patched(
        self, git: Git, tree: str, paths: Sequence[bytes], new: Literal["take", "refuse", "skip"] = "take"
    ) -> str:
        """The tree with these paths as they are on disk now.

        `new` says what happens to paths that the tree lacks; only with "take" may paths be gone from disk.
        """
        if len(paths) > MOST_PATHS or any(b"\n" in path for path in paths):
            raise NotPatchable
        await self._load(git, tree, paths)
        known = [path for path in paths if self._entry(tree, path) is not None]
        if new == "refuse" and len(known) < len(paths):
            raise NotPatchable
        taken = paths if new == "take" else known
        if self._filters and await filtered(git, taken):
            raise NotPatchable
        try:
            return await to_thread.run_sync(self._patched, tree, taken, new == "take") if taken else tree
        except RecursionError:  # so many directories inside one another
            raise NotPatchable from None

    def differences(self, before: str, after: str) -> Compared | None:
        """What differs between two trees, in git's order; None if that is not known without git."""
        compared = Compared([], [])
        try:
            self._compare(before.encode(), after.encode(), b"", compared)
        except (KeyError, RecursionError):
            return None
        return compared

    def _patched(self, tree: str, paths: Sequence[bytes], may_be_gone: bool) -> str:
        _refuse_links(self._top, {above for path in paths for above in _above(path)})
        left = MOST_BYTES
        changes: dict[bytes, Entry | None] = {}
        for path in paths:
            read = _read(self._top + path, left)
            if read is None and not may_be_gone:
                raise NotPatchable
            left -= len(read[1]) if read else 0
            changes[path] = read and (read[0], self._written(b"blob", read[1]))
        made = self._made(tree.encode(), changes)
        if made is None:
            raise NotPatchable
        return made.decode()

    def _made(self, tree: bytes | None, changes: Mapping[bytes, Entry | None]) -> bytes | None:
        """The directory with these paths changed; None if nothing is left in it."""
        before = self._known[tree] if tree else {}
        entries, below = dict(before), dict[bytes, dict[bytes, Entry | None]]()
        for path, entry in changes.items():
            name, inside, rest = path.partition(b"/")
            there = entries.get(name)
            if inside:
                below.setdefault(name, {})[rest] = entry
            elif there and there[0] not in (FILE, PROGRAM):
                raise NotPatchable
            elif entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
        for name, inner in below.items():
            there = entries.get(name)
            if name in changes or (there and there[0] != TREE):
                raise NotPatchable
            made = self._made(there[1] if there else None, inner)
            if made is None:
                entries.pop(name, None)
            else:
                entries[name] = (TREE, made)
        if entries == before:
            return tree
        return self._kept(entries) if entries else None

    def _kept(self, entries: Entries) -> bytes:
        ordered = sorted(entries.items(), key=_order)
        raw = (b"%s %s\0%s" % (mode, name, bytes.fromhex(each.decode())) for name, (mode, each) in ordered)
        made = self._written(b"tree", b"".join(raw))
        self._known[made] = entries
        return made

    def _written(self, kind: bytes, content: bytes) -> bytes:
        try:
            return self._objects.write(kind, content)
        except OSError:  # git will fail too, and word the error
            raise NotPatchable from None

    async def _load(self, git: Git, tree: str, paths: Sequence[bytes]) -> None:
        """Read the directories above these paths that are not known yet."""
        folders = {above for path in paths for above in _above(path)}
        unknown = sorted(folder for folder in folders if not self._is_known(tree, folder))
        if not unknown:
            return
        self._forget_old()
        asked = b"".join(b"%s:%s\n" % (tree.encode(), folder) for folder in unknown)
        printed = (await git.attempt("cat-file", "--batch", given=asked)).stdout
        for name, content in _trees(printed):
            if len(content) > MOST_BYTES or object_name(b"tree", content, self._objects.length) != name:
                raise NotPatchable
            entries = dict(_entries(content, self._objects.length // 2))
            if any(mode not in _MODES for mode, _ in entries.values()):
                raise NotPatchable
            self._known[name] = entries
        if not all(self._is_known(tree, folder) for folder in folders):
            raise NotPatchable

    def _is_known(self, tree: str, folder: bytes) -> bool:
        """Whether all directories down to this one are known, or it is known not to exist."""
        name = tree.encode()
        for part in [part for part in folder.split(b"/") if part]:
            if name not in self._known:
                return False
            entry = self._known[name].get(part)
            if entry is None or entry[0] != TREE:
                return True
            name = entry[1]
        return name in self._known

    def _entry(self, tree: str, path: bytes) -> Entry | None:
        *parts, last = path.split(b"/")
        name = tree.encode()
        for part in parts:
            mode, name = self._known[name].get(part, (b"", b""))
            if mode != TREE:
                return None
        return self._known[name].get(last)

    def _forget_old(self) -> None:
        total = sum(map(len, self._known.values()))
        while total > MOST_ENTRIES:
            total -= len(self._known.pop(next(iter(self._known))))

    def _compare(self, one: bytes | None, other: bytes | None, above: bytes, compared: Compared) -> None:
        old = self._known[one] if one else {}
        new = self._known[other] if other else {}
        if other:
            compared.trees.append(other.decode())
        nothing = (ABSENT, b"0" * self._objects.length)
        changed = old.items() ^ new.items()
        for key in sorted({_order(each) for each in changed}):
            name = key.rstrip(b"/")
            sides = [each.get(name) for each in (old, new)]
            before, after = (each if each and _order((name, each)) == key else None for each in sides)
            if key != name:
                self._compare(before and before[1], after and after[1], above + key, compared)
                continue
            old_mode, old_name = before or nothing
            new_mode, new_name = after or nothing
            compared.found.append(Difference(above + name, old_mode, new_mode, old_name, new_name))


async def filtered(git: Git, paths: Collection[bytes]) -> set[bytes]:
    """The files among these that a filter rewrites."""
    if not paths:
        return set()
    answers = split(await git("check-attr", "-z", "--stdin", "filter", given=joined(paths)))
    return {
        path
        for path, value in zip(answers[::3], answers[2::3], strict=True)
        if value not in (b"unspecified", b"unset")
    }


def _read(path: bytes, most: int) -> tuple[bytes, bytes] | None:
    """The mode and the content of a file; None if it is gone."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise NotPatchable
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            now = os.fstat(descriptor)
            content = file.read(most + 1) if stat.S_ISREG(now.st_mode) else b""
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:  # git will fail too, and word the error
        raise NotPatchable from None
    if not stat.S_ISREG(now.st_mode) or len(content) != now.st_size:
        raise NotPatchable
    return PROGRAM if now.st_mode & stat.S_IXUSR else FILE, content


def times(top: Path, paths: Iterable[bytes]) -> list[tuple[int, ...] | None]:
    """Values that change if a file is written in between."""
    return [_times(os.fsencode(top) + b"/" + path) for path in paths]


def _times(path: bytes) -> tuple[int, ...] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _refuse_links(top: bytes, folders: Collection[bytes]) -> None:
    """Raise if a link is on the way: files behind it are not in the work tree."""
    for folder in folders:
        try:
            if not stat.S_ISDIR(os.lstat(top + folder).st_mode):
                raise NotPatchable
        except (FileNotFoundError, NotADirectoryError):
            continue


def _above(path: bytes) -> list[bytes]:
    """The directories above a path; the top is empty."""
    parts = path.split(b"/")[:-1]
    return [b"/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _order(entry: tuple[bytes, Entry]) -> bytes:
    """git sorts directories as if their names ended with a slash."""
    name, (mode, _) = entry
    return name + b"/" if mode == TREE else name


def _trees(printed: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The trees that `git cat-file --batch` printed, by name; skips missing objects and other kinds."""
    at = 0
    while (end := printed.find(b"\n", at)) >= 0:
        facts = printed[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(facts) == 3 and facts[2].isdigit():
            size = int(facts[2])
            if facts[1] == b"tree":
                yield facts[0], printed[at : at + size]
            at += size + 1


def _entries(content: bytes, width: int) -> Iterator[tuple[bytes, Entry]]:
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + width
        yield name, (mode, content[end + 1 : at].hex().encode())
