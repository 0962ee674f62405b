"""The clean room compared with one more run of the gates, on 10,000 files; and making a room, on 27,000.

Ours: the integrity gate on a green lap with one changed file: making the room, running the gate, removing it.
Baseline: the same gate in the workspace, which reads every file and takes 3 s of CPU time on any machine. The
room itself costs about 0.6 s, so the ratio is worse for a shorter gate.
Measured is the CPU time of this process and its children, which varies little on a busy machine.
Bars: the clean room costs at most 1.3 times the baseline; a room of 27,000 files takes at most 3 s.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from untilgreen.core.values.model import GateSpec
from untilgreen.gates.command import CommandGate
from untilgreen.gates.integrity.gate import IntegrityGate
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.ports import CheckContext, Gate
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

FILES, MANY, FOLDER = 10_000, 27_000, 100
IGNORED = 2_000
ROUNDS = 3
MOST, MOST_SECONDS = 1.3, 3.0
PLACE = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""In memory, so that a busy disk doesn't distort the figures."""
CHECK = (
    "import pathlib, hashlib, time\n"
    "data = b''.join(path.read_bytes() for path in pathlib.Path('src').rglob('*.txt'))\n"
    "while time.process_time() < 3:\n"
    "    hashlib.pbkdf2_hmac('sha256', data[:64], b'', 100_000)\n"
)


async def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory(dir=PLACE) as name:
        one_more, room = await _clean_room(Path(name))
    with TemporaryDirectory(dir=PLACE) as name:
        made = await _one_room(Path(name))
    ratio = room / one_more
    print(f"{FILES:,} files, {IGNORED:,} ignored: one more gate run (baseline) {one_more:.2f} s CPU time")
    print(f"the same gate in the clean room: {room:.2f} s CPU time")
    print(f"ratio clean room / one more gate run: {ratio:.2f}, bar {MOST:.2f}")
    print(f"{MANY:,} files: making and removing a room {made:.2f} s CPU time, bar {MOST_SECONDS:.2f}")
    return int(ratio > MOST or made > MOST_SECONDS)


async def _clean_room(place: Path) -> tuple[float, float]:
    """The least CPU time of the gate in the workspace, and of the integrity gate."""
    root = _repository(place / "work", FILES)
    spec = GateSpec(name="tests", options={"run": f"'{sys.executable}' check.py"})
    workspace = GitWorkspace(root, "bench", place / "private")
    base = await workspace.snapshot("0")
    guard = _guard(workspace, place, spec)
    await guard.begin()
    (root / "src" / "000" / "000.txt").write_text("changed\n")
    context = CheckContext(root=root, lap=1, snapshot=await workspace.snapshot("1"), base=base)
    alone, inside = [], []
    for _ in range(ROUNDS):
        started = _cpu()
        assert (await _make(spec).check(context)).status == "pass"
        alone.append(_cpu() - started)
        started = _cpu()
        verdict = await guard.check(context)
        assert verdict.status == "pass", verdict
        inside.append(_cpu() - started)
    return min(alone), min(inside)


async def _one_room(place: Path) -> float:
    root = _repository(place / "work", MANY)
    workspace = GitWorkspace(root, "bench", place / "private")
    snapshot = await workspace.snapshot("0")
    guard = _guard(workspace, place, GateSpec(name="tests", options={"run": "true"}))
    await guard.begin()
    taken = []
    for _ in range(ROUNDS):
        started = _cpu()
        async with guard.rooms().open("room", Contents(snapshot=snapshot)):
            pass
        taken.append(_cpu() - started)
    return min(taken)


def _guard(workspace: GitWorkspace, place: Path, spec: GateSpec) -> IntegrityGate:
    return IntegrityGate(
        trees=Exporter(workspace),
        gates=(spec,),
        make=_make,
        scratch=place / "copies",
        memory=place / "unkept",
        clean_room=True,
    )


def _make(spec: GateSpec) -> Gate:
    return CommandGate(**spec.options)


def _cpu() -> float:
    return sum(os.times()[:4])


def _repository(root: Path, files: int) -> Path:
    for number in range(files // FOLDER):
        _fill(root / "src" / f"{number:03d}", FOLDER)
    for number in range(IGNORED // FOLDER):
        _fill(root / "node_modules" / f"{number:03d}", FOLDER)
    (root / ".gitignore").write_text("node_modules/\n")
    (root / "check.py").write_text(CHECK)
    for command in ("init --quiet", "add --all"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    return root


def _fill(folder: Path, files: int) -> None:
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"{number:03d}.txt").write_text(f"{folder.name} {number}\n")


if __name__ == "__main__":
    raise SystemExit(anyio.run(main))
