"""Copies of a tree in which gates can run: with files put back, and with what git does not keep linked in."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import CancelScope, to_thread

from untilgreen.gates.integrity.names import CACHES
from untilgreen.gates.integrity.tampering import Kept, Tampering

_PATHS = ("PATH", "PYTHONPATH", "NODE_PATH", "VIRTUAL_ENV", "CLASSPATH")


@dataclass(frozen=True, kw_only=True)
class Copy:
    """One copy: where it is, and what it is a copy of."""

    path: Path
    top: Path

    def relocated(self, value: Any) -> Any:
        """Options of a gate with the workspace's own path replaced: `cd /there` would miss the copy."""
        match value:
            case str():
                return re.sub(rf"{re.escape(str(self.top))}(?![\w.-])", lambda _: str(self.path), value)
            case list():
                return [self.relocated(each) for each in value]
            case dict():
                return {key: self.relocated(each) for key, each in value.items()}
            case _:
                return value

    def env(self) -> dict[str, str]:
        """Variables that lead to the copy, and git away from repositories around it."""
        found = {name: os.environ[name] for name in _PATHS if str(self.top) in os.environ.get(name, "")}
        moved: dict[str, str] = self.relocated(found)
        return moved | {"GIT_CEILING_DIRECTORIES": str(self.path.parent)}


class Copies:
    """Copies of one tree, in a private directory that is gone afterwards."""

    def __init__(self, kept: Kept, snapshot: str, found: Tampering, scratch: Path) -> None:
        self._kept = kept
        self._snapshot = snapshot
        self._found = found
        self._scratch = scratch

    @asynccontextmanager
    async def as_it_is(self, name: str) -> AsyncIterator[Copy]:
        """The tree without any change."""
        async with self._made(name, (), ()) as copy:
            yield copy

    @asynccontextmanager
    async def put_back(self, name: str, taken_out: Collection[str] = ()) -> AsyncIterator[Copy]:
        """The tree with the originals in their places, and some new files taken out."""
        found = self._found
        async with self._made(name, found.paths | set(taken_out), found.hidden) as copy:
            for path, content in found.overlays.items():
                await to_thread.run_sync(_put, copy.path / path, content)
            yield copy

    @asynccontextmanager
    async def _made(self, name: str, paths: Collection[str], hidden: Collection[str]) -> AsyncIterator[Copy]:
        into = self._scratch / name
        top = await self._kept.top()
        try:
            await to_thread.run_sync(_anew, into)
            await self._kept.export(self._snapshot, into, originals=self._found.original, paths=paths)
            unkept = await self._kept.unkept()
            await to_thread.run_sync(_link, top, into, [path for path in unkept if path not in hidden])
            yield Copy(path=into, top=top)
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(_remove, self._scratch)


def _anew(into: Path) -> None:
    """What a driver that was killed left there is in nobody's use."""
    _remove(into.parent)
    into.mkdir(parents=True, mode=0o700)


def _put(path: Path, content: bytes) -> None:
    """In place of what lies there: a link of the agent's would lead out of the copy."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _link(top: Path, into: Path, paths: Iterable[str]) -> None:
    for path in paths:
        name = path.rstrip("/")
        if CACHES & set(name.split("/")) or name.endswith((".pyc", ".pyo")):
            continue
        link = into / name
        if not _real(link.parent).is_relative_to(_real(into)):
            continue  # what is a directory now was a link out of the copy in the tree
        if link.is_dir() and not link.is_symlink() and not any(link.iterdir()):
            link.rmdir()  # a submodule, which an export leaves empty
        if not link.is_symlink() and not link.exists() and (top / name).exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(top / name)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _remove(path: Path) -> None:
    """Also what was made read-only: tests of permissions leave such things."""
    if not path.exists():
        return
    for folder, _, _ in os.walk(path):
        Path(folder).chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)
