"""The trees of a run, as this package reads them: a protocol that a workspace implements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from untilgreen.core.values.model import Change


class Trees(Protocol):
    """The trees of a run, to read and to write elsewhere; paths are relative to the top of the tree."""

    async def top(self) -> Path:
        """The directory of the tree."""

    async def first(self) -> str:
        """The tree that the first turn started from."""

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ."""

    async def files(self, snapshot: str) -> Mapping[str, bool]:
        """Every path in a tree, and whether it is a link."""

    async def content(self, snapshot: str, path: str) -> bytes | None:
        """The content of a file in a tree; None if there is no file at that path."""

    async def lines(self, snapshot: str, pattern: str, files: str) -> Mapping[str, Sequence[str]]:
        """The lines in a tree that match an extended regular expression, by file."""

    async def unkept(self) -> list[str]:
        """What is on disk but in no tree; directories end in a slash."""

    async def export(
        self, snapshot: str, into: Path, *, originals: str = "", paths: Collection[str] = ()
    ) -> None:
        """Write a tree into an empty directory, with some paths as they are in another tree."""

    def in_place(
        self,
        snapshot: str,
        *,
        originals: str = "",
        paths: Collection[str] = (),
        parts: Mapping[str, bytes],
        aside: Collection[str],
    ) -> AbstractAsyncContextManager[None]:
        """Like `export`, but temporarily in the tree's own directory, without the paths in `aside`."""
