"""Where the files lie, and which repository keeps their trees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.plumbing import PLAINLY, Git, GitFailed

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


@dataclass(frozen=True, kw_only=True)
class Ground:
    """All that has to be known about a repository to keep trees in it; every path is absolute."""

    top: Path
    """The work tree's highest directory: snapshots cover all that is in it."""
    below: str = ""
    """The directory that was started in, seen from the top."""
    repository: Path
    """The git directory that refs are written to."""
    common: Path
    """What linked worktrees share: configuration and the stores of filters."""
    objects: Path
    index: Path
    exclude: Path
    attributes: Path
    object_format: str = "sha1"

    @property
    def settings(self) -> tuple[Path, ...]:
        """The files that configure this repository, the later one stronger."""
        return self.common / "config", self.repository / "config.worktree"


async def find_ground(start: Path) -> Ground | None:
    """The repository that a directory is part of; none where git has none, or ignores the directory."""
    git = Git(place=start)
    done = await git.attempt("rev-parse", ABSOLUTE, *ASKED)
    answers = done.stdout.decode(errors="surrogateescape").split("\n")[:-1]
    if answers[:1] == [ABSOLUTE]:  # what git does not know it gives back
        raise WorkspaceNotReady("This git is too old. Install git 2.31 or a later one.")
    if answers[:2] == ["false", "true"]:
        raise WorkspaceNotReady(
            f"{str(start)!r} is a bare repository, which has no files to work on. "
            "Start in a clone of it, or in a worktree (`git worktree add`)."
        )
    if answers[:1] == ["false"]:
        raise WorkspaceNotReady(
            f"{str(start)!r} lies inside a git directory. Start where the files are that are to be changed."
        )
    try:
        git.checked(done)
    except GitFailed as failure:
        if NO_REPOSITORY in failure.words:
            return None
        raise
    ground = _read(answers, start)
    return None if await _ignored(ground) else ground


def directory_ground(top: Path, repository: Path) -> Ground:
    """A repository of our own for a directory that has none."""
    return Ground(
        top=top,
        repository=repository,
        common=repository,
        objects=repository / "objects",
        index=repository / "no-index",
        exclude=repository / "no-exclude",
        attributes=repository / "no-attributes",
    )


def _read(answers: list[str], start: Path) -> Ground:
    if len(answers) != 11:
        raise WorkspaceNotReady(
            f"The path of the repository around {str(start)!r} has a line break in it. Rename the directory."
        )
    _, _, object_format, top, start_below_top, *paths = answers
    repository, common, objects, index, exclude, attributes = map(Path, paths)
    return Ground(
        top=Path(top),
        below=start_below_top,
        repository=repository,
        common=common,
        objects=objects,
        index=index,
        exclude=exclude,
        attributes=attributes,
        object_format=object_format,
    )


async def _ignored(ground: Ground) -> bool:
    """Whether git looks away from the whole directory, so that no change in it would ever be seen."""
    if not ground.below:
        return False
    git = Git(place=ground.top)
    below = os.fsencode(ground.below)
    looked_away = await git.attempt("check-ignore", "--quiet", "--", PLAINLY + below)
    return looked_away.returncode == 0 and not await git("ls-files", "-z", "--", b":(literal)" + below)
