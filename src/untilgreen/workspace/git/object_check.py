"""Checks that git's objects match their names.

git trusts its own files: an agent that can write them could overwrite the object of an original, and git
would return the new content under the old name. A name is a hash of the content, so it is computed again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git.command import Git, split
from untilgreen.workspace.git.loose_objects import object_name

AT_ONCE = 64_000_000
"""How many bytes are read with one command, unless a single object is larger."""
LINK = b"120000"
"""The mode of a link in a listing of git."""
_SMALL = 1 << 15
"""Most files have fewer bytes; reading those in one call is cheaper than opening a file object."""


async def check_trees(git: Git, tree: str) -> None:
    """Check a tree and all trees below it, which say which path has which content, but not the contents."""
    listed = [each for each in await _entries(git, tree, "-d") if each.kind == b"tree"]
    await _check(git, [_Entry(b"tree", tree.encode(), 0), *listed])


async def check_all(git: Git, tree: str) -> None:
    """Check a tree, all trees below it, and every content; submodules are stored elsewhere."""
    listed = [each for each in await _entries(git, tree, "-l") if each.kind != b"commit"]
    await _check(git, [_Entry(b"tree", tree.encode(), 0), *listed])


async def check_files(git: Git, tree: str, pattern: str) -> None:
    """Check the contents of files whose path matches a pattern such as `*.go`."""
    await _check(git, [each for each in await _entries(git, tree, "-l", pattern) if each.kind == b"blob"])


async def check_written(git: Git, tree: str, place: Path) -> None:
    """Like `check_all`, after the tree was written into a directory: its files are far cheaper to read.

    A file that does not match its name may have been changed by a filter; then the object itself is checked.
    """
    listed = split(await git("ls-tree", "-r", "-t", "-z", tree))
    folders, other = await to_thread.run_sync(_other_on_disk, listed, place)
    await _check(git, [_Entry(b"tree", tree.encode(), 0), *folders, *other])


def _other_on_disk(listed: Sequence[bytes], place: Path) -> tuple[list[_Entry], list[_Entry]]:
    """The directories of a tree, and the files that on disk do not match their names."""
    top, folders, other = os.fsencode(place), [], []
    for line in listed:
        about, _, path = line.partition(b"\t")
        mode, kind, name = about.split()
        if kind == b"tree":
            folders.append(_Entry(kind, name, 0))
        if kind != b"blob":
            continue
        content = _on_disk(b"%s/%s" % (top, path), mode == LINK)
        if content is None or object_name(kind, content, len(name)) != name:
            other.append(_Entry(kind, name, len(content or b"")))
    return folders, other


def _on_disk(path: bytes, is_link: bool) -> bytes | None:
    try:
        if is_link:
            return os.readlink(path)  # noqa: PTH115 - bytes
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            content = os.read(descriptor, _SMALL)
            if len(content) < _SMALL:
                return content
            with open(descriptor, "rb", closefd=False) as file:
                return content + file.read()
        finally:
            os.close(descriptor)
    except OSError:
        return None


async def content_of(git: Git, snapshot: str, path: str) -> bytes | None:
    """The content of a file in a tree; None if there is no file at that path."""
    asked = f"{snapshot}:{path}"
    found = await git.attempt("cat-file", "blob", asked)
    if found.returncode:
        return None
    _compare((await git("rev-parse", asked)).strip(), b"blob", found.stdout)
    return found.stdout


class _Entry(NamedTuple):
    kind: bytes
    name: bytes
    size: int


async def _entries(git: Git, tree: str, how: str, pattern: str = "*") -> list[_Entry]:
    found, fits = [], os.fsencode(pattern)
    for line in split(await git("ls-tree", "-r", "-t", "-z", how, tree)):
        about, _, path = line.partition(b"\t")
        _, kind, name, *size = about.split()
        if fnmatchcase(path, fits):
            found.append(_Entry(kind, name, int(size[0]) if size and size[0].isdigit() else 0))
    return found


async def _check(git: Git, entries: Sequence[_Entry]) -> None:
    for names in _portions({each.name: each.size for each in entries}):
        printed = await git("cat-file", "--batch", given=b"".join(name + b"\n" for name in names))
        _compare_all(names, printed)


def _portions(sizes: Mapping[bytes, int]) -> Iterator[list[bytes]]:
    names: list[bytes] = []
    size = 0
    for name, each in sizes.items():
        if names and size + each > AT_ONCE:
            yield names
            names, size = [], 0
        names.append(name)
        size += each
    if names:
        yield names


def _compare_all(names: Sequence[bytes], printed: bytes) -> None:
    at = 0
    for name in names:
        end = printed.index(b"\n", at)  # each is printed as a line about it, its content, and a newline
        _, kind, *size = printed[at:end].split()
        if not size:
            raise WorkspaceNotReady(_wrong(name, "is missing"))
        at = end + 1 + int(size[0])
        _compare(name, kind, printed[end + 1 : at])
        at += 1


def _compare(name: bytes, kind: bytes, content: bytes) -> None:
    if object_name(kind, content, len(name)) != name:
        raise WorkspaceNotReady(_wrong(name, "does not match its name"))


def _wrong(name: bytes, what: str) -> str:
    return (
        f"The object {name.decode()} of the repository {what}: somebody changed git's own files. "
        "Check with `git fsck`, and restore the object from another clone."
    )
