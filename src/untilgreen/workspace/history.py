"""Where HEAD stands, read without a process where that is possible, and what was committed in between."""

from __future__ import annotations

import re
from pathlib import Path

from anyio import to_thread

from untilgreen.workspace.ground import Ground
from untilgreen.workspace.plumbing import Git

UNBORN = "unborn"
"""What HEAD stands for before the first commit."""
MOST = 20
_LARGEST = 10_000
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class _Endless(Exception):
    """An agent that commits can put a pipe, or anything else, in place of a file of git."""


class History:
    """The commits of one work tree."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._git = Git(place=ground.top, variables={"GIT_DIR": str(ground.repository)})

    async def head(self) -> str:
        """The commit that HEAD stands for."""
        found = await to_thread.run_sync(self._read)
        if found:
            return found
        asked = await self._git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return asked.stdout.decode().strip() or UNBORN

    async def commits(self, before: str, after: str) -> tuple[str, ...]:
        """What HEAD has gained, the newest first, each with the beginning of its id and its subject."""
        known = () if before == UNBORN else ("--not", before)
        asked = ("log", "--format=%h %s", f"--max-count={MOST + 1}", after, *known, "--")
        found = await self._git.attempt(*asked)
        lines = found.stdout.decode(errors="replace").split("\n")[:-1] if not found.returncode else []
        if not lines:
            return (f"{after[:12]} (HEAD was moved there from {before[:12]})",)
        return (*lines[:MOST], "and more") if len(lines) > MOST else tuple(lines)

    def _read(self) -> str | None:
        """HEAD and the branch it names are small files, unless refs are packed or kept otherwise."""
        try:
            text = _text(self._ground.repository / "HEAD")
            if text.startswith("ref: refs/") and ".." not in text:
                text = _text(self._ground.common / text.removeprefix("ref: "))
        except _Endless:  # git would wait for it, too
            return UNBORN
        except (OSError, ValueError):  # bytes that are no text, or a name that no file can have
            return None
        return text if _COMMIT.fullmatch(text) else None


def _text(path: Path) -> str:
    if path.exists() and (not path.is_file() or path.stat().st_size > _LARGEST):
        raise _Endless
    return path.read_text().strip()
