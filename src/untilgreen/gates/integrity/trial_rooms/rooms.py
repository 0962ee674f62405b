"""Rooms for gates to run in: a tree in a fresh directory, from which nothing outside is written.

If the machine supports it, commands see the room at the workspace's own path, so that absolute paths,
editable installs and configured build directories lead into it; files that snapshots don't contain show
through from below, and writes stay in the room. Otherwise the room is an ordinary directory with copies of
such files; if there is too much to copy, it is the workspace itself, whose files are moved aside and back.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from anyio import CancelScope, to_thread
from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.gates.integrity.trees import Trees
from untilgreen.gates.integrity.trial_rooms.file_copies import Copier, too_much
from untilgreen.gates.integrity.trial_rooms.unkept_files import (
    Compared,
    Marks,
    compare,
    git_files,
    is_cache,
    repository_of,
)
from untilgreen.ports import Overlay, RoomView
from untilgreen.process.run import run
from untilgreen.process.sandbox.room import hide_below
from untilgreen.process.sandbox.room_probe import rooms_work

_PATHS = ("PATH", "PYTHONPATH", "NODE_PATH", "VIRTUAL_ENV", "CLASSPATH")


class Room(Struct, frozen=True, kw_only=True):
    """One room: where it is, which path it replaces, and what it leaves out of the workspace."""

    path: Path
    top: Path
    view: RoomView | None = None
    """None if commands see it at its own path only."""
    hidden: tuple[str, ...] = ()
    """Paths that snapshots don't contain and that changed since before the first lap."""
    caches: tuple[str, ...] = ()
    """Caches of tools, which no room shows."""
    too_large: tuple[str, ...] = ()
    """Paths that are missing because copying them would take too much."""
    in_place: bool = False
    """Whether it is the workspace itself, temporarily."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Everything in the workspace that gates do not find here, unless the spec keeps it."""
        return (*self.hidden, *self.caches)

    def relocated(self, value: Any) -> Any:
        """A gate's options with the workspace's own path replaced: `cd /there` would leave the room."""
        if self.view is not None:
            return value
        match value:
            case str():
                return re.sub(rf"{re.escape(str(self.top))}(?![\w.-])", lambda _: str(self.path), value)
            case list():
                return [self.relocated(each) for each in value]
            case dict():
                return {key: self.relocated(each) for key, each in value.items()}
            case _:
                return value

    def shown(self, text: str) -> str:
        """What a gate printed, without the paths of the room."""
        return text.replace(f"{self.path}/", "").replace(f"{self.top}/", "")

    def env(self) -> dict[str, str]:
        """Variables that point to the room, and keep git away from repositories around it."""
        if self.view is not None or self.in_place:
            return {}
        found = {name: os.environ[name] for name in _PATHS if str(self.top) in os.environ.get(name, "")}
        moved: dict[str, str] = self.relocated(found)
        return moved | {"GIT_CEILING_DIRECTORIES": str(self.path.parent)}


class Contents(Struct, frozen=True, kw_only=True):
    """What a room contains: a tree, with some paths from another tree, and some parts of files."""

    snapshot: str
    originals: str = ""
    paths: Collection[str] = ()
    overlays: Mapping[str, bytes] = field(default_factory=dict)
    hidden: Collection[str] = ()
    """Files in no snapshot that are left out."""
    unkept_as_is: bool = False
    """Whether all files that snapshots don't contain are shown as they are now."""


class Rooms(Struct, frozen=True, kw_only=True):
    """Makes rooms, one at a time, in a private directory that is gone afterwards."""

    trees: Trees
    scratch: Path
    before: Marks | None = None
    """Files that snapshots don't contain, as they were before the first lap."""
    keep: Collection[str] = ()
    """Patterns of unkept paths that are shown as they are."""
    at_home: bool = True
    """Whether commands see a room at the workspace's own path, where the machine can do that."""
    in_place: bool = False
    """Whether the workspace itself may be used where there is too much to copy."""

    @asynccontextmanager
    async def open(self, name: str, contents: Contents) -> AsyncIterator[Room]:
        """A room with these contents, until the end of the block."""
        into = self.scratch / name
        try:
            await to_thread.run_sync(_make_empty, into)
            async with AsyncExitStack() as while_open:
                yield await self._make(into, contents, while_open)
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(_remove, self.scratch)

    async def _make(self, into: Path, contents: Contents, while_open: AsyncExitStack) -> Room:
        top = _real(await self.trees.top())
        unkept = [path for path in await self.trees.unkept() if path not in contents.hidden]
        before = None if contents.unkept_as_is else self.before
        found = await to_thread.run_sync(compare, top, [*unkept, *git_files(top)], before, self.keep)
        left = tuple(path for path in unkept if is_cache(path, self.keep) and not path.endswith(".git/"))
        room = Room(path=into, top=top, hidden=tuple(found.hidden), caches=left)
        at_home = self.at_home and await rooms_work(self.scratch)
        if self.in_place and not at_home and await to_thread.run_sync(too_much, into, top, found.shown):
            aside = {*unkept, *contents.hidden, *found.hidden} - set(found.shown)
            await while_open.enter_async_context(
                self.trees.in_place(
                    contents.snapshot,
                    originals=contents.originals,
                    paths=contents.paths,
                    parts=contents.overlays,
                    aside=aside,
                )
            )
            return replace(room, path=top, in_place=True)
        await self.trees.export(contents.snapshot, into, originals=contents.originals, paths=contents.paths)
        await to_thread.run_sync(_put_parts, into, contents.overlays)
        if at_home:
            view = await to_thread.run_sync(_view, room, found)
            if view.hidden:  # only once: the next gate may find what a gate makes there
                await run(("true",), cwd=into, view=view, fence=False)
            return replace(room, view=replace(view, hidden=()))
        return replace(room, too_large=await to_thread.run_sync(_copies, room, found))


def _view(room: Room, found: Compared) -> RoomView:
    """The room laid over the workspace, of which it shows only files that snapshots don't contain."""
    top, beside = room.top, room.path.parent
    repository = repository_of(top)
    shown = {path.rstrip("/") for path in found.shown if not path.startswith("/")}
    overlays = [(top, room.path)]
    overlays += [(top / path, beside / "mounted" / path) for path in shown if _is_mounted(top, path)]
    if repository == top / ".git":
        shown.add(".git")
    elif repository is not None:
        shown.add(".git")
        overlays.append((repository, beside / "git"))
    outside = os.environ.get("VIRTUAL_ENV", "")
    if outside.startswith("/") and _lies_apart(Path(outside), top):
        overlays.append((_real(Path(outside)), beside / "environment"))
    around = {folder for path in shown for folder in _folders(path)}
    covered = list(_covered(room, "", shown, around))
    changed = [path for path in found.hidden if _shows_through(room, path, around)]
    stash = beside / "stash"
    stash.mkdir(exist_ok=True)
    made = []
    for number, (place, upper) in enumerate(overlays):
        work = beside / "work" / str(number)
        for folder in (upper, work):
            folder.mkdir(parents=True, exist_ok=True)
        made.append(Overlay(path=place, upper=upper, work=work))
    hidden = tuple(top / path for path in (*covered, *changed))
    return RoomView(place=room.path, at=top, stash=stash, overlays=tuple(made), hidden=hidden)


def _covered(room: Room, folder: str, shown: Collection[str], around: Collection[str]) -> Iterator[str]:
    """Paths of the workspace that have to be hidden; the room's own directories hide what is below them."""
    for entry in os.scandir(room.top / folder):
        path, is_folder = f"{folder}{entry.name}", entry.is_dir(follow_symlinks=False)
        own = room.path / path
        if path in shown and (not os.path.lexists(own) or (own.is_dir() and not any(own.iterdir()))):
            continue
        if path in around and is_folder and not os.path.lexists(own):
            own.mkdir()
        if not os.path.lexists(own):
            yield path
        elif is_folder and own.is_dir() and not own.is_symlink():
            if path in around:
                yield from _covered(room, f"{path}/", shown, around)
            else:
                hide_below(own)


def _shows_through(room: Room, path: str, around: Collection[str]) -> bool:
    """Whether the workspace's path shows here: the room has nothing there, and no file or link above it."""
    if path.startswith("/"):
        return True
    path = path.rstrip("/")
    if _is_cut_off(room.path, path):
        return False
    own = room.path / path
    if own.is_dir() and not own.is_symlink() and path not in around:
        hide_below(own)
    return not os.path.lexists(own)


def _is_cut_off(room: Path, path: str) -> bool:
    """Whether a parent directory of the path is a file or a link, such as a restored original."""
    return any((room / folder).is_symlink() or (room / folder).is_file() for folder in _folders(path))


def _folders(path: str) -> Iterator[str]:
    """The directories around a path."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _is_mounted(top: Path, path: str) -> bool:
    """Whether a file system is mounted there, such as a volume, which an overlay does not show."""
    place = top / path
    try:
        return place.is_dir() and place.lstat().st_dev != top.lstat().st_dev
    except OSError:
        return False


def _copies(room: Room, found: Compared) -> tuple[str, ...]:
    """Copy the files that snapshots don't contain; returns those that were too large to copy."""
    copier = Copier(room.top, room.path, frozenset(found.hidden))
    for path in found.shown:
        if not path.startswith("/") and _has_place(room.path, path):
            copier.copy(path)
    return tuple(copier.too_large)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _has_place(room: Path, path: str) -> bool:
    """Whether a path can be added: no link may lead out of the room, and no file may be in the way."""
    place = room / path.rstrip("/")
    if not _real(place.parent).is_relative_to(_real(room)):
        return False
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        return False
    return not place.exists() or not any(place.iterdir())  # an export leaves a submodule empty


def _lies_apart(path: Path, top: Path) -> bool:
    real = _real(path)
    return real.is_dir() and not real.is_relative_to(top) and not top.is_relative_to(real)


def _make_empty(into: Path) -> None:
    """Make a directory, after removing what a killed driver left around it."""
    _remove(into.parent)
    into.mkdir(parents=True, mode=0o700)


def _put_parts(room: Path, parts: Mapping[str, bytes]) -> None:
    """Write these files in place of what is there: an agent's link would lead out of the room."""
    for name, content in parts.items():
        if _is_cut_off(room, name):
            continue
        (room / name).unlink(missing_ok=True)
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_bytes(content)


def _remove(path: Path) -> None:
    """Remove even what is read-only: tests of permissions leave such files, and so do overlays."""
    shutil.rmtree(path, ignore_errors=True)
    if not path.exists():
        return
    for folder, _, _ in os.walk(path):
        with suppress(OSError):
            Path(folder).chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)
