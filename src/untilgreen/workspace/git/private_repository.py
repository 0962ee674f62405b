"""Our own git directory for a run: the user's objects, our index, and bytes kept unchanged.

`git add` would rewrite line endings and change the user's index. So every command runs in a second git
directory, in the run's private folder, that shares the work tree and objects of the first. Attributes in its
`info/` override any `.gitattributes`: line endings, `$Id$` and encodings stay as they are on disk. Settings
are those the run began with (see `settings`); filters such as git-lfs and git-crypt run as configured.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from untilgreen.errors import WorkspaceNotReady
from untilgreen.regex import regex
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.git.command import OFFLINE, SEALED, Git
from untilgreen.workspace.git.git_lock import alone
from untilgreen.workspace.git.loose_objects import LooseObjects
from untilgreen.workspace.git.repository import Repository
from untilgreen.workspace.git.settings import Setting, frozen, read_settings, refused_filters, written
from untilgreen.workspace.git.snapshot_refs import Refs
from untilgreen.workspace.git.tree_patch import Patcher

AS_IT_IS = "* -text -ident !working-tree-encoding !diff\n"
"""`!diff`: no change can be hidden by declaring a text file binary."""
FROZEN, FILTERS = "frozen-settings", "frozen-filters"
"""Files in the private git directory: the settings that the run began with, and the names of its filters."""
SHARED = "core.sharedrepository"
_ODD = regex(
    r'(filemode|symlinks) = "(?!(true|yes|on|1)")|(ignorecase|precomposeunicode) = "(?!(false|no|off|0)")',
    re.IGNORECASE,
)
"""Settings under which git takes a file for something other than it is on disk."""
STORES = ("lfs", "git-crypt", "annex")
"""Directories in which filters keep data."""
OURS = Path("refs", "heads", "untilgreen")
"""The branches of runs."""
_DIGITS = 2
"""The length of the names of directories with loose objects."""
Known = dict[str, tuple[int, int]]
"""Directories without a trap, with their inode and ctime."""


class PrivateRepository:
    """The private git directory of one run, and git commands that use it."""

    def __init__(self, repository: Repository, run: str, private: Path) -> None:
        self.repository = repository
        self.path = private / "git"
        self.index = self.path / "index"
        self._busy = private / "busy"
        self._known: Known = {}
        self.git = Git(
            place=repository.top,
            variables={
                "GIT_DIR": str(self.path),
                "GIT_WORK_TREE": str(repository.top),
                "GIT_OBJECT_DIRECTORY": str(repository.objects),
                **SEALED,
            },
        )
        self.users = Git(place=repository.top, variables={"GIT_DIR": str(repository.git_dir), **OFFLINE})
        """git in the user's own git directory: `git gc` looks for refs only there."""
        self.objects = LooseObjects(repository.objects, repository.object_format)
        self.patcher: Patcher | None = None
        """Derives trees without git; None under settings that make git see files differently."""
        self.refs = Refs(self.users, run, repository.common)

    async def lay_out(self, known: Sequence[Setting] | None = None) -> list[str]:
        """Make the directory, or renew its filters' commands; returns the filters that are not run.

        `known` holds the user's settings, if they were read a moment ago.

        All other settings, ignore rules and attributes outside the work tree stay as the run found them.
        """
        repository = self.repository
        for folder in (self.path / "refs", self.path / "info", repository.objects):
            folder.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        _write(self.path / "HEAD", "ref: refs/heads/none\n")
        _write(self.path / "config", self._config(""))
        settings = await self._settings(known)
        self.refs.by_git = any(each.key == SHARED for each in settings)
        if not (self.path / FROZEN).exists():
            self._freeze(settings)
        names = (self.path / FILTERS).read_text(errors="surrogateescape").split("\0")
        filters = [each for each in frozen(settings, repository.top, names) if each.filter]
        kept = _read(self.path / FROZEN)
        _write(self.path / "config", self._config(kept + written(filters)))
        if not _ODD.search(kept):
            self.patcher = Patcher(repository.top, self.objects, filters=bool(filters))
        for store in STORES:
            if (repository.common / store).is_dir() and not (self.path / store).exists():
                (self.path / store).symlink_to(repository.common / store)
        return refused_filters(settings, repository.top)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Git]:
        """Wait until no git of this run writes any more, keep others out, and yield a git to use.

        Its processes hold the lock too: the next driver waits for one that outlives this driver.
        """
        async with alone(self._busy, self.repository.top) as descriptors:
            refuse_links(self.repository.objects)
            for left in self.path.glob("*.lock"):  # from a git that was killed
                left.unlink()
            yield replace(self.git, descriptors=descriptors, before=cache(self._refuse_pipes))

    def _refuse_pipes(self) -> None:
        """An agent that commits can write here, and git would wait forever at a pipe."""
        for path in (*_no_objects(self.repository.objects, self._known), *_endless(*self._shared())):
            raise WorkspaceNotReady(_trap(path, "not a regular file"))

    def _shared(self) -> tuple[Path, ...]:
        """Where an agent in a sandbox may write in git's own directories: only in those of a worktree."""
        if self.repository.git_dir == self.repository.common:
            return ()
        return self.repository.git_dir, self.repository.common / OURS

    def _config(self, settings: str) -> str:
        wide = self.repository.object_format != "sha1"
        lines = ["[core]", f"repositoryformatversion = {int(wide)}"]
        if wide:
            lines += ["[extensions]", f"objectFormat = {self.repository.object_format}"]
        fixed = [
            Setting("", "core.excludesFile", os.devnull),
            Setting("", "core.attributesFile", str(self._global)),
        ]
        return "\n".join([*lines, f"{settings}[core]", "bare = false", written(fixed)])

    @property
    def _global(self) -> Path:
        return self.path / "info" / "global-attributes"

    async def _settings(self, known: Sequence[Setting] | None) -> list[Setting]:
        """The settings that the user's git sees, without those of a private repository itself."""
        found = await read_settings(self.users) if known is None else known
        ours = self.repository.git_dir == self.path
        return [each for each in found if each.scope != "command" and not (ours and each.scope == "local")]

    def _freeze(self, settings: list[Setting]) -> None:
        """Before any agent works, save what decides which files a snapshot includes, and with which bytes."""
        info, repository = self.path / "info", self.repository
        _write(self._global, _read(_named(settings, "core.attributesfile", "attributes", repository.top)))
        _write(info / "attributes", _read(repository.attributes) + AS_IT_IS)
        ignored = _read(_named(settings, "core.excludesfile", "ignore", repository.top))
        _write(info / "exclude", ignored + _read(repository.exclude))
        kept = frozen(settings, repository.top)
        _write(self.path / FILTERS, "\0".join(dict.fromkeys(each.filter for each in kept if each.filter)))
        # Last, since its existence says that all of them are there.
        _write(self.path / FROZEN, written(each for each in kept if not each.filter))


def refuse_links(objects: Path) -> None:
    """An agent that commits can write here, and git would follow a link to wherever it leads."""
    try:
        entries = list(os.scandir(objects))
    except FileNotFoundError:
        raise WorkspaceNotReady(
            f"The repository {str(objects.parent)!r} is gone. Restore it, for example from a backup."
        ) from None
    for entry in entries:
        if entry.is_symlink():
            raise WorkspaceNotReady(_trap(entry.path, "a link"))


def _trap(path: str, what: str) -> str:
    return f"{path!r} is {what}. Git never creates one there, so an agent may have. Remove it, and try again."


def _no_objects(objects: Path, known: Known) -> Iterator[str]:
    """Anything but files in the directories of loose objects; skips directories that have not changed."""
    old_enough = time.time_ns() - FRESH_NANOSECONDS
    for entry in os.scandir(objects):
        if len(entry.name) != _DIGITS or not entry.is_dir(follow_symlinks=False):
            continue
        now = entry.stat(follow_symlinks=False)
        if known.get(entry.path) == (now.st_ino, now.st_ctime_ns):
            continue
        with os.scandir(entry) as found:
            yield from (each.path for each in found if not each.is_file(follow_symlinks=False))
        if now.st_ctime_ns < old_enough:
            known[entry.path] = now.st_ino, now.st_ctime_ns


def _endless(*folders: Path) -> Iterator[str]:
    """The pipes and devices in these directories, and links to some: reading them may never end."""
    left = list(map(str, folders))
    while left:
        with suppress(OSError), os.scandir(left.pop()) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                elif not entry.is_file() and _is_endless(entry):
                    yield entry.path


def _is_endless(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        mode = entry.stat().st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
    return False


def _named(settings: list[Setting], key: str, usual: str, top: Path) -> Path:
    """The file that a setting names, or the one that git reads by default."""
    value = next((each.value for each in reversed(settings) if each.key == key), None)
    if value is not None:
        return top / os.path.expanduser(value)  # noqa: PTH111 - one that can't be expanded is no error here
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - the same
    return Path(above, "git", usual)


def _read(path: Path) -> str:
    """A file of the user, ended with a newline so that more can follow."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return text if text.endswith("\n") or not text else text + "\n"


def _write(path: Path, text: str) -> None:
    """Replace a file at once: concurrent readers see the old content or the new."""
    content = text.encode(errors="surrogateescape")
    if not path.exists() or path.read_bytes() != content:
        beside = path.with_name(path.name + ".new")
        beside.write_bytes(content)
        beside.replace(path)
