"""Reads the commit of HEAD, without starting git if possible, and lists commits made in between."""

from __future__ import annotations

from pathlib import Path

from anyio import to_thread

from untilgreen.regex import regex
from untilgreen.workspace.git.command import OFFLINE, Git
from untilgreen.workspace.git.loose_objects import LooseObjects
from untilgreen.workspace.git.repository import Repository

UNBORN = "unborn"
"""Stands for HEAD before the first commit."""
MOST = 20
_LARGEST = 10_000
_COMMIT = regex(r"[0-9a-f]{40}([0-9a-f]{24})?")
_TREE_OF = regex(rb"tree ([0-9a-f]+)\n")


class _Endless(Exception):
    """One of git's files is not a small regular file: an agent may have put a pipe in its place."""


class History:
    """The commits of one work tree."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._git = Git(place=repository.top, variables={"GIT_DIR": str(repository.git_dir), **OFFLINE})

    async def head(self) -> str:
        """The commit of HEAD."""
        found = await to_thread.run_sync(self._read)
        if found:
            return found
        asked = await self._git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return asked.stdout.decode().strip() or UNBORN

    async def commits(self, before: str, after: str) -> tuple[str, ...]:
        """New commits of HEAD, newest first, each as abbreviated id and subject."""
        known = () if before == UNBORN else ("--not", before)
        asked = ("log", "--format=%h %s", f"--max-count={MOST + 1}", after, *known, "--")
        found = await self._git.attempt(*asked)
        lines = found.stdout.decode(errors="replace").split("\n")[:-1] if not found.returncode else []
        if not lines:
            return (f"{after[:12]} (HEAD was moved there from {before[:12]})",)
        return (*lines[:MOST], "and more") if len(lines) > MOST else tuple(lines)

    def loose_tree(self, objects: LooseObjects) -> str | None:
        """The tree of HEAD, if its commit is a loose object, as new ones are."""
        head = self._read()
        commit = objects.read(b"commit", head) if head and head != UNBORN else None
        found = _TREE_OF.match(commit) if commit else None
        return found[1].decode() if found else None

    def _read(self) -> str | None:
        """The commit of HEAD, read from git's files; None if its branch is packed or stored otherwise."""
        try:
            text = _text(self._repository.git_dir / "HEAD")
            if text.startswith("ref: refs/") and ".." not in text:
                text = _text(self._repository.common / text.removeprefix("ref: "))
        except _Endless:  # git would hang on it too
            return UNBORN
        except (OSError, ValueError):  # not text, or not a valid file name
            return None
        return text if _COMMIT.fullmatch(text) else None


def _text(path: Path) -> str:
    if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
        raise _Endless
    return path.read_text().strip()
