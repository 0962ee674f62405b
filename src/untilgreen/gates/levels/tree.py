"""The files of a workspace that are somebody's work: tracked or new, not ignored."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from anyio import to_thread

from untilgreen.process.run import run

_NOBODYS = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", "dist", "build", ".tox"})


@dataclass(frozen=True)
class Files:
    """Paths below a root, with forward slashes, sorted."""

    root: Path
    paths: tuple[str, ...]

    @classmethod
    async def of(cls, root: Path) -> Files:
        """What git lists, where there is git; else everything but the usual leftovers."""
        ran = await run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=root)
        if ran.ok:
            listed = sorted({path for path in ran.stdout.split("\0") if path and (root / path).exists()})
            return cls(root, tuple(listed))
        return cls(root, tuple(await to_thread.run_sync(_walked, root)))

    def matching(self, pattern: str) -> list[str]:
        """The paths that a pattern with `*`, `?` and `**` means."""
        wanted = _regex(pattern)
        return [path for path in self.paths if wanted.fullmatch(path)]


def _walked(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOBODYS]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


@lru_cache(maxsize=256)
def _regex(pattern: str) -> re.Pattern[str]:
    """`**` crosses directories, `*` and `?` do not; a pattern without a slash fits any directory."""
    anywhere = "(?:.*/)?" if "/" not in pattern else ""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(anywhere + "".join(words.get(part, re.escape(part)) for part in parts))
