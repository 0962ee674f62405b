"""Objects that an agent overwrites are detected: an object's name is the hash of its content."""

import zlib
from pathlib import Path

import pytest

from tests.workspace.helpers import git
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

pytestmark = pytest.mark.anyio


def forge(repository: Path, name: str, kind: str, content: bytes) -> None:
    """Overwrite an object with other content, as an agent without a sandbox can."""
    path = repository / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"%s %d\0" % (kind.encode(), len(content)) + content))


async def kept(repository: Path, workspace: GitWorkspace) -> str:
    for name, text in (("tests/test_calc.py", "assert 1 == 2\n"), ("calc.py", "x = 1\n")):
        path = repository / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return await workspace.snapshot("1")


async def test_a_content_that_was_overwritten_is_neither_read_nor_put_anywhere(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    tree = await kept(repository, workspace)
    trees, into = Exporter(workspace), tmp_path / "room"
    assert await trees.content(tree, "tests/test_calc.py") == b"assert 1 == 2\n"
    forge(
        repository,
        git(repository, "rev-parse", f"{tree}:tests/test_calc.py").strip(),
        "blob",
        b"assert True\n",
    )

    with pytest.raises(WorkspaceNotReady, match=r"does not match its name.*git fsck"):
        await trees.content(tree, "tests/test_calc.py")
    into.mkdir()
    with pytest.raises(WorkspaceNotReady, match="does not match its name"):
        await trees.export(tree, into)
    with pytest.raises(WorkspaceNotReady, match="does not match its name"):
        async with trees.in_place(tree, parts={}, aside=()):
            pytest.fail("the block began")
    assert await trees.content(tree, "calc.py") == b"x = 1\n"
    with pytest.raises(AssertionError, match="hash-path mismatch"):
        git(repository, "fsck")


async def test_a_directory_that_was_overwritten_says_nothing_about_what_changed(
    repository: Path, workspace: GitWorkspace
) -> None:
    """If the untouched tree had the weakened test, nothing would seem to have changed."""
    tree = await kept(repository, workspace)
    (repository / "tests" / "test_calc.py").write_text("assert True\n")
    later = await workspace.snapshot("2")
    trees = Exporter(workspace)
    assert [each.path for each in await trees.changes(tree, later)] == ["tests/test_calc.py"]
    old = git(repository, "rev-parse", f"{tree}:tests").strip()
    new = bytes.fromhex(git(repository, "rev-parse", f"{later}:tests/test_calc.py").strip())
    forge(repository, old, "tree", b"100644 test_calc.py\0" + new)

    with pytest.raises(WorkspaceNotReady, match="does not match its name"):
        await trees.changes(tree, later)


async def test_lines_of_a_content_that_was_overwritten_are_not_believed(
    repository: Path, workspace: GitWorkspace
) -> None:
    """Without the import, a test helper would look like product code, which may be changed."""
    (repository / "a_test.go").write_text('import "calc/helper"\n')
    tree, trees = await kept(repository, workspace), Exporter(workspace)
    assert await trees.lines(tree, "import", "*.go") == {"a_test.go": ['import "calc/helper"']}
    forge(repository, git(repository, "rev-parse", f"{tree}:calc.py").strip(), "blob", b"forged\n")
    assert list(await trees.lines(tree, "import", "*.go")) == ["a_test.go"]
    forge(repository, git(repository, "rev-parse", f"{tree}:a_test.go").strip(), "blob", b"forged\n")

    with pytest.raises(WorkspaceNotReady, match="does not match its name"):
        await trees.lines(tree, "import", "*.go")


async def test_links_programs_and_filtered_files_are_what_they_are(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    """A filtered file on disk differs from its object, so the object itself is checked."""
    git(repository, "config", "--global", "filter.loud.smudge", "tr a-z A-Z")
    git(repository, "config", "--global", "filter.loud.clean", "tr A-Z a-z")
    (repository / ".gitattributes").write_text("*.loud filter=loud\n")
    (repository / "word.loud").write_text("WORD\n")
    (repository / "link").symlink_to("word.loud")
    (repository / "run").write_text("#!/bin/sh\n")
    (repository / "run").chmod(0o755)
    tree, into = await kept(repository, workspace), tmp_path / "room"
    into.mkdir()

    await Exporter(workspace).export(tree, into)

    assert (into / "word.loud").read_text() == "WORD\n"
    assert (into / "link").readlink() == Path("word.loud")
    forge(repository, git(repository, "rev-parse", f"{tree}:word.loud").strip(), "blob", b"forged\n")
    (tmp_path / "again").mkdir()
    with pytest.raises(WorkspaceNotReady, match="does not match its name"):
        await Exporter(workspace).export(tree, tmp_path / "again")


async def test_what_is_not_a_file_has_no_content(repository: Path, workspace: GitWorkspace) -> None:
    tree = await kept(repository, workspace)
    trees = Exporter(workspace)

    assert await trees.content(tree, "tests") is None
    assert await trees.content(tree, "gone.py") is None
