"""What differs between two git trees, in git's own terms."""

from __future__ import annotations

from typing import NamedTuple

from untilgreen.workspace.git.command import Git, split

SUBMODULE = b"160000"
ABSENT = b"000000"


class Difference(NamedTuple):
    """One path that differs between two trees."""

    path: bytes
    old_mode: bytes
    new_mode: bytes
    old: bytes
    new: bytes

    @property
    def submodule(self) -> bool:
        """Whether either side is the commit of another repository."""
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def added(self) -> bool:
        """Whether only the second tree has it."""
        return self.old_mode == ABSENT

    @property
    def deleted(self) -> bool:
        """Whether only the first tree has it."""
        return self.new_mode == ABSENT


async def differences(git: Git, before: str, after: str) -> list[Difference]:
    """Every path that differs between two trees, in git's order."""
    if before == after:
        return []
    parts = split(await git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after))
    found = []
    for facts, path in zip(parts[::2], parts[1::2], strict=True):
        old_mode, new_mode, old, new, _ = facts.lstrip(b":").split(b" ")
        found.append(Difference(path, old_mode, new_mode, old, new))
    return found
