"""Snapshots made without git equal those that git makes, whatever happens to the files in between."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.workspace.helpers import commit, git, many_files, put_in_front_of_git, write
from untilgreen.workspace.file_stamps import FRESH_NANOSECONDS
from untilgreen.workspace.git_workspace import GitWorkspace

PATHS = ("a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "d/g.log", "run.sh", "é x", "link")
MANY = "too many files to list"
CONTENTS = ("1\n", "2\n", "3\r\n", "$Id$\n", "")


def edit(place: Path, path: str, content: str) -> None:
    """Write to a file in place, or create it."""
    target = place / path
    if target.is_symlink():
        target.unlink()
    if not target.is_dir() and all(each.is_dir() for each in target.parents if each.exists()):
        write(place, {path: content})


def replace(place: Path, path: str, content: str) -> None:
    """Rename another file over it, as editors do."""
    if (place / path).is_file():
        (place / "draft~").write_bytes(content.encode())
        (place / "draft~").rename(place / path)


def disguise(place: Path, path: str, content: str) -> None:
    """Change the bytes but not size and time, unless git would miss it: it compares whole seconds."""
    target = place / path
    if target.is_file() and not target.is_symlink():
        before = target.stat()
        target.write_bytes(target.read_bytes().translate(bytes(range(255, -1, -1))))
        if int(before.st_mtime) == int(before.st_ctime):
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))


def turn(place: Path, path: str, content: str) -> None:
    if (place / path).is_file() and not (place / path).is_symlink():
        (place / path).chmod((place / path).stat().st_mode ^ 0o100)


def remove(place: Path, path: str, content: str) -> None:
    (place / path).unlink(missing_ok=True)


def point(place: Path, path: str, content: str) -> None:
    remove(place, path, content)
    if (place / path).parent.is_dir():
        (place / path).symlink_to(content.strip() or "nowhere")


def swap(place: Path, path: str, content: str) -> None:
    """Replace the directory by a link, or the link by the directory again."""
    folder, aside = place / "d", place / "aside"
    if folder.is_symlink():
        folder.unlink()
        aside.rename(folder)
    elif folder.is_dir() and not aside.exists():
        folder.rename(aside)
        folder.symlink_to("aside")


def ignore(place: Path, path: str, content: str) -> None:
    write(place, {".gitignore": f"*.log\n{path}\n" if content else "*.log\n"})


def attribute(place: Path, path: str, content: str) -> None:
    """Also touch the files: git doesn't reread a file because its attributes changed."""
    write(place, {".gitattributes": f"* text=auto ident\n{path} eol=crlf filter=rot\n" if content else ""})
    for each in PATHS:
        if (place / each).is_file():
            (place / each).touch()


def nest(place: Path, path: str, content: str) -> None:
    inner = place / "inner"
    if inner.exists():
        shutil.rmtree(inner)
    else:
        inner.mkdir()
        git(inner, "init", "--quiet")
        write(inner, {"x": content})


def settle(place: Path, path: str, content: str) -> None:
    time.sleep(1.2 * FRESH_NANOSECONDS / 1e9)


DEEDS: tuple[Callable[[Path, str, str], None], ...] = (
    *(
        edit,
        edit,
        edit,
        replace,
        disguise,
        turn,
        remove,
        point,
        swap,
        ignore,
        attribute,
        nest,
        settle,
        settle,
    ),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(DEEDS), st.sampled_from(PATHS), st.sampled_from(CONTENTS)),
    min_size=1,
    max_size=3,
)
SETTINGS = st.sampled_from(
    ["", MANY, "core.autocrlf=true", "core.fileMode=false", "core.symlinks=false", "filters"]
)


async def agree(home: Path, setting: str, steps: list[list[tuple[Callable[..., None], str, str]]]) -> int:
    """Take each snapshot twice, the second with git alone; return how often the first skipped the index."""
    place = home / "place"
    place.mkdir()
    git(place, "init", "--quiet")
    if setting == "filters":
        git(place, "config", "--global", "filter.rot.clean", "tr a-z1-3 n-za-m4-6")
    elif setting == MANY:
        write(place, many_files())
    elif setting:
        git(place, "config", *setting.split("="))
    write(place, {path: "1\n" for path in PATHS[:-1]})
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("a.txt")
    write(place, {".gitignore": "*.log\n"})
    commit(place)
    ours = GitWorkspace(place, "ours", home / "ours")
    alone = GitWorkspace(place, "alone", home / "alone")
    (await alone._ready()).patcher = None
    before = await ours.snapshot("0")
    assert before == await alone.snapshot("0")
    without_git = 0
    for number, step in enumerate(steps, 1):
        for deed, path, content in step:
            deed(place, path, content)
        index = home / "ours" / "git" / "index"
        marked = index.stat().st_mtime_ns
        now = await ours.snapshot(str(number))
        without_git += now != before and index.stat().st_mtime_ns == marked
        assert now == await alone.snapshot(str(number)), (number, step)
        assert await ours.changes(before, now) == await alone.changes(before, now)
        before = now
    git(place, "fsck", "--strict")
    return without_git


@settings(max_examples=int(os.environ.get("FUZZ_EXAMPLES", "8")), deadline=None)
@given(SETTINGS, st.lists(STEPS, min_size=2, max_size=8))
@example("", [[(edit, "a.txt", "2\n")], [(ignore, "a.txt", "1\n"), (edit, "b.txt", "2\n")]])
@example("", [[(settle, "", "")], [(disguise, "a.txt", "")], [(turn, "run.sh", "")]])
@example("filters", [[(attribute, "a.txt", "1\n")], [(edit, "a.txt", "2\n")], [(edit, "b.txt", "2\n")]])
@example("", [[(edit, "d/g.log", "2\n")], [(ignore, "x", "")], [(edit, ".gitignore", "")]])
@example(MANY, [[(settle, "", "")], [(edit, "a.txt", "2\n")], [(edit, "d/n.txt", "")], [(swap, "", "")]])
@example(MANY, [[(settle, "", "")], [(edit, "d/g.log", "2\n")], [(edit, ".gitignore", "")], [(nest, "", "")]])
@pytest.mark.timeout(1800)
def test_every_snapshot_is_the_one_that_git_makes(
    setting: str, steps: list[list[tuple[Callable[..., None], str, str]]]
) -> None:
    with TemporaryDirectory() as name:
        home = Path(name).resolve()
        (home / "config").touch()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GIT_CONFIG_GLOBAL", str(home / "config"))
            patch.setenv("GIT_AUTHOR_NAME", "A")
            patch.setenv("GIT_AUTHOR_EMAIL", "a@example.org")
            patch.setenv("GIT_COMMITTER_NAME", "A")
            patch.setenv("GIT_COMMITTER_EMAIL", "a@example.org")
            anyio.run(agree, home, setting, steps)


async def test_changed_files_are_taken_without_the_index(tmp_path: Path) -> None:
    """The same comparison, for changes that are known not to need git."""
    steps = [[(edit, "a.txt", f"{number}\n"), (turn, "run.sh", "")] for number in range(5, 9)]

    assert await agree(tmp_path, "", steps) == 4


async def test_a_restore_finds_what_was_taken_without_the_index(tmp_path: Path) -> None:
    place = tmp_path / "place"
    await agree(tmp_path, "", [[(edit, "a.txt", "2\n")], [(replace, "d/c.txt", "3\r\n")]])
    workspace = GitWorkspace(place, "third", tmp_path / "third")
    first = await workspace.snapshot("0")
    write(place, {"a.txt": "later\n"})
    second = await workspace.snapshot("1")

    await workspace.restore(first, second)

    assert (place / "a.txt").read_text() == "2\n"
    assert await workspace.snapshot("2") == first
    await workspace.restore(second, first)
    assert (place / "a.txt").read_text() == "later\n"


async def test_a_file_that_was_away_while_git_looked_is_in_the_next_snapshot(
    repository: Path, workspace: GitWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "1\n", "b.txt": "1\n"})
    commit(repository)
    await workspace.snapshot("0")
    write(repository, {"c.txt": "a new file, so that git has to look\n"})
    there, away = repository / "b.txt", tmp_path / "away"
    put_in_front_of_git(
        tmp_path, monkeypatch, f"if '--modified' in rest: os.rename({str(there)!r}, {str(away)!r})\n"
    )
    without = await workspace.snapshot("1")
    monkeypatch.undo()
    away.rename(there)

    assert git(repository, "ls-tree", "--name-only", without).split() == ["a.txt", "c.txt"]
    assert git(repository, "ls-tree", "--name-only", await workspace.snapshot("2")).split() == [
        "a.txt",
        "b.txt",
        "c.txt",
    ]


async def test_a_rule_that_changed_may_ignore_a_file_no_longer(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {".gitignore": "*.log\n", "a.txt": "1\n", "b.log": "1\n"})
    commit(repository)
    before = await workspace.snapshot("0")
    write(repository, {".gitignore": "*.tmp\n"})

    after = await workspace.snapshot("1")

    assert git(repository, "ls-tree", "--name-only", before).split() == [".gitignore", "a.txt"]
    assert git(repository, "ls-tree", "--name-only", after).split() == [".gitignore", "a.txt", "b.log"]


@pytest.mark.parametrize("setting", ["core.fileMode=false", "core.ignoreCase=true"])
async def test_files_whose_modes_do_not_count_are_left_to_git(tmp_path: Path, setting: str) -> None:
    steps = [[(edit, "a.txt", f"{number}\n"), (turn, "run.sh", "")] for number in range(5, 8)]

    assert await agree(tmp_path, setting, steps) == 0
