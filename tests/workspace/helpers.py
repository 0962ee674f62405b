"""Looking at a repository from outside, as a person would."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def git(place: Path, *arguments: str, env: dict[str, str] | None = None, check: bool = True) -> str:
    """The output of a person's own git."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=place,
        env=os.environ | (env or {}),
        capture_output=True,
        check=False,
        text=True,
        errors="surrogateescape",
    )
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def commit(place: Path, message: str = "work") -> None:
    git(place, "add", "-A")
    git(place, "commit", "--quiet", "--allow-empty", "-m", message)


def write(place: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())


def contents(place: Path) -> dict[str, bytes | str | None]:
    """Everything in a directory: bytes of files, targets of links as text, None for an empty directory."""
    found: dict[str, bytes | str | None] = {}
    for item in sorted(place.rglob("*")):
        name = item.relative_to(place).as_posix()
        if ".git" in item.relative_to(place).parts:
            continue
        if item.is_symlink():
            found[name] = f"-> {item.readlink()}"
        elif item.is_file():
            found[name] = item.read_bytes()
        elif not any(item.iterdir()):
            found[name] = None
    return found


def record_every_hook(repository: Path, log: Path) -> None:
    """Install hooks that write their names to a file; `fsmonitor` is for `core.fsmonitor`."""
    names = [path.stem for path in (repository / ".git" / "hooks").glob("*.sample")]
    for name in {*names, "post-index-change", "reference-transaction", "post-checkout", "fsmonitor"}:
        hook = repository / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> '{log}'\n")
        hook.chmod(0o755)


def settle(place: Path, *paths: str) -> None:
    """Make files look old to git, which otherwise rereads files as young as its index."""
    for path in paths:
        os.utime(place / path, (1_000_000_000, 1_000_000_000))
    git(place, "update-index", "-q", "--refresh", check=False)


def many_files() -> dict[str, str | bytes]:
    """Enough files for an index to count as large; with long names, fewer are needed."""
    return {f"{'long' * 60}/{'path' * 60}/{number}.txt": "same\n" for number in range(2_000)}


def put_in_front_of_git(home: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run some Python before each git command; `verb` is the git subcommand."""
    wrapper = home / "in-front" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f"#!{sys.executable}\nimport os, sys\nrest = sys.argv[1:]\n"
        f"while rest[:1] == ['-c']: rest = rest[2:]\nverb = rest[0]\n{code}"
        "os.environ['PATH'] = os.environ['PATH'].split(':', 1)[1]\n"
        "os.execvp('git', ['git', *sys.argv[1:]])\n"
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
