"""Derives the next git tree from the last one when only a few files changed, without a large index.

Handles only simple cases: regular files added, changed or deleted. The rest is left to `git write-tree`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from untilgreen.workspace.git.command import Git, split

MOST_PATHS = 100
TREE = b"040000"
_TYPES = {TREE: b"tree", b"160000": b"commit"}

Entries = dict[bytes, tuple[bytes, bytes]]
"""The entries of a directory: mode and object by name."""


class NotPatchable(Exception):
    """These changes are not simple enough."""


async def patched_tree(git: Git, tree: str, paths: Sequence[bytes]) -> str:
    """The tree with these paths as they are on disk now."""
    if not paths:
        return tree
    if len(paths) > MOST_PATHS or await _ignores_modes(git):
        raise NotPatchable
    found = {path: _mode(os.fsencode(git.place) + b"/" + path) for path in paths}
    objects = await _written(git, [path for path, mode in found.items() if mode])
    folders = sorted({above for path in paths for above in _above(path)})
    listed = await _listed(git, tree, folders)
    for path, mode in found.items():
        _change(listed, path, (mode, objects[path]) if mode else None)
    return await _made(git, listed)


def times(git: Git, paths: Iterable[bytes]) -> list[tuple[int, ...] | None]:
    """Values that change if a file is written in between."""
    return [_times(os.fsencode(git.place) + b"/" + path) for path in paths]


async def _ignores_modes(git: Git) -> bool:
    said = await git.attempt("config", "--type=bool", "--get-regexp", r"^core\.(filemode|symlinks)$")
    return b"false" in said.stdout


def _mode(path: bytes) -> bytes | None:
    try:
        found = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found) or b"\n" in path or b'"' in path:
        raise NotPatchable
    return b"100755" if found & stat.S_IXUSR else b"100644"


def _times(path: bytes) -> tuple[int, ...] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


async def _written(git: Git, paths: Sequence[bytes]) -> dict[bytes, bytes]:
    given = b"".join(path + b"\n" for path in paths)
    objects = (await git("hash-object", "-w", "--stdin-paths", given=given)).split() if paths else []
    return dict(zip(paths, objects, strict=True))


def _above(path: bytes) -> list[bytes]:
    """The directories above a path, each ending in a slash except the top."""
    parts = path.split(b"/")[:-1]
    return [b"".join(part + b"/" for part in parts[:depth]) for depth in range(len(parts) + 1)]


async def _listed(git: Git, tree: str, folders: Sequence[bytes]) -> dict[bytes, Entries]:
    """The entries of the directories; `_made` adds changed subdirectories."""
    listed: dict[bytes, Entries] = {folder: {} for folder in folders}
    lines = split(await git("ls-tree", "-z", tree))
    if below := [b":(literal)" + folder for folder in folders if folder]:
        lines += split(await git("ls-tree", "-z", tree, "--", *below))
    for line in lines:
        facts, path = line.split(b"\t", 1)
        mode, _, identity = facts.split(b" ")
        folder, _, name = path.rpartition(b"/")
        within = folder + b"/" if folder else b""
        if path + b"/" in listed:
            if mode != TREE:
                raise NotPatchable
        elif within in listed:
            listed[within][name] = (mode, identity)
    return listed


def _change(listed: dict[bytes, Entries], path: bytes, entry: tuple[bytes, bytes] | None) -> None:
    folder, _, name = path.rpartition(b"/")
    entries = listed[folder + b"/" if folder else b""]
    if entries.get(name, (b"",))[0] in _TYPES or path + b"/" in listed:
        raise NotPatchable
    if entry is None:
        entries.pop(name, None)
    else:
        entries[name] = entry


async def _made(git: Git, listed: dict[bytes, Entries]) -> str:
    """Write trees from the deepest directories up; empty ones are dropped."""
    made = b""
    for depth in sorted({folder.count(b"/") for folder in listed}, reverse=True):
        level = [folder for folder in listed if folder.count(b"/") == depth and listed[folder]]
        given = b"\0".join(
            b"".join(
                b"%s %s %s\t%s\0" % (mode, _TYPES.get(mode, b"blob"), identity, name)
                for name, (mode, identity) in listed[folder].items()
            )
            for folder in level
        )
        if not level:
            continue
        objects = (await git("mktree", "-z", "--batch", "--missing", given=given)).split()
        for folder, made in zip(level, objects, strict=True):
            if folder:
                above, _, name = folder[:-1].rpartition(b"/")
                listed[above + b"/" if above else b""][name] = (TREE, made)
    if not listed[b""]:
        raise NotPatchable
    return made.decode()
