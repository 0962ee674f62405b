"""Temporarily swaps other files into the workspace; its own are put back, even after a crash.

Files in a snapshot are restored from it. Other files are moved into the run's folder and back.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

import msgspec
from anyio import CancelScope, to_thread
from msgspec import Struct

from untilgreen.crash_points import passing
from untilgreen.ports import Restoration
from untilgreen.workspace.rmtree import remove_tree, replace_file

LABEL = "before-in-place"


class Snapshots(Protocol):
    """What takes and restores the snapshots."""

    async def snapshot(self, label: str) -> str:
        """Keep the files as they are."""

    async def restore(self, snapshot: str, known: str | None) -> Restoration:
        """Put the files back as they were."""


class Note(Struct, frozen=True, kw_only=True):
    """What has to be put back, written before the first file is touched."""

    top: str
    before: str
    aside: tuple[str, ...]


class InPlace:
    """One exchange of files at a time."""

    def __init__(self, private: Path) -> None:
        self._note = private / "in-place.json"
        self._aside = private / "aside"
        self._held = False

    @asynccontextmanager
    async def hold(
        self,
        snapshots: Snapshots,
        top: Path,
        tree: str,
        *,
        parts: Mapping[str, bytes],
        aside: Collection[str],
    ) -> AsyncIterator[None]:
        """Hold the files of `tree` and these parts in the workspace, without the paths in `aside`."""
        before = await snapshots.snapshot(LABEL)
        there = await to_thread.run_sync(_existing, top, aside)
        note = Note(top=str(top), before=before, aside=there)
        await to_thread.run_sync(_write_down, self._note, msgspec.json.encode(note))
        self._held = True
        try:
            passing("in-place", "before", "files")
            await to_thread.run_sync(_move_aside, note, self._aside)
            await snapshots.restore(tree, None)
            await to_thread.run_sync(_put_parts, top, parts)
            passing("in-place", "after", "files")
            yield
        finally:
            with CancelScope(shield=True):
                await self._return(snapshots, note)
            self._held = False

    async def recover(self, snapshots: Snapshots) -> None:
        """Put back what a dead driver moved aside, if anything."""
        if self._held:
            return
        try:
            note = msgspec.json.decode(self._note.read_bytes(), type=Note)
        except FileNotFoundError:
            return
        self._held = True
        try:
            with CancelScope(shield=True):
                await self._return(snapshots, note)
        finally:
            self._held = False

    async def _return(self, snapshots: Snapshots, note: Note) -> None:
        """Put everything back; each step can be repeated."""
        passing("in-place", "before", "return")
        await snapshots.restore(note.before, None)
        await to_thread.run_sync(_move_back, note, self._aside)
        self._note.unlink()
        passing("in-place", "after", "return")


def _write_down(note: Path, content: bytes) -> None:
    """Write the note to disk before anything moves."""
    replace_file(note, content)
    for path in (note, note.parent):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _existing(top: Path, paths: Collection[str]) -> tuple[str, ...]:
    """The existing paths, without those below another one, and without git's own files."""
    names = sorted({path.rstrip("/") for path in paths})
    chosen: list[str] = []
    for name in names:
        if name.startswith("/") or name.split("/")[0] == ".git" or not os.path.lexists(top / name):
            continue
        if any(_in_the_way(top, name)):
            continue
        if not any(name.startswith(f"{each}/") for each in chosen):
            chosen.append(name)
    return tuple(chosen)


def _move_aside(note: Note, aside: Path) -> None:
    if aside.exists():
        remove_tree(aside)
    for path in note.aside:
        _carry(Path(note.top, path), aside / path)


def _move_back(note: Note, aside: Path) -> None:
    """Put the files back, replacing what a gate may have created in their place or on the way there."""
    for path in note.aside:
        if os.path.lexists(aside / path):
            for made in _in_the_way(Path(note.top), path):
                made.unlink()
            _carry(aside / path, Path(note.top, path))
    if aside.exists():
        remove_tree(aside)


def _in_the_way(top: Path, path: str) -> Iterator[Path]:
    """Files and links among the parent directories of a path; a link may lead out of the workspace."""
    for folder in reversed(PurePosixPath(path).parents):
        place = top / folder
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            yield place


def _carry(source: Path, target: Path) -> None:
    """Move a path; across disks it is first copied next to its target, so what is there is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear(target)
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        part = target.with_name(f"{target.name}.part")
        _clear(part)
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, part, symlinks=True)
        else:
            shutil.copy2(source, part, follow_symlinks=False)
        part.rename(target)
        _clear(source)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _put_parts(top: Path, parts: Mapping[str, bytes]) -> None:
    for name, content in parts.items():
        if not any(_in_the_way(top, name)):  # an original, where the agent made a directory
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            replace_file(top / name, content)
