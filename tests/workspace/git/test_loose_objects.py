"""Objects written without git are the ones that git would have written."""

import os
import resource
from pathlib import Path

import pytest

from tests.workspace.helpers import git, write
from untilgreen.workspace.git.loose_objects import LooseObjects


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("content", [b"", b"text\n", bytes(range(256)) * 1000])
def test_git_finds_an_object_under_its_own_name(tmp_path: Path, content: bytes, object_format: str) -> None:
    git(tmp_path, "init", "--quiet", f"--object-format={object_format}")
    write(tmp_path, {"file": content})
    objects = LooseObjects(tmp_path / ".git" / "objects", object_format)

    name = objects.write(b"blob", content).decode()

    assert name == git(tmp_path, "hash-object", "file").strip()
    assert objects.has(name)
    assert git(tmp_path, "cat-file", "-s", name) == f"{len(content)}\n"
    git(tmp_path, "fsck", "--strict")


def test_an_object_that_is_there_is_made_young_and_not_written_again(tmp_path: Path) -> None:
    """Otherwise `git gc` could remove it as too old."""
    objects = LooseObjects(tmp_path)
    name = objects.write(b"blob", b"1\n").decode()
    file = tmp_path / name[:2] / name[2:]
    os.utime(file, (1_000_000_000, 1_000_000_000))
    inode = file.stat().st_ino

    objects.write(b"blob", b"1\n")

    assert file.stat().st_ino == inode
    assert file.stat().st_mtime > 1_000_000_000
    assert oct(file.stat().st_mode)[-3:] == "444"


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            LooseObjects(tmp_path / "objects").write(b"blob", os.urandom(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_what_is_read_is_what_git_wrote(tmp_path: Path, object_format: str) -> None:
    git(tmp_path, "init", "--quiet", f"--object-format={object_format}")
    write(tmp_path, {"file": "1\n"})
    name = git(tmp_path, "hash-object", "-w", "file").strip()
    objects = LooseObjects(tmp_path / ".git" / "objects", object_format)

    assert objects.read(b"blob", name) == b"1\n"
    assert objects.read(b"commit", name) is None


@pytest.mark.timeout(30)
@pytest.mark.parametrize("instead", ["another object", "a pipe", "a link", "half of it", "nothing"])
def test_an_object_that_is_not_what_its_name_says_is_not_read(tmp_path: Path, instead: str) -> None:
    objects = LooseObjects(tmp_path)
    name, other = (objects.write(b"blob", text).decode() for text in (b"1\n", b"2\n"))
    file, another = (tmp_path / each[:2] / each[2:] for each in (name, other))
    data = file.read_bytes()
    file.unlink()
    match instead:
        case "another object":
            file.write_bytes(another.read_bytes())
        case "a pipe":
            os.mkfifo(file)
        case "a link":
            (tmp_path / "elsewhere").write_bytes(data)
            file.symlink_to(tmp_path / "elsewhere")
        case "half of it":
            file.write_bytes(data[: len(data) // 2])

    assert objects.read(b"blob", name) is None
