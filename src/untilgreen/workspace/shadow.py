"""A git directory of our own: the user's objects, our index, and bytes that are kept as they are.

`git add` would rewrite line ends and leave its marks in the user's index. So every command runs in a second
git directory, in the run's private folder, that borrows work tree, objects and settings of the first.
Attributes in its `info/` are stronger than any `.gitattributes`: line ends, `$Id$` and encodings stay as they
are on disk. Filters such as git-lfs and git-crypt run as configured.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from untilgreen.workspace.busy import alone
from untilgreen.workspace.ground import Ground
from untilgreen.workspace.plumbing import Git
from untilgreen.workspace.refs import Refs

AS_IT_IS = "* -text -ident !working-tree-encoding !diff\n"
"""`!diff`: nobody hides a change by calling a text binary."""
STORES = ("lfs", "git-crypt", "annex")
"""What filters keep in the git directory."""


class Shadow:
    """The private git directory for one run, and the git commands that work in it."""

    def __init__(self, ground: Ground, run: str, private: Path) -> None:
        self.ground = ground
        self.path = private / "git"
        self.index = self.path / "index"
        self._busy = private / "busy"
        self.git = Git(
            place=ground.top,
            variables={
                "GIT_DIR": str(self.path),
                "GIT_WORK_TREE": str(ground.top),
                "GIT_OBJECT_DIRECTORY": str(ground.objects),
            },
        )
        self.users = Git(place=ground.top, variables={"GIT_DIR": str(ground.repository)})
        """git in the user's own directory: only there `git gc` looks for refs."""
        self.refs = Refs(self.users, run)

    def lay_out(self) -> None:
        """Make the directory, or bring it up to what the user's repository says now."""
        ground = self.ground
        for folder in (self.path / "refs", self.path / "info", ground.objects):
            folder.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        _write(self.path / "HEAD", "ref: refs/heads/none\n")
        _write(self.path / "config", self._config())
        _write(self.path / "info" / "attributes", _read(ground.attributes) + AS_IT_IS)
        _write(self.path / "info" / "exclude", _read(ground.exclude))
        for store in STORES:
            if (ground.common / store).is_dir() and not (self.path / store).exists():
                (self.path / store).symlink_to(ground.common / store)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[Git]:
        """Wait until no git of this run writes any more, let nobody else begin, and give a git that may.

        Its processes hold the lock as well: one that outlives its driver is waited for by the next.
        """
        async with alone(self._busy, self.ground.top) as descriptors:
            for left in self.path.glob("*.lock"):  # by one that was killed
                left.unlink()
            yield replace(self.git, descriptors=descriptors)

    def _config(self) -> str:
        wide = self.ground.object_format != "sha1"
        lines = ["[core]", f"repositoryformatversion = {int(wide)}"]
        if wide:
            lines += ["[extensions]", f"objectFormat = {self.ground.object_format}"]
        for settings in self.ground.settings:
            lines += ["[include]", f"path = {_quoted(settings)}"] if self.path not in settings.parents else []
        return "\n".join([*lines, "[core]", "bare = false", ""])


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(path: Path) -> str:
    """What a file of the user says, ended with a line break so that more can follow."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return text if text.endswith("\n") or not text else text + "\n"


def _write(path: Path, text: str) -> None:
    """Others may read the file meanwhile, so they see the old one or the new one."""
    content = text.encode(errors="surrogateescape")
    if not path.exists() or path.read_bytes() != content:
        beside = path.with_name(path.name + ".new")
        beside.write_bytes(content)
        beside.replace(path)
