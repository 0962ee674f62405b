"""Files that snapshots don't contain: recorded before the first lap, compared before the end.

Ignored directories, nested repositories and submodules are not part of the work, but gates read them. A file
counts as unchanged while its inode, mode, size and both times are the same: the kernel sets the change time,
so writing to a file and resetting its modification time does not help.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from untilgreen.gates.integrity.protected.mixed_files import is_mixed
from untilgreen.gates.integrity.protected.patterns import CACHES, USER_SETTINGS
from untilgreen.gates.integrity.protected.protection import is_configuration, matches

Mark: TypeAlias = tuple[int, int, int, int, int]
Marks: TypeAlias = Mapping[str, Mark]
_OF_GIT = ("config", "info", "hooks")
"""What changes how git behaves; the rest of a repository changes with every commit."""


class Compared(NamedTuple):
    """The unkept paths that a room may show, and what is hidden in them."""

    shown: list[str]
    """Files, and directories with a slash at the end."""
    hidden: list[str]
    """Files and whole directories that are new, or not as they were."""


def remember_all(top: Path, unkept: Iterable[str], into: Path) -> None:
    """Record these files, those of git, and those around the workspace that configure tools in it."""
    real = Path(os.path.realpath(top))
    remember(real, [*unkept, *git_files(real), *files_outside(real)], into)


def remember(top: Path, paths: Iterable[str], into: Path) -> None:
    """Record what every such file looks like now, in a file outside the workspace."""
    marks: dict[str, Mark] = {}
    for path in _worth_it(paths):
        with suppress(RecursionError):  # directories too deep to look at count as changed
            marks.update(_marks(top, path))
    partial = into.with_name(f"{into.name}.new")
    partial.write_bytes(msgspec.msgpack.encode(marks))
    partial.replace(into)


def recall(kept: Path | None) -> Marks | None:
    """What was recorded; None if nothing was."""
    if kept is None:
        return None
    try:
        return msgspec.msgpack.decode(kept.read_bytes(), type=dict[str, Mark])
    except (OSError, msgspec.MsgspecError):
        return None


def compare(top: Path, paths: Iterable[str], before: Marks | None, keep: Collection[str]) -> Compared:
    """Which paths are unchanged; if nothing was recorded, all count as unchanged."""
    shown, hidden = [], []
    for path in _worth_it(paths, keep):
        if before is None or _is_kept(path, keep):
            shown.append(path)
            continue
        try:
            same, other = _compare(top, path, before, keep)
        except RecursionError:
            same, other = False, [path]
        if same:
            shown.append(path)
        hidden += other
    return Compared(shown, hidden)


def repository_of(top: Path) -> Path | None:
    """The directory that holds git's own files, even where the workspace is a linked worktree."""
    git = top / ".git"
    if git.is_symlink() or not git.exists():
        return None
    if git.is_dir():
        return git
    try:
        admin = Path(git.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
        common = (admin / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return Path(os.path.normpath(admin / common))


def git_files(top: Path) -> list[str]:
    """The files that can change what git does in a gate, as unkept paths."""
    repository = repository_of(top)
    if repository is None:
        return []
    return [f"{repository}/{name}{'/' if (repository / name).is_dir() else ''}" for name in _OF_GIT]


def files_outside(top: Path) -> list[str]:
    """Files above the workspace and in the user's home that configure tools in it, as unkept paths."""
    home = os.environ.get("HOME")
    found = [os.fspath(path) for name in USER_SETTINGS for path in Path(home).glob(name)] if home else []
    for folder in top.parents:
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names, and nothing else
        except OSError:
            continue
        found += [f"{folder}/{name}" for name in names if is_configuration(name) or is_mixed(name)]
    return found


def _worth_it(paths: Iterable[str], keep: Collection[str] = ()) -> Iterator[str]:
    return (path for path in dict.fromkeys(paths) if not is_cache(path, keep))


def is_cache(path: str, keep: Collection[str] = ()) -> bool:
    """Whether it is a cache: these describe another directory, so no room shows them."""
    cached = CACHES & set(path.rstrip("/").split("/")) and not path.startswith("/")
    return bool(cached or path.endswith((".pyc", ".pyo"))) and not _is_kept(path, keep)


def _is_kept(path: str, keep: Collection[str]) -> bool:
    return any(matches(path.rstrip("/"), each) or matches(path, each) for each in keep)


def _marks(top: Path, path: str) -> Iterator[tuple[str, Mark]]:
    place = top / path
    try:
        if not path.endswith("/"):
            yield path, _mark(os.lstat(place))
            return
        entries = list(os.scandir(place))
    except OSError:
        return
    for entry in entries:
        name = f"{path}{entry.name}"
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _marks(top, f"{name}/")
            else:
                yield name, _mark(entry.stat(follow_symlinks=False))
        except OSError:
            continue


def _mark(found: os.stat_result) -> Mark:
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _compare(top: Path, path: str, before: Marks, keep: Collection[str]) -> tuple[bool, list[str]]:
    """Whether anything below is unchanged, and what is not; a wholly changed directory is one entry."""
    if not path.endswith("/"):
        same = any(before.get(name) == mark for name, mark in _marks(top, path))
        return (True, []) if same or _is_kept(path, keep) else (False, [path])
    try:
        entries = sorted(os.scandir(top / path), key=lambda entry: entry.name)
    except OSError:
        return False, []
    any_same, hidden = False, []
    for entry in entries:
        inner = f"{path}{entry.name}" + ("/" if entry.is_dir(follow_symlinks=False) else "")
        same, other = _compare(top, inner, before, keep)
        any_same = any_same or same
        hidden += other
    return (True, hidden) if any_same else (False, [path] if entries else [])
