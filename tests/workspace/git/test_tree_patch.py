"""A patched tree is the tree that git would have written, and its differences are those git finds."""

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
from untilgreen.workspace.git.loose_objects import LooseObjects
from untilgreen.workspace.git.tree_diff import Difference, differences
from untilgreen.workspace.git.tree_patch import MOST_BYTES, MOST_PATHS, NotPatchable, Patcher

NAMES = st.sampled_from(
    ["a", "b.txt", "é", "with space", "-dash", "*?[x]", ":", "z-", "z", "z.", "lib", "a^{b}"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
FILES = st.dictionaries(PATHS, st.tuples(st.sampled_from(["1\n", "2\n"]), st.booleans()), max_size=12)
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def lay_out(place: Path, files: dict[str, tuple[str, bool]]) -> None:
    """Write these files, except those whose path conflicts with a file or directory that is there."""
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


def patcher_of(place: Path, object_format: str = "sha1", *, filters: bool = False) -> Patcher:
    return Patcher(place, LooseObjects(place / ".git" / "objects", object_format), filters=filters)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@settings(max_examples=25, deadline=None)
@given(before=FILES, after=FILES)
@example(
    before={":/a/b": ("1\n", False), ":/a/c": ("1\n", False)},
    after={":/a/b": ("2\n", False), ":/a/c": ("1\n", False)},
)
def test_it_is_what_git_would_write(
    object_format: str, before: dict[str, tuple[str, bool]], after: dict[str, tuple[str, bool]]
) -> None:
    with TemporaryDirectory() as name:
        place = Path(name)
        git(place, "init", "--quiet", f"--object-format={object_format}")
        lay_out(place, before)
        first = written(place)
        clear(place)
        lay_out(place, after)
        listed = git(place, "ls-files", "-z", "--modified", "--deleted", "--others").split("\0")
        paths = [os.fsencode(path) for path in dict.fromkeys(listed) if path]
        patcher = patcher_of(place, object_format)

        async def patch() -> tuple[str, list[Difference], list[Difference]]:
            try:
                made = await patcher.patched(Git(place=place), first, paths)
            except NotPatchable:
                return "left to git", [], []
            git(place, "fsck", "--strict", made)
            compared = patcher.differences(first, made)
            assert compared is not None or not paths
            found = compared.found if compared else []
            return made, found, await differences(Git(place=place), first, made)

        made, found, asked = anyio.run(patch)
        wanted = written(place)

    shapes = {path.decode() for path in paths}
    exchanged = any(other.startswith(f"{path}/") for path in shapes for other in shapes)
    assert made == wanted or (made == "left to git" and (exchanged or not after))
    assert found == asked


@pytest.fixture
def tree(repository: Path) -> str:
    write(repository, {"a.txt": "1\n", "deep/b.txt": "2\n"})
    (repository / "to-a").symlink_to("a.txt")
    commit(repository)
    return written(repository)


async def test_the_files_of_a_directory_that_is_gone_go_with_it(repository: Path, tree: str) -> None:
    shutil.rmtree(repository / "deep")
    made = await patcher_of(repository).patched(Git(place=repository), tree, [b"deep/b.txt"])

    assert git(repository, "ls-tree", "-r", "--name-only", made) == "a.txt\nto-a\n"


async def test_what_the_tree_does_not_have_is_taken_refused_or_skipped(repository: Path, tree: str) -> None:
    write(repository, {"a.txt": "changed\n", "deep/er/new.txt": "1\n"})
    paths, patcher, asked = [b"a.txt", b"deep/er/new.txt"], patcher_of(repository), Git(place=repository)

    taken = await patcher.patched(asked, tree, paths)
    skipped = await patcher.patched(asked, tree, paths, "skip")

    assert git(repository, "ls-tree", "-r", "--name-only", taken).split()[:2] == ["a.txt", "deep/b.txt"]
    assert git(repository, "diff-tree", "-r", "--name-status", tree, skipped) == "M\ta.txt\n"
    with pytest.raises(NotPatchable):
        await patcher.patched(asked, tree, paths, "refuse")
    (repository / "a.txt").unlink()
    with pytest.raises(NotPatchable):
        await patcher.patched(asked, tree, [b"a.txt"], "refuse")


async def test_what_is_not_plain_is_left_to_git(repository: Path, tree: str) -> None:
    (repository / "link").symlink_to("a.txt")
    (repository / "deep").rename(repository / "elsewhere")
    (repository / "deep").symlink_to("elsewhere")
    write(repository, {"two\nlines": "", "large": b"0" * (MOST_BYTES + 1), "closed": ""})
    (repository / "closed").chmod(0)
    odd = [b"link", b"two\nlines", b"elsewhere", b"large", b"deep/b.txt", b"to-a", b"deep"]
    for path in odd:
        with pytest.raises(NotPatchable):
            await patcher_of(repository).patched(Git(place=repository), tree, [path])
    many = [b"%d" % number for number in range(MOST_PATHS + 1)]
    with pytest.raises(NotPatchable):
        await patcher_of(repository).patched(Git(place=repository), tree, many)


async def test_a_file_that_a_filter_rewrites_is_left_to_git(repository: Path, tree: str) -> None:
    write(repository, {"a.txt": "2\n", "deep/b.txt": "3\n", ".gitattributes": "a.txt filter=upper\n"})
    patcher, asked = patcher_of(repository, filters=True), Git(place=repository)

    made = await patcher.patched(asked, tree, [b"deep/b.txt"])

    assert git(repository, "show", f"{made}:deep/b.txt") == "3\n"
    with pytest.raises(NotPatchable):
        await patcher.patched(asked, tree, [b"deep/b.txt", b"a.txt"])


async def test_a_directory_that_somebody_overwrote_in_git_is_not_trusted(repository: Path, tree: str) -> None:
    other = git(repository, "rev-parse", f"{tree}:deep").strip()
    objects = repository / ".git" / "objects"
    forged = objects / tree[:2] / tree[2:]
    forged.chmod(0o644)
    shutil.copyfile(objects / other[:2] / other[2:], forged)
    write(repository, {"a.txt": "2\n"})

    with pytest.raises(NotPatchable):
        await patcher_of(repository).patched(Git(place=repository), tree, [b"a.txt"])


async def test_what_cannot_be_written_is_left_to_git(repository: Path, tree: str) -> None:
    write(repository, {"a.txt": "2\n"})
    shutil.rmtree(repository / ".git" / "objects" / "0c", ignore_errors=True)
    write(repository, {".git/objects/0c": "a file where the folder of this blob has to be\n"})

    with pytest.raises(NotPatchable):
        await patcher_of(repository).patched(Git(place=repository), tree, [b"a.txt"])


def test_trees_that_were_never_read_are_not_compared(repository: Path, tree: str) -> None:
    assert patcher_of(repository).differences(tree, EMPTY) is None
