"""A snapshot of a repository with 100,000 files, ten of them changed, compared with `git add -A`.

Ours: `snapshot` of the git workspace, with the tree written and kept under its ref.
Baseline: `git add -A` with its own, equally warm private index; it writes no tree and no ref.
Both see the same ten changes, and take turns in going first, so that neither has a warmer cache.
Bar: the fastest of six rounds takes at most 1.3 times as long as the baseline's fastest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio

from untilgreen.workspace.factory import open_workspace
from untilgreen.workspace.git_workspace import GitWorkspace

FILES, FOLDERS = 100_000, 1_000
CHANGES = 10
WARM, ROUNDS = 2, 6
MOST = 1.3


async def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        work, index = _repository(folder / "work"), folder / "index"
        shutil.copy2(work / ".git" / "index", index)
        workspace = await open_workspace(work, run="bench", private_dir=folder / "private")
        mine, theirs = [], []
        for number in range(WARM + ROUNDS):
            _change(work, number)
            if number % 2:
                first, second = await ours(workspace, number), add(work, index)
            else:
                second, first = add(work, index), await ours(workspace, number)
            if number >= WARM:
                mine.append(first)
                theirs.append(second)
                print(f"round {number - 1}: snapshot {first * 1e3:.0f} ms, git add -A {second * 1e3:.0f} ms")
    ratio = min(mine) / min(theirs)
    print(f"{FILES:,} files, {CHANGES} changes: snapshot {min(mine) * 1e3:.0f} ms")
    print(f"git add -A with a warm private index (baseline): {min(theirs) * 1e3:.0f} ms")
    print(f"ratio snapshot / git add -A: {ratio:.2f}, bar {MOST:.2f}")
    return int(ratio > MOST)


async def ours(workspace: GitWorkspace, number: int) -> float:
    """The seconds that one snapshot takes."""
    started = perf_counter()
    await workspace.snapshot(str(number))
    return perf_counter() - started


def add(work: Path, index: Path) -> float:
    """The seconds that `git add -A` takes."""
    started = perf_counter()
    subprocess.run(
        ["git", "add", "-A"], cwd=work, env={**os.environ, "GIT_INDEX_FILE": str(index)}, check=True
    )
    return perf_counter() - started


def _repository(work: Path) -> Path:
    for number in range(FOLDERS):
        place = work / f"{number % 30:02d}" / f"{number:04d}"
        place.mkdir(parents=True)
        for file in range(FILES // FOLDERS):
            (place / f"{file:03d}.txt").write_text(f"{number} {file}\n")
    settings = ("user.name N", "user.email n@example.org", "gc.auto 0")  # no packing in the background
    for command in ("init --quiet", *(f"config {setting}" for setting in settings), "add --all"):
        subprocess.run(["git", *command.split()], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=start"], cwd=work, check=True)
    return work


def _change(work: Path, number: int) -> None:
    """Change seven files, add two, remove one."""
    for change in range(CHANGES - 3):
        (work / f"{change:02d}" / f"{change:04d}" / f"{number:03d}.txt").write_text(f"changed {number}\n")
    for change in (7, 8):
        (work / f"{change:02d}" / f"{change:04d}" / f"new-{number}.txt").write_text(f"new {number}\n")
    (work / "09" / "0009" / f"{number:03d}.txt").unlink()


if __name__ == "__main__":
    sys.exit(anyio.run(main))
