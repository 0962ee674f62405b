"""Fuzz targets for what we read from git and from a repository, with hostile names and files.

The format of git's output is always valid, but names in it can be anything, and have to come back unchanged.
The files of a repository may contain anything, as an agent can write them.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio

from untilgreen.gates.integrity.protected import executed_files, followed_files, protection
from untilgreen.gates.levels import sanity
from untilgreen.gates.levels.work_files import Files, name_as_text
from untilgreen.workspace.git import index_seed, snapshot_refs, tree_diff, tree_patch
from untilgreen.workspace.git.command import path_as_text
from untilgreen.workspace.git.gc_guard import NOTE, GcWatch
from untilgreen.workspace.git.head import History
from untilgreen.workspace.git.repository import Repository, _read, repository_for_directory
from untilgreen.workspace.worktree import Worktree

IDENTITY = b"a" * 40
NAMES = (
    b"a.py\0-rf\0--help\0:(top)x\0:/y\0!bang\0#hash",
    b'tests/test_a.py\0te\nsts/conftest.py\0\xff\xfe/.env\0\x1b]0;t\x07\0a\tb\0"q"\0a\\b\0.GIT/config\0git~1',
)
"""Examples of names, separated by NUL bytes as in git's output."""


def names_in(data: bytes) -> list[bytes]:
    """Make paths that are valid in a git tree from any bytes."""
    parts = (part.split(b"/") for part in data.split(b"\0"))
    whole = (b"/".join(name for name in part if name not in (b"", b".", b"..")) for part in parts)
    return list(dict.fromkeys(path for path in whole if path))


class Printed:
    """A git that always prints the same lines."""

    def __init__(self, lines: list[bytes]) -> None:
        self._out = b"".join(line + b"\0" for line in lines)

    async def __call__(self, *arguments: str | bytes, given: bytes | None = None) -> bytes:
        """Print the lines, whatever the arguments are."""
        return self._out


def differing(data: bytes) -> object:
    names = names_in(data)
    facts = b":100644 000000 %s %s D" % (IDENTITY, b"0" * 40)
    git: Any = Printed([part for name in names for part in (facts, name)])
    found = anyio.run(tree_diff.differences, git, "a", "b")
    assert [each.path for each in found] == names
    return [path_as_text(each.path) for each in found]


def listed(data: bytes) -> object:
    names = names_in(data)
    git: Any = Printed([b"H 100644 %s 0\t%s" % (IDENTITY, name) for name in names])
    assert [path for *_, path in anyio.run(index_seed._entries, git)] == names
    modules: Any = Printed([b"160000 %s 0\t%s" % (IDENTITY, name) for name in names])
    assert list(anyio.run(index_seed.submodules, modules)) == names
    return names


def grafting(data: bytes) -> object:
    """The entries of a tree object, alone and in the output of `git cat-file --batch`."""
    names = [name for name in names_in(data) if b"/" not in name]
    content = b"".join(b"100644 %s\0%s" % (name, bytes.fromhex(IDENTITY.decode())) for name in names)
    printed = b"%s tree %d\n%s\n" % (IDENTITY, len(content), content)
    found = list(tree_patch._trees(b"a:b missing\n%s%s blob 1\nx\n%s" % (printed, IDENTITY, printed)))
    assert found == [(IDENTITY, content)] * 2
    assert dict(tree_patch._entries(content, 20)) == dict.fromkeys(names, (b"100644", IDENTITY))
    list(tree_patch._trees(data))
    return names


def ground(data: bytes) -> object:
    return _read(data.decode(errors="surrogateescape").split("\n"), Path("/nowhere"))


def _repository(read: Callable[[Repository], object], *files: str) -> Callable[[bytes], object]:
    def play(data: bytes) -> object:
        with TemporaryDirectory() as folder:
            place = Path(folder)
            for name in files:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(data)
            return read(repository_for_directory(place, place))

    return play


def noted(data: bytes) -> object:
    """The note of a gc on this machine, with any process id."""
    host = socket.gethostname().encode()
    return _repository(lambda found: GcWatch(found.common)._running(), NOTE)(b"%s %s" % (data.strip(), host))


head = _repository(lambda found: History(found)._read(), "HEAD")
worktrees = _repository(
    lambda found: Worktree(path=found.top / "w", repository=found.top, run="r").admins(), "worktrees/w/gitdir"
)


def ref(data: bytes) -> object:
    """Any name becomes a part of a ref that git accepts."""
    made = snapshot_refs._part(data.decode(errors="replace"))
    assert re.fullmatch(r"[A-Za-z0-9_-]+", made)
    return made


def matching(data: bytes) -> object:
    """No file name evades a pattern that should match it."""
    for name in names_in(data)[:50]:
        path = name.decode(errors="surrogateescape")
        files = Files(Path("/nowhere"), (path, f"{path}/.env", f".env/{path}"))
        assert files.matching("**") == [*files.paths]
        assert files.matching(".env") == [f"{path}/.env", *([path] if path.endswith("/.env") else [])] or (
            ".env" in path
        )
        assert files.matching(".env/**") == [each for each in files.paths if each.startswith(".env/")]
        name_as_text(path).encode()
    return None


def protecting(data: bytes) -> object:
    """Files that gates depend on are protected in any directory, and so is any name in a test directory."""
    protected = protection.Protection(protect=("src/**",), below="sub/")
    for name in names_in(data)[:50]:
        path = path_as_text(name)
        assert protected.role(f"{path}/conftest.py") == "tool"
        assert protected.role(f"{path}/tests/a.txt") is not None
        assert protected.role(f"tests/{path}") is not None
        assert protected.role(f"src/{path}") is not None
    return None


def executed(data: bytes) -> object:
    command = data.decode(errors="replace")
    found = executed_files.files_run_by(command, "sub")
    assert "sub/check.sh" in executed_files.files_run_by(f"sh check.sh\n{command}", "sub") or "'" in command
    return found


def followed(data: bytes) -> object:
    text = data.decode(errors="replace")
    places = ("check.sh", "Makefile", "package.json", "check.py", "sub/check.js")
    return [followed_files.files_named_in(place, text, "") for place in places]


def sane(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        Path(folder, "a.py").write_bytes(data)
        files = Files(Path(folder), ("a.py", "gone.py", "\udcff.orig"))
        return sanity.Sanity(largest=100, tests={"*.py": "test_{stem}.py"})._look(files)
