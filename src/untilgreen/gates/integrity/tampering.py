"""What a run did to the files that gates depend on, and what a copy has to be given back."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from untilgreen.core.model import Change, GateSpec
from untilgreen.gates.integrity.commands import executed
from untilgreen.gates.integrity.inline import has_tests_inside, swap_inline
from untilgreen.gates.integrity.loaded import named_in
from untilgreen.gates.integrity.protect import Protection, is_configuration
from untilgreen.gates.integrity.sections import is_mixed, swap
from untilgreen.ports import Site

_DEEPEST = 3
_LONGEST_TEXT = 200_000
_SHELL = (".sh", ".bash", "")


class Kept(Protocol):
    """The trees of a run, to read and to write elsewhere; paths are seen from the top of the tree."""

    async def top(self) -> Path:
        """Where the tree lies."""

    async def first(self) -> str:
        """The tree that the first turn began with."""

    async def changes(self, before: str, after: str) -> Sequence[Change]:
        """Which paths differ."""

    async def files(self, snapshot: str) -> list[str]:
        """Every path in a tree."""

    async def content(self, snapshot: str, path: str) -> bytes | None:
        """What a tree has under a path."""

    async def unkept(self) -> list[str]:
        """What lies there and in no tree; directories end in a slash."""

    async def export(
        self, snapshot: str, into: Path, *, originals: str = "", paths: Collection[str] = ()
    ) -> None:
        """Write a tree into an empty directory, with some paths as another tree has them, or has not."""


@dataclass(frozen=True, kw_only=True)
class Touched:
    """One protected path that is not as it was."""

    path: str
    status: str
    part: str = ""
    """Which part of the file, where only parts are protected."""


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """Everything protected that differs from the untouched tree."""

    original: str
    """The untouched tree."""
    touched: tuple[Touched, ...] = ()
    """Changed or removed, or new and able to change what a tool does: all that is put back."""
    fresh: tuple[str, ...] = ()
    """New tests, which are welcome."""
    hidden: frozenset[str] = frozenset()
    """New files that a changed .gitignore keeps out of sight."""
    overlays: Mapping[str, bytes] = field(default_factory=dict)
    """Files of which only parts are put back."""
    known: frozenset[str] = frozenset()
    """The protected files of the untouched tree."""

    @property
    def paths(self) -> frozenset[str]:
        """What is put back as a whole."""
        return frozenset(each.path for each in self.touched) - self.overlays.keys() - self.hidden

    def __bool__(self) -> bool:
        """Where the run began without anything protected, there is nothing that could be weakened."""
        old = bool(self.known) or any(each.status not in ("added", "hidden") for each in self.touched)
        return old and bool(self.touched or self.fresh)


async def look(kept: Kept, site: Site, protection: Protection, gates: Sequence[GateSpec]) -> Tampering:
    """Compare the tree with the untouched one."""
    original = site.base or await kept.first()
    changes = await kept.changes(original, site.snapshot)
    if not changes:
        return Tampering(original=original)
    files = frozenset(await kept.files(original))
    scripts = await _scripts(kept, original, files, protection.below, gates)
    protection = replace(protection, scripts=scripts)
    found = Tampering(
        original=original,
        known=frozenset(path for path in files if protection.role(path)),
    )
    for change in changes:
        found = await _with(found, change, kept, site.snapshot, protection)
    if any(posixpath.basename(change.path) == ".gitignore" for change in changes):
        found = await _with_hidden(found, kept, protection)
    return found


async def _with(
    found: Tampering, change: Change, kept: Kept, snapshot: str, protection: Protection
) -> Tampering:
    path = change.path
    role = protection.role(path)
    if is_mixed(path) and role != "test" and not protection.lets_through(path):
        return await _with_parts(found, change, kept, snapshot)
    if role is None and has_tests_inside(path) and not protection.lets_through(path):
        return await _with_inline(found, change, kept, snapshot)
    if role is None:
        return found
    if change.status == "added" and role == "test":
        return replace(found, fresh=(*found.fresh, path))
    return replace(found, touched=(*found.touched, Touched(path=path, status=change.status)))


async def _with_inline(found: Tampering, change: Change, kept: Kept, snapshot: str) -> Tampering:
    old, new = await kept.content(found.original, change.path), await kept.content(snapshot, change.path)
    swapped = swap_inline(old, new)
    if swapped is None or swapped.content is None:
        return found
    part = Touched(path=change.path, status=change.status, part=", ".join(swapped.keys))
    overlays = {**found.overlays, change.path: swapped.content}
    return replace(found, touched=(*found.touched, part), overlays=overlays)


async def _with_parts(found: Tampering, change: Change, kept: Kept, snapshot: str) -> Tampering:
    path = change.path
    swapped = swap(path, await kept.content(found.original, path), await kept.content(snapshot, path))
    if swapped is None:
        return found
    status = "added" if swapped.only_new else change.status
    touched = (*found.touched, Touched(path=path, status=status, part=", ".join(swapped.keys)))
    if swapped.content is None:
        return replace(found, touched=touched)
    return replace(found, touched=touched, overlays={**found.overlays, path: swapped.content})


async def _with_hidden(found: Tampering, kept: Kept, protection: Protection) -> Tampering:
    """Ignored files are nobody's change, unless the rules were changed to hide one."""
    hidden = [path for path in await kept.unkept() if protection.role(path) == "tool"]
    if not hidden:
        return found
    touched = tuple(Touched(path=path, status="hidden") for path in hidden)
    return replace(found, touched=(*found.touched, *touched), hidden=frozenset(hidden))


async def _scripts(
    kept: Kept, original: str, files: frozenset[str], below: str, gates: Sequence[GateSpec]
) -> frozenset[str]:
    """Files that the gates execute, those that their shell scripts do, and those that tools load."""
    found: set[str] = set()
    new: set[str] = set()
    for path in files:
        if is_mixed(path) or is_configuration(path):
            text = (await kept.content(original, path) or b"").decode(errors="replace")
            new |= named_in(path, text[:_LONGEST_TEXT], files)
    for gate in gates:
        for command in commands_of(gate.options):
            new |= executed(command, posixpath.join(below, str(gate.options.get("cwd") or "")))
    for _ in range(_DEEPEST):
        new = (new & files) - found
        found |= new
        inner: set[str] = set()
        for path in new:
            if posixpath.splitext(path)[1] in _SHELL:
                text = (await kept.content(original, path) or b"").decode(errors="replace")
                inner |= executed(text, below)
        new = inner
    return frozenset(found)


def commands_of(options: object) -> list[str]:
    """Every line of shell in a gate's options, however deep."""
    match options:
        case dict():
            own = [value for key, value in options.items() if key == "run" and isinstance(value, str)]
            return [*own, *(each for value in options.values() for each in commands_of(value))]
        case list():
            lines = [each for each in options if isinstance(each, str)]
            return [*lines, *(each for value in options for each in commands_of(value))]
        case _:
            return []
