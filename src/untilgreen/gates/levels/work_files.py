"""The files of a workspace that are somebody's work: tracked or new, not ignored."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import to_thread

from untilgreen.ports import CheckContext, Mount
from untilgreen.process.run import run
from untilgreen.process.start import shell

# Into a file: printed output is returned without its secrets, and if it is long, without its middle.
_LIST = "git -c core.fsmonitor=false ls-files -z -c -o --exclude-standard"
LARGEST_DATA = 20_000_000
_NOBODYS = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", "dist", "build", ".tox"})


@dataclass(frozen=True)
class Files:
    """Paths below a root, with forward slashes, sorted; bytes that are not UTF-8 are kept as surrogates."""

    root: Path
    paths: tuple[str, ...]

    @classmethod
    async def of(cls, context: CheckContext) -> Files:
        """What git lists, if there is a repository; otherwise everything except the usual leftovers.

        git runs in the sandbox: the agent may have made the repository, and its settings can start anything.
        """
        root = context.root
        with TemporaryDirectory() as folder:
            listing = _real(folder) / "listing"
            sandbox = context.sandbox and context.sandbox.opened(Mount(path=listing.parent, way="write"))
            ran = await run(
                shell(f"{_LIST} > {shlex.quote(str(listing))}"), cwd=root, sandbox=sandbox, view=context.view
            )
            if ran.ok:
                return cls(root, tuple(await to_thread.run_sync(_listed, root, listing)))
        return cls(root, tuple(await to_thread.run_sync(_walked, root)))

    def matching(self, pattern: str) -> list[str]:
        """The paths that match a pattern with `*`, `?` and `**`."""
        wanted = _regex(pattern)
        return [path for path in self.paths if wanted.fullmatch(path)]


def content(path: Path) -> bytes:
    """The content of a file that an agent may have written; raises OSError if it must not be read."""
    if not path.exists():
        raise FileNotFoundError("no such file")
    if not path.is_file():  # a pipe, or a link to something without end
        raise OSError("it is not a plain file")
    if path.stat().st_size > LARGEST_DATA:
        raise OSError(f"it has more than {LARGEST_DATA:,} bytes")
    return path.read_bytes()


def name_as_text(path: str) -> str:
    """A path as text that fits into an event, even if its bytes are not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _real(path: str) -> Path:
    return Path(os.path.realpath(path))


def _listed(root: Path, listing: Path) -> list[str]:
    paths = map(os.fsdecode, set(listing.read_bytes().split(b"\0")))
    # Not Path.exists, which raises where access is denied.
    return sorted(path for path in paths if path and os.path.exists(root / path))  # noqa: PTH110 - see above


def _walked(root: Path) -> list[str]:
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOBODYS]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)


@lru_cache(maxsize=256)
def _regex(pattern: str) -> re.Pattern[str]:
    """`**` crosses directories, `*` and `?` do not; a pattern without a slash matches in any directory."""
    anywhere = "(?:.*/)?" if "/" not in pattern else ""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(anywhere + "".join(words.get(part, re.escape(part)) for part in parts), re.DOTALL)
