"""Starts the private index as a copy of the user's, so unchanged files are not read again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from untilgreen.workspace.git.command import Git, joined, split
from untilgreen.workspace.git.private_index import SUBMODULE
from untilgreen.workspace.git.private_repository import PrivateRepository

REGULAR = (b"100644", b"100755")


class Entry(NamedTuple):
    """One line of `git ls-files --stage -v`."""

    tag: bytes
    mode: bytes
    object: bytes
    stage: bytes
    path: bytes

    @property
    def unwatched(self) -> bool:
        """The user told git to assume that this file never changes."""
        return self.tag.islower()

    @property
    def skipped(self) -> bool:
        """Outside a sparse checkout, or told to be left alone."""
        return self.tag in b"Ss"


async def seed(private: PrivateRepository, git: Git) -> None:
    """Make the private index if there is none yet; a crash midway leaves none."""
    if private.index.exists() or private.repository.git_dir == private.path:
        return
    beginning = private.index.with_name("seed")
    beginning.unlink(missing_ok=True)
    git = git.with_index(beginning)
    await _copy(private, git, beginning)
    if not beginning.exists():
        return
    entries = await _entries(git)
    top = os.fsencode(private.repository.top)
    await _watch(git, top, entries)
    await _read_again(git, top, entries)
    # A copied or touched file has a new time and the same bytes: read it now, not at every snapshot.
    await git.attempt("update-index", "-q", "--refresh")
    beginning.replace(private.index)


async def submodules(git: Git) -> tuple[bytes, ...]:
    """The paths of submodules."""
    listed = split(await git("ls-files", "-z", "--stage"))
    return tuple(line.split(b"\t", 1)[1] for line in listed if line.startswith(SUBMODULE))


async def _copy(private: PrivateRepository, git: Git, to: Path) -> None:
    if private.repository.index.exists():
        # With its time: git reads files again that are not older than the index.
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
    listed = []
    for line in split(await git("ls-files", "-z", "--stage", "-v")):
        facts, path = line.split(b"\t", 1)
        tag, mode, object_id, stage = facts.split(b" ")
        listed.append(Entry(tag, mode, object_id, stage, path))
    return listed


async def _watch(git: Git, top: bytes, entries: Iterable[Entry]) -> None:
    """Notice changes even in files the user told git to ignore (assume-unchanged, skip-worktree)."""
    unwatched = [entry.path for entry in entries if entry.unwatched]
    skipped = [entry.path for entry in entries if entry.skipped and _size(top, entry.path) is not None]
    for option, paths in (("--no-assume-unchanged", unwatched), ("--no-skip-worktree", skipped)):
        if paths:
            await git("update-index", option, "-z", "--stdin", given=joined(paths))


async def _read_again(git: Git, top: bytes, entries: Iterable[Entry]) -> None:
    """Record files whose bytes on disk differ from git's, such as line endings, as they are on disk."""
    plain = [
        entry for entry in entries if entry.mode in REGULAR and entry.stage == b"0" and not entry.skipped
    ]
    asked = b"".join(entry.object + b"\n" for entry in plain)
    sizes = (await git("cat-file", "--batch-check=%(objectsize)", "--buffer", given=asked)).split(b"\n")
    unlike = await anyio.to_thread.run_sync(_of_other_size, top, list(zip(plain, sizes, strict=False)))
    filtered = await _filtered(git, [entry.path for entry in unlike])
    lines = [
        b"%s %s 0\t%s" % (entry.mode, entry.object, entry.path)
        for entry in unlike
        if entry.path not in filtered
    ]
    if lines:
        await git("update-index", "-z", "--index-info", given=joined(lines))


def _of_other_size(top: bytes, sized: list[tuple[Entry, bytes]]) -> list[Entry]:
    unlike = []
    for entry, size in sized:
        on_disk = _size(top, entry.path)
        if on_disk is not None and size != b"%d" % on_disk:
            unlike.append(entry)
    return unlike


def _size(top: bytes, path: bytes) -> int | None:
    try:
        return os.lstat(top + b"/" + path).st_size
    except OSError:
        return None


async def _filtered(git: Git, paths: list[bytes]) -> set[bytes]:
    """Those whose size differs because of a filter, which keeps running."""
    if not paths:
        return set()
    answers = split(await git("check-attr", "-z", "--stdin", "filter", given=joined(paths)))
    return {
        path
        for path, value in zip(answers[::3], answers[2::3], strict=True)
        if value not in (b"unspecified", b"unset")
    }
