"""Every kind of file comes back as it was, byte for byte."""

import os
import sys
from pathlib import Path

import msgspec
import pytest

from tests.workspace.helpers import commit, contents, git, settle, write
from untilgreen.errors import WorkspaceNotReady
from untilgreen.workspace.git_workspace import GitWorkspace

ODD_NAMES = [
    "with space.txt",
    " leading and trailing ",
    "line\nbreak.txt",
    "tab\there.txt",
    "\"quoted\" 'both'.txt",
    "back\\slash.txt",
    "-dash.txt",
    "--help",
    ":(exclude)magic.txt",
    ":/top.txt",
    "\x1b]0;title\x07.txt",
    "a\u202etxt.py",
    "star*[a].txt",
    "!bang.txt",
    "#hash.txt",
    "$HOME `id` ;&|.txt",
    "ünïcödé-日本語-🟢.txt",
    "e\u0301-decomposed.txt",
    "…/nested -dir/\nfile",
]


async def test_odd_names_are_kept_and_brought_back(repository: Path, workspace: GitWorkspace) -> None:
    files: dict[str, str | bytes] = {name: f"{number}\n" for number, name in enumerate(ODD_NAMES)}
    empty = await workspace.snapshot("0")
    write(repository, files)
    full = await workspace.snapshot("1")
    await workspace.restore(empty, full)
    assert contents(repository) == {}
    await workspace.restore(full, empty)

    assert contents(repository) == {name: str(content).encode() for name, content in files.items()}
    changed = await workspace.changes(empty, full)
    assert {change.path for change in changed} == set(ODD_NAMES)
    assert {change.status for change in changed} == {"added"}


@pytest.mark.parametrize("name", ["git~1", ".GIT", ".git ", "a/.GIT/config"])
async def test_names_that_git_never_tracks_are_reported(
    repository: Path, workspace: GitWorkspace, name: str
) -> None:
    write(repository, {name: "1\n", "b.txt": "1\n"})
    full = await workspace.snapshot("1")

    assert git(repository, "ls-tree", "-r", "--name-only", full).split("\n") == ["b.txt", ""]
    assert workspace.warnings() == [f"git says: Ignoring path {name}"]


async def test_ignore_rules_are_asked_about_the_path_itself(
    repository: Path, workspace: GitWorkspace
) -> None:
    """git would take the name `:/build` for the directory `build` at the top level."""
    write(repository, {".gitignore": "/build\n"})
    empty = await workspace.snapshot("0")
    write(repository, {".gitignore": "", ":/build/out.txt": "1\n", "build/out.txt": "1\n"})
    await workspace.snapshot("1")
    await workspace.restore(empty, None)

    assert contents(repository) == {".gitignore": b"/build\n", "build/out.txt": b"1\n"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't allow arbitrary bytes in file names")
async def test_names_that_are_not_text_are_kept_and_can_be_reported(
    repository: Path, workspace: GitWorkspace
) -> None:
    name = repository / os.fsdecode(b"latin-\xe9.txt")
    empty = await workspace.snapshot("0")
    name.write_bytes(b"1\n")
    full = await workspace.snapshot("1")
    name.write_bytes(b"somebody\n")
    done = await workspace.restore(empty, full)
    encoded = msgspec.json.encode([await workspace.changes(empty, full), done])
    assert name.read_bytes() == b"somebody\n"
    await workspace.restore(empty, None)

    assert rb"latin-\\xe9.txt" in encoded
    assert done.kept == ("latin-\\xe9.txt",)
    assert contents(repository) == {}


async def test_links_are_kept_as_links(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"target.txt": "1\n", "folder/in.txt": "2\n", "plain": "3\n", "up/in.txt": "4\n"})
    links = {"link": "target.txt", "broken": "nowhere", "up/out": "/etc/passwd", "to-folder": "folder"}
    for name, target in links.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).symlink_to(target)
    before_files = contents(repository)
    before = await workspace.snapshot("0")
    for name in links:
        (repository / name).unlink()
    write(repository, {"link": "now a file\n"})
    (repository / "broken").symlink_to("somewhere else")
    (repository / "plain").unlink()
    (repository / "plain").symlink_to("folder")
    write(repository, {"to-folder/in.txt": "now a directory\n"})
    after_files = contents(repository)
    after = await workspace.snapshot("1")

    await workspace.restore(before, after)
    assert contents(repository) == before_files
    await workspace.restore(after, before)
    assert contents(repository) == after_files


async def test_a_restore_never_writes_through_a_link(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, {"precious.txt": "mine\n"})
    write(repository, {"folder/precious.txt": "1\n", ".gitignore": "ignored\n"})
    write(repository, {"ignored/deep.txt": "not kept\n"})
    before = await workspace.snapshot("0")
    (repository / "folder" / "precious.txt").unlink()
    (repository / "folder").rmdir()
    (repository / "folder").symlink_to(outside)
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert contents(outside) == {"precious.txt": b"mine\n"}
    assert (repository / "folder").is_dir()
    assert not (repository / "folder").is_symlink()
    assert (repository / "folder/precious.txt").read_bytes() == b"1\n"


async def test_the_right_to_execute_is_kept(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"tool.sh": "#!/bin/sh\n", "text.txt": "1\n"})
    (repository / "tool.sh").chmod(0o755)
    before = await workspace.snapshot("0")
    (repository / "tool.sh").chmod(0o644)
    (repository / "text.txt").chmod(0o755)
    after = await workspace.snapshot("1")
    changed = [change.path for change in await workspace.changes(before, after)]
    await workspace.restore(before, after)

    assert changed == ["text.txt", "tool.sh"]
    assert os.access(repository / "tool.sh", os.X_OK)
    assert not (repository / "text.txt").stat().st_mode & 0o111


LINE_ENDS = {
    "unix.txt": b"a\nb\n",
    "dos.txt": b"a\r\nb\r\n",
    "mixed.txt": b"a\r\nb\n",
    "run.bat": b"a\r\nb\r\n",
    "lf.bat": b"a\nb\n",
    "ident.c": b"$Id$\n",
    "wide.txt": "ä\n".encode("utf-16"),
}
CONVERTED = {
    "core.autocrlf": ["true", "input", "false"],
    "core.eol": ["crlf"],
    "core.safecrlf": ["true"],
}


@pytest.mark.parametrize(
    "setting", [f"{key}={value}" for key, values in CONVERTED.items() for value in values]
)
@pytest.mark.parametrize(
    "attributes",
    [
        "",
        "* text=auto\n",
        "* text eol=crlf\nwide.txt -text\n",
        "* text=auto eol=lf\n*.bat text eol=crlf\n*.c ident\nwide.txt working-tree-encoding=UTF-16\n",
    ],
)
async def test_bytes_on_disk_stay_whatever_is_configured_about_line_ends(
    setting: str, attributes: str, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {".gitattributes": attributes, **LINE_ENDS})
    git(repository, "-c", "core.safecrlf=false", "add", "-A")
    git(repository, "commit", "--quiet", "-m", "work")
    git(repository, "config", *setting.split("=", 1))
    for file in LINE_ENDS:
        (repository / file).unlink()
    git(repository, "checkout", "--", ".")
    settle(repository, *LINE_ENDS)
    before_files = contents(repository)
    before = await workspace.snapshot("0")
    write(repository, {name: b"new\r\n" if b"\r" not in old else b"new\n" for name, old in LINE_ENDS.items()})
    write(repository, {"added.bat": b"x\ny\n", "added.txt": b"x\r\ny\n"})
    after_files = contents(repository)
    after = await workspace.snapshot("1")

    await workspace.restore(before, after)
    assert contents(repository) == before_files
    await workspace.restore(after, before)
    assert contents(repository) == after_files


async def test_other_line_ends_are_other_content(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {".gitattributes": "* text=auto\n", "run.sh": "a\nb\n"})
    commit(repository)
    unix = await workspace.snapshot("0")
    write(repository, {"run.sh": "a\r\nb\r\n"})

    assert await workspace.snapshot("1") != unix


async def test_ignored_files_are_neither_kept_nor_removed(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {".gitignore": "*.log\nbuild/\n", "a.txt": "1\n"})
    write(repository, {".git/info/exclude": "secret.env\n"})
    before = await workspace.snapshot("0")
    ignored = {"debug.log": "1\n", "build/out.txt": "1\n", "secret.env": "1\n"}
    write(repository, {**ignored, "a.txt": "2\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert [change.path for change in await workspace.changes(before, after)] == ["a.txt"]
    assert contents(repository) == {
        ".gitignore": b"*.log\nbuild/\n",
        "a.txt": b"1\n",
        **{name: text.encode() for name, text in ignored.items()},
    }


async def test_tracked_files_are_kept_although_a_rule_ignores_them(
    repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {".gitignore": "*.log\n", "kept.log": "1\n"})
    git(repository, "add", "--force", "kept.log")
    before = await workspace.snapshot("0")
    write(repository, {"kept.log": "2\n"})
    after = await workspace.snapshot("1")

    assert [change.path for change in await workspace.changes(before, after)] == ["kept.log"]


async def test_empty_directories_that_a_restore_leaves_are_removed_and_others_stay(
    repository: Path, workspace: GitWorkspace
) -> None:
    (repository / "empty").mkdir()
    write(repository, {"a.txt": "1\n"})
    before = await workspace.snapshot("0")
    write(repository, {"deep/er/b.txt": "1\n"})
    await workspace.restore(before, await workspace.snapshot("1"))

    assert contents(repository) == {"a.txt": b"1\n", "empty": None}


@pytest.mark.parametrize("key", ["clean", "process"])
async def test_a_filter_whose_program_is_missing_is_named(
    key: str, repository: Path, workspace: GitWorkspace, private: Path
) -> None:
    write(repository, {"big.bin": "1\n"})
    commit(repository)
    write(repository, {".gitattributes": "*.bin filter=lfs\n"})
    git(repository, "config", "--global", f"filter.lfs.{key}", "no-such-program-of-a-filter")
    git(repository, "config", "--global", "filter.lfs.required", "true")
    write(repository, {"big.bin": "changed\n"})

    with pytest.raises(WorkspaceNotReady, match=r"big\.bin.*filter.*Install the program"):
        await workspace.snapshot("0")
    git(repository, "config", "--global", "--unset", "filter.lfs.required")
    git(repository, "config", "--global", "--unset", f"filter.lfs.{key}")
    assert await GitWorkspace(repository, "r1", private).snapshot("0")


async def test_a_filter_runs_both_ways_and_finds_its_store(
    repository: Path, workspace: GitWorkspace, tmp_path: Path
) -> None:
    program = tmp_path / "filter"
    program.write_text(
        "#!/bin/sh\n# Like git-lfs: content goes to a store in the git directory, a pointer goes to git.\n"
        'store="$(git rev-parse --git-common-dir)/lfs"\nmkdir -p "$store"\necho $1 >> "$0.runs"\n'
        'if [ "$1" = clean ]; then\n  cat > "$store/new"; id=$(cksum < "$store/new" | tr " " -)\n'
        '  mv "$store/new" "$store/$id"; echo "pointer $id"\n'
        'else\n  read -r _ id; cat "$store/$id"\nfi\n'
    )
    program.chmod(0o755)
    for key in ("clean", "smudge"):
        git(repository, "config", "--global", f"filter.lfs.{key}", f"{program} {key}")
    git(repository, "config", "--global", "filter.lfs.required", "true")
    write(repository, {".gitattributes": "*.bin filter=lfs\n", "big.bin": "one\n" * 100})
    commit(repository)
    settle(repository, "big.bin")
    committed = git(repository, "rev-parse", "HEAD^{tree}").strip()
    runs = (tmp_path / "filter.runs").read_text()
    before = await workspace.snapshot("0")
    assert (tmp_path / "filter.runs").read_text() == runs
    write(repository, {"big.bin": "two\n"})
    after = await workspace.snapshot("1")
    await workspace.restore(before, after)

    assert before == committed
    assert git(repository, "show", f"{after}:big.bin").startswith("pointer")
    assert (repository / "big.bin").read_text() == "one\n" * 100
    assert len(list((repository / ".git" / "lfs").iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("tracked", [True, False])
async def test_a_file_that_may_not_be_read_is_named(
    tracked: bool, repository: Path, workspace: GitWorkspace
) -> None:
    write(repository, {"closed.txt": "1\n", "open.txt": "1\n"})
    if tracked:
        commit(repository)
        write(repository, {"closed.txt": "changed\n"})
    (repository / "closed.txt").chmod(0)

    with pytest.raises(WorkspaceNotReady, match=r"closed\.txt.*Make it readable"):
        await workspace.snapshot("0")
    write(repository, {".git/info/exclude": "closed.txt\n"})
    (repository / "closed.txt").chmod(0o644)
    assert await workspace.snapshot("0")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
async def test_an_unreadable_directory_is_reported(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"closed/a.txt": "1\n", "open.txt": "1\n"})
    (repository / "closed").chmod(0)
    try:
        await workspace.snapshot("0")
    finally:
        (repository / "closed").chmod(0o755)

    assert [warning for warning in workspace.warnings() if "closed" in warning]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
async def test_pipes_and_sockets_are_passed_over(repository: Path, workspace: GitWorkspace) -> None:
    write(repository, {"a.txt": "1\n"})
    before = await workspace.snapshot("0")
    os.mkfifo(repository / "pipe")

    assert await workspace.snapshot("1") == before
