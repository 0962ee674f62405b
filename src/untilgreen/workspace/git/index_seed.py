"""Starts the private index as a copy of the user's, so unchanged files are not read again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import anyio.to_thread

from untilgreen.regex import regex
from untilgreen.workspace.git.command import Git, joined, split
from untilgreen.workspace.git.private_repository import PrivateRepository
from untilgreen.workspace.git.tree_diff import SUBMODULE
from untilgreen.workspace.git.tree_patch import filtered

REGULAR = (b"100644", b"100755")
ORDINARY = b"H"
"""What `git ls-files -v` prints before a file without flags; in lower case, one that is assumed unchanged."""
SKIPPED = (b"S", b"s")
"""The same before a file outside a sparse checkout, or one that git was told to leave alone."""
CONVERTING = frozenset({b"text", b"crlf", b"eol", b"ident", b"working-tree-encoding", b"filter"})
"""Attributes that, unless unset, make a checkout write other bytes than git stores."""
_SUBMODULE_MODE = int(SUBMODULE, 8).to_bytes(4, "big")
"""The mode as every version of the index file stores it."""
_SUBMODULE = regex(rb"(?:\A|\0)%s [^\t]*\t([^\0]+)" % SUBMODULE)


_ENTRY = regex(rb"(.) (\d+) (\w+) (\d)\t([^\0]+)\0")
"""Tag, mode, object, stage and path, as `git ls-files --stage -v -z` prints them."""

Entry = tuple[bytes, bytes, bytes, bytes, bytes]


async def seed(private: PrivateRepository, git: Git) -> bool:
    """Make the private index if there is none yet; a crash midway leaves none.

    Returns whether git just compared all of its files with the disk and found no difference.
    """
    if private.index.exists() or private.repository.git_dir == private.path:
        return False
    beginning = await _begun(private, git)
    if not beginning.exists():
        return False
    git = git.with_index(beginning)
    entries = await _entries(git)
    top = os.fsencode(private.repository.top)
    await _watch(git, top, entries)
    await _read_again(git, top, entries)
    # A copied or touched file has a new time and the same bytes: read it now, not at every snapshot.
    refreshed = await refresh(git)
    beginning.replace(private.index)
    return refreshed


async def adopt(private: PrivateRepository, git: Git) -> bool:
    """Make the private index of a work tree that git alone has just written, without reading its files.

    Returns False, and makes none, if there is one already, or if git may have written other bytes than it
    stores, such as line endings.
    """
    if private.index.exists() or not private.repository.index.exists() or await _converts(private.users):
        return False
    (await _begun(private, git)).replace(private.index)
    return True


async def refresh(git: Git) -> bool:
    """Record the new times of files whose bytes are unchanged; returns whether all files are."""
    return not (await git.attempt("update-index", "--refresh")).returncode


async def submodules(git: Git, index: Path | None = None) -> tuple[bytes, ...]:
    """The paths of submodules in git's index; given `index`, git is asked only if that file may list any."""
    if index is not None and not await anyio.to_thread.run_sync(_may_have_submodules, index):
        return ()
    listed = await git("ls-files", "-z", "--stage")
    return tuple(_SUBMODULE.findall(listed)) if SUBMODULE in listed else ()


async def _converts(git: Git) -> bool:
    """Whether settings or attributes may make bytes on disk differ from those in git."""
    asked = await git.attempt("config", "--get", "core.autocrlf")
    if asked.stdout.strip() not in (b"", b"false"):
        return True
    paths = await git("ls-files", "-z")
    told = split(await git("check-attr", "-z", "--stdin", "--all", given=paths))
    return any(
        name in CONVERTING and value != b"unset" for name, value in zip(told[1::3], told[2::3], strict=True)
    )


async def _begun(private: PrivateRepository, git: Git) -> Path:
    """Start the private index as a copy of the user's, under another name until it is ready."""
    beginning = private.index.with_name("seed")
    beginning.unlink(missing_ok=True)
    await _copy(private, git.with_index(beginning), beginning)
    return beginning


def _may_have_submodules(index: Path) -> bool:
    """Whether the index file, or the other half of a split index, may list a submodule."""
    try:
        return _SUBMODULE_MODE in index.read_bytes() or any(index.parent.glob("sharedindex.*"))
    except FileNotFoundError:
        return False


async def _copy(private: PrivateRepository, git: Git, to: Path) -> None:
    if private.repository.index.exists():
        # Keep its time: git reads files again that are not older than the index.
        shutil.copy2(private.repository.index, to)
        await _join(private, git)
        return
    head = await private.users.attempt("rev-parse", "--verify", "--quiet", "HEAD^{tree}")
    if head.returncode == 0:
        await git("read-tree", head.stdout.decode().strip())


async def _join(private: PrivateRepository, git: Git) -> None:
    """The user's index may be split in two files, and the shared one may be removed."""
    halves = [
        Path(shutil.copy2(half, private.path / half.name))
        for half in private.repository.index.parent.glob("sharedindex.*")
    ]
    if halves:
        await git("update-index", "--no-split-index")
    for half in halves:
        half.unlink()


async def _entries(git: Git) -> list[Entry]:
    return _ENTRY.findall(await git("ls-files", "-z", "--stage", "-v"))


async def _watch(git: Git, top: bytes, entries: Iterable[Entry]) -> None:
    """Notice changes even in files the user told git to ignore (assume-unchanged, skip-worktree)."""
    marked = [(tag, path) for tag, _, _, _, path in entries if tag != ORDINARY]
    unwatched = [path for tag, path in marked if tag.islower()]
    skipped = [path for tag, path in marked if tag in SKIPPED and _size(top, path) is not None]
    for option, paths in (("--no-assume-unchanged", unwatched), ("--no-skip-worktree", skipped)):
        if paths:
            await git("update-index", option, "-z", "--stdin", given=joined(paths))


async def _read_again(git: Git, top: bytes, entries: Iterable[Entry]) -> None:
    """Record files whose bytes on disk differ from git's, such as line endings, as they are on disk."""
    plain = [
        (mode, name, path)
        for tag, mode, name, stage, path in entries
        if mode in REGULAR and stage == b"0" and tag not in SKIPPED
    ]
    asked = b"\n".join([*(name for _, name, _ in plain), b""])
    sizes = (await git("cat-file", "--batch-check=%(objectsize)", "--buffer", given=asked)).split(b"\n")
    differing = await anyio.to_thread.run_sync(_of_other_size, top, [path for _, _, path in plain], sizes)
    unlike = differing - await filtered(git, differing)
    lines = [b"%s %s 0\t%s" % entry for entry in plain if entry[2] in unlike] if unlike else []
    if lines:
        await git("update-index", "-z", "--index-info", given=joined(lines))


def _of_other_size(top: bytes, paths: Iterable[bytes], sizes: Iterable[bytes]) -> set[bytes]:
    return {
        path
        for path, size in zip(paths, sizes, strict=False)
        if (on_disk := _size(top, path)) is not None and size != b"%d" % on_disk
    }


def _size(top: bytes, path: bytes) -> int | None:
    try:
        return os.lstat(top + b"/" + path).st_size
    except OSError:
        return None
