"""What a run finds when it begins: the commit, and changes that nobody committed yet."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from untilgreen.workspace.ground import Ground, find_ground
from untilgreen.workspace.plumbing import Git, shown, split

STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames")


class Beginning(NamedTuple):
    """A repository as it is before the first turn."""

    ground: Ground
    commit: str | None
    """What HEAD stands for; None before the first commit."""
    dirty: list[str]
    """Paths with changes that are in no commit, new files included; directories end in a slash."""


async def look(start: Path) -> Beginning | None:
    """The beginning of a run in that directory; None without git."""
    ground = await find_ground(start)
    if ground is None:
        return None
    git = Git(place=ground.top)
    head = await git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    listed = split(await git(*STATUS, "--ignore-submodules=dirty"))
    return Beginning(ground, head.stdout.decode().strip() or None, [shown(line[3:]) for line in listed])
