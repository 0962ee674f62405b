"""A repository of 27,000 files: starting in a worktree, and verifying a run, compared with git and the gates.

Ours: the start of a run in a worktree up to its first snapshot (checkout, private index, lap 0's tree), in
one process; and `untilgreen verify` of a converged run with one changed file, including Python's start.
Baselines: `git worktree add` of the same commit; and the gate of that run alone, which reads every file and
takes some seconds of CPU time. Verifying takes about two seconds in addition to the gate, so the ratio is
worse for a shorter gate; the seconds are printed. Left out: the disk, as everything is in memory.
Measured is the CPU time of this process and its children, which varies little on a busy machine; best of 3.
Bars: a worktree start at most 1.5 times `git worktree add`; verify at most 2 times its gate.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from untilgreen.workspace.git_workspace import GitWorkspace
from untilgreen.workspace.worktree import Worktree

FILES, FOLDER = 27_000, 100
ROUNDS = 3
MOST_START, MOST_VERIFY = 1.5, 2.0
PLACE = "/dev/shm" if Path("/dev/shm").is_dir() else None
CHECK = (
    "import pathlib, hashlib, sys\n"
    "data = b''.join(path.read_bytes() for path in pathlib.Path('src').rglob('*.txt'))\n"
    "for _ in range(110):\n"
    "    hashlib.pbkdf2_hmac('sha256', data[:64], b'', 100_000)\n"
    "sys.exit(pathlib.Path('answer').read_text() != 'right\\n')\n"
)


async def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory(dir=PLACE) as name:
        root = _repository(Path(name) / "work")
        added, started = await _worktrees(root, Path(name))
        start = started / added
        print(f"{FILES:,} files: git worktree add (baseline) {added:.2f} s CPU time")
        print(f"starting a run in a worktree, with its first snapshot: {started:.2f} s CPU time")
        print(f"ratio start / git worktree add: {start:.2f}, bar {MOST_START:.2f}", flush=True)
        alone, verified = _verified(root, Path(name))
    verify = verified / alone
    print(f"{FILES:,} files: the gate alone (baseline) {alone:.2f} s CPU time")
    print(f"untilgreen verify: {verified:.2f} s CPU time, {verified - alone:.2f} s without the gate")
    print(f"ratio verify / gate: {verify:.2f}, bar {MOST_VERIFY:.2f}")
    return int(start > MOST_START or verify > MOST_VERIFY)


async def _worktrees(root: Path, place: Path) -> tuple[float, float]:
    """The least CPU time of `git worktree add`, and of a run's start."""
    commit = _git(root, "rev-parse", "HEAD").strip()
    theirs, ours = [], []
    for number in range(ROUNDS):
        began = _cpu()
        _git(root, "worktree", "add", "--quiet", "-b", f"theirs-{number}", str(place / "theirs"), commit)
        theirs.append(_cpu() - began)
        _git(root, "worktree", "remove", "--force", str(place / "theirs"))
        run = f"run-{number}"
        worktree = Worktree(path=place / run / "worktree", repository=root / ".git", run=run)
        began = _cpu()
        await worktree.make(commit, root)
        workspace = GitWorkspace(worktree.path, run, place / run / "private")
        workspace.checked_out()
        await workspace.prepare()
        await workspace.snapshot("1-base")
        ours.append(_cpu() - began)
        await worktree.remove()
    return min(theirs), min(ours)


def _verified(root: Path, place: Path) -> tuple[float, float]:
    """The least CPU time of the gate alone, and of verifying a run that converged with it."""
    gate, state = f"'{sys.executable}' check.py", place / "state"
    untilgreen = [sys.executable, "-m", "untilgreen"]
    agent = place / "agent.sh"
    agent.write_text("#!/bin/sh\ncat > /dev/null\necho right > answer\n")
    agent.chmod(0o755)
    flags = ["--agent", f"cmd:{agent}", "--gate", f"tests={gate}", "--state-dir", str(state), "--no-input"]
    _call([*untilgreen, "run", "Answer", *flags], root)
    alone, verified = [], []
    for _ in range(ROUNDS):
        began = _cpu()
        _call(["/bin/sh", "-c", gate], root)
        alone.append(_cpu() - began)
        began = _cpu()
        _call([*untilgreen, "verify", "--state-dir", str(state)], root)
        verified.append(_cpu() - began)
    return min(alone), min(verified)


def _call(command: list[str], place: Path) -> None:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def _cpu() -> float:
    return sum(os.times()[:4])


def _repository(root: Path) -> Path:
    for number in range(FILES // FOLDER):
        folder = root / "src" / f"{number:03d}"
        folder.mkdir(parents=True)
        for inner in range(FOLDER):
            (folder / f"{inner:03d}.txt").write_text(f"{number} {inner}\n" * 20)
    (root / "check.py").write_text(CHECK)
    (root / "answer").write_text("wrong\n")
    _git(root, "init", "--quiet")
    _git(root, "add", "--all")
    _git(root, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all")
    return root


if __name__ == "__main__":
    raise SystemExit(anyio.run(main))
