"""Finds the repository around a directory and the paths that belong to it."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
from msgspec import Struct

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git.command import PLAINLY, Git, GitFailed
from untilgreen.workspace.git.settings import Setting, read_settings

OLDEST_GIT = (2, 31)
"""The first version that knows `--path-format`; doctor names the same one."""
ABSOLUTE = "--path-format=absolute"
ASKED = (
    "--is-inside-work-tree",
    "--is-bare-repository",
    "--show-object-format",
    "--show-toplevel",
    "--show-prefix",
    "--absolute-git-dir",
    "--git-common-dir",
    *("--git-path", "objects"),
    *("--git-path", "index"),
    *("--git-path", "info/exclude"),
    *("--git-path", "info/attributes"),
)
NO_REPOSITORY = "not a git repository (or any"


class Repository(Struct, frozen=True, kw_only=True):
    """The paths of a repository that snapshots need, all absolute."""

    top: Path
    """The top of the work tree; snapshots cover everything in it."""
    below: str = ""
    """The starting directory, relative to the top."""
    git_dir: Path
    """The git directory that refs are written to."""
    common: Path
    """The git directory that linked worktrees share, with the configuration and the data of filters."""
    objects: Path
    index: Path
    exclude: Path
    attributes: Path
    object_format: str = "sha1"


async def find_repository(start: Path) -> Repository | None:
    """The repository around a directory; None if there is none, or if it ignores the directory."""
    git = Git(place=start)
    done = await git.attempt("rev-parse", ABSOLUTE, *ASKED)
    answers = done.stdout.decode(errors="surrogateescape").split("\n")[:-1]
    if answers[:1] == [ABSOLUTE]:  # git echoes options it does not know
        wanted = ".".join(map(str, OLDEST_GIT))
        raise WorkspaceNotReady(f"This git is too old. Install git {wanted} or newer.")
    if answers[:2] == ["false", "true"]:
        raise WorkspaceNotReady(
            f"{str(start)!r} is a bare repository, which has no files to work on. "
            "Start in a clone or a worktree of it (`git worktree add`)."
        )
    if answers[:1] == ["false"]:
        raise WorkspaceNotReady(f"{str(start)!r} is inside a git directory. Start in the work tree instead.")
    try:
        git.checked(done)
    except GitFailed as failure:
        if NO_REPOSITORY in failure.words:
            return None
        raise
    repository = _read(answers, start)
    return None if await _ignored(repository) else repository


class Repositories:
    """The repositories around directories; git is asked once for each of them."""

    def __init__(self) -> None:
        self._found: dict[Path, Repository | None] = {}
        self._settings: dict[Path, list[Setting]] = {}

    async def find(self, start: Path) -> Repository | None:
        """Like `find_repository`, remembered by the real path of the directory."""
        where = Path(await anyio.Path(start).resolve())
        if where not in self._found:
            self._found[where] = await find_repository(where)
        return self._found[where]

    async def settings(self, repository: Repository) -> list[Setting]:
        """The settings of a repository as they are now."""
        found = await read_settings(Git(place=repository.top))
        self._settings[repository.git_dir] = found
        return found

    def settings_once(self, repository: Repository) -> list[Setting] | None:
        """The settings that were just read, for one workspace only: opening another one reads them again."""
        return self._settings.pop(repository.git_dir, None)


def repository_for_directory(top: Path, git_dir: Path) -> Repository:
    """A private repository for a directory that has none."""
    return Repository(
        top=top,
        git_dir=git_dir,
        common=git_dir,
        objects=git_dir / "objects",
        index=git_dir / "no-index",
        exclude=git_dir / "no-exclude",
        attributes=git_dir / "no-attributes",
    )


def _read(answers: list[str], start: Path) -> Repository:
    if len(answers) != 11:
        raise WorkspaceNotReady(
            f"The path of the repository around {str(start)!r} contains a newline. Rename the directory."
        )
    _, _, object_format, top, start_below_top, *paths = answers
    git_dir, common, objects, index, exclude, attributes = map(Path, paths)
    return Repository(
        top=Path(top),
        below=start_below_top,
        git_dir=git_dir,
        common=common,
        objects=objects,
        index=index,
        exclude=exclude,
        attributes=attributes,
        object_format=object_format,
    )


async def _ignored(repository: Repository) -> bool:
    """Whether git ignores the whole directory, so no change in it would ever be seen."""
    if not repository.below:
        return False
    git = Git(place=repository.top)
    below = os.fsencode(repository.below)
    looked_away = await git.attempt("check-ignore", "--quiet", "--", PLAINLY + below)
    return looked_away.returncode == 0 and not await git("ls-files", "-z", "--", b":(literal)" + below)
