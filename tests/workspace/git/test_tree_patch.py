"""A patched_tree tree is the very tree that git would have written."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.workspace.helpers import commit, git, write
from untilgreen.workspace.git.command import Git
from untilgreen.workspace.git.tree_patch import MOST_PATHS, NotPatchable, patched_tree

NAMES = st.sampled_from(["a", "b.txt", "é", "with space", "-dash", "*?[x]", ":", "z-", "z", "z.", "lib"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
FILES = st.dictionaries(PATHS, st.tuples(st.sampled_from(["1\n", "2\n"]), st.booleans()), max_size=12)


def lay_out(place: Path, files: dict[str, tuple[str, bool]]) -> None:
    """The files that fit beside each other: none is below another."""
    for path, (text, executable) in files.items():
        target = place / path
        if target.is_dir() or any(above.is_file() for above in target.parents):
            continue
        write(place, {path: text})
        target.chmod(0o755 if executable else 0o644)


def written(place: Path) -> str:
    git(place, "add", "-A")
    return git(place, "write-tree").strip()


def clear(place: Path) -> None:
    for item in place.iterdir():
        if item.name != ".git":
            shutil.rmtree(item) if item.is_dir() else item.unlink()


@settings(max_examples=30, deadline=None)
@given(FILES, FILES)
@example(
    {":/a/b": ("1\n", False), ":/a/c": ("1\n", False)}, {":/a/b": ("2\n", False), ":/a/c": ("1\n", False)}
)
def test_it_is_what_git_would_write(
    before: dict[str, tuple[str, bool]], after: dict[str, tuple[str, bool]]
) -> None:
    with TemporaryDirectory() as name:
        place = Path(name)
        git(place, "init", "--quiet")
        lay_out(place, before)
        first = written(place)
        clear(place)
        lay_out(place, after)
        listed = git(place, "ls-files", "-z", "--modified", "--deleted", "--others").split("\0")
        paths = [os.fsencode(path) for path in dict.fromkeys(listed) if path]
        wanted = written(place)

        async def patch() -> str:
            try:
                return await patched_tree(Git(place=place), first, paths)
            except NotPatchable:
                return "left to git"

        made = anyio.run(patch)

    shapes = {path.decode() for path in paths}
    exchanged = any(other.startswith(f"{path}/") for path in shapes for other in shapes)
    empty = wanted == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert made == wanted or (made == "left to git" and (exchanged or empty))


@pytest.fixture
def tree(repository: Path) -> str:
    write(repository, {"a.txt": "1\n", "deep/b.txt": "2\n"})
    commit(repository)
    return written(repository)


async def test_the_files_of_a_directory_that_is_gone_go_with_it(repository: Path, tree: str) -> None:
    shutil.rmtree(repository / "deep")
    made = await patched_tree(Git(place=repository), tree, [b"deep/b.txt"])

    assert git(repository, "ls-tree", "-r", "--name-only", made) == "a.txt\n"


async def test_what_is_not_plain_is_left_to_git(repository: Path, tree: str) -> None:
    (repository / "link").symlink_to("a.txt")
    write(repository, {"two\nlines": "", 'quo"ted': ""})
    for path in (b"link", b"two\nlines", b'quo"ted', b"deep"):
        with pytest.raises(NotPatchable):
            await patched_tree(Git(place=repository), tree, [path])
    with pytest.raises(NotPatchable):
        await patched_tree(Git(place=repository), tree, [b"%d" % number for number in range(MOST_PATHS + 1)])
    git(repository, "config", "core.fileMode", "false")
    with pytest.raises(NotPatchable):
        await patched_tree(Git(place=repository), tree, [b"a.txt"])
