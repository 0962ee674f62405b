"""`make defences`: remove one defence after another and check that its tests go red.

`python -m tests.defences.removing [--breaks] [WORDS …]` tries the defences whose area or fault contains one
of these words; with `--breaks` only those behind the attacks of `tests/breaks`. It works in copies of the
work tree, each with its own environment, and changes nothing here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Literal

import psutil

from tests.breaks.table import breaks
from tests.defences.table import ROOT, Defence, defences

AT_ONCE = 2
BREAKS = "--breaks"
FAILED = 1
"""pytest's exit code when tests ran and some failed; not when there are none, or they can't be loaded."""
PATIENCE_SECONDS = 300
Outcome = Literal["red", "not tried", "NOT RED"]
Tried = tuple[Outcome, str]
"""The result of a defence's tests without it, and the reason if they are not red."""
_WORST: tuple[Outcome, ...] = ("red", "not tried", "NOT RED")
COMMAND = """\
#!{python}
import sys
from untilgreen.__main__ import main
sys.exit(main())
"""


@dataclass
class Copy:
    """A copy of the work tree, with a Python that imports our code only from there."""

    folder: Path
    changes: int = 0

    def __post_init__(self) -> None:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)
        self.python = self._environment()

    def _environment(self) -> Path:
        """Make an environment whose packages are links, so that tools find them in its own directory."""
        home = self.folder / ".venv"
        venv.create(home, with_pip=False, symlinks=True)
        python = home / "bin" / "python"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = home / "lib" / version / "site-packages"
        for each in Path(sysconfig.get_path("purelib")).iterdir():
            if each.suffix != ".pth" and each.name != "__pycache__":  # a .pth would lead back to this code
                (packages / each.name).symlink_to(each)
        (packages / "copy.pth").write_text(str(self.folder / "src"))
        script = home / "bin" / "untilgreen"
        script.write_text(COMMAND.format(python=python))
        script.chmod(0o755)
        (home / "bin" / "ruff").symlink_to(Path(sys.executable).with_name("ruff"))  # for gates of some tests
        return python

    def failing(self, tests: Sequence[str]) -> list[str]:
        """The tests that fail in the unchanged code, even alone, so that their defences can't be tried."""
        code, said = self._tested([*tests, "-n", str(AT_ONCE)], patience=len(tests) * PATIENCE_SECONDS)
        named = [line.split()[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if code and not named:
            raise SystemExit(f"The tests can't be run:\n{said[-2000:]}")
        return [each for each in named if self._tested([each])[0]]

    def without(self, defence: Defence) -> Tried:
        """Remove the defence, run its tests, each of which has to fail, and put it back."""
        file = self.folder / defence.file
        whole = file.read_text(encoding="utf-8")
        if not defence.in_(whole):
            return "NOT RED", f"{defence.file} does not contain it exactly once"
        self._put(file, whole.replace(defence.code, defence.without))
        try:
            tried = [self._missed(test) for test in defence.tests]
        finally:
            self._put(file, whole)
        return max(tried, key=lambda each: _WORST.index(each[0]))

    def _put(self, file: Path, text: str) -> None:
        """Write the file with a new modification time, or Python would use its cached bytecode."""
        file.write_text(text, encoding="utf-8")
        self.changes += 1
        os.utime(file, (self.changes, self.changes))

    def _missed(self, test: str) -> Tried:
        code, said = self._tested([test])
        if code == FAILED and " failed" in said:
            return "red", ""
        if " skipped" in said and " passed" not in said:
            return "not tried", f"{test} is skipped on this machine"
        return "NOT RED", f"{test} ends with exit code {code}: {said[-400:]}"

    def _tested(self, tests: Sequence[str], patience: int = PATIENCE_SECONDS) -> tuple[int, str]:
        flags = ["-q", "--inline-snapshot=disable", "-p", "no:cacheprovider", "--tb=no", "--timeout=100"]
        # Our own directory: in the default one, other pytest processes clean up, which breaks test runs.
        flags += ["--basetemp", str(self.folder.with_name(f"{self.folder.name}-tests"))]
        command = [str(self.python), "-m", "pytest", *flags, *tests]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=patience
        )
        return done.returncode, done.stdout + done.stderr


def main(words: Sequence[str]) -> int:
    """Try all defences, or those with one of the words, and print the result of each."""
    chosen = _chosen(words)
    if not chosen:
        print(f"No defence has one of these words: {' '.join(words)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="defences-") as folder:
        copies = [Copy(Path(folder, str(number))) for number in range(AT_ONCE)]
        tests = sorted({test for each in chosen for test in each.tests})
        failing = copies[0].failing(tests)
        for test in failing:
            print(f"NOT GREEN  {test} fails even with its defence", flush=True)
        untested = [each for each in chosen if any(each.shown_by(test) for test in failing)]
        try:
            tried = Counter(_tried(copies, [each for each in chosen if each not in untested]))
        finally:
            _kill_leftovers(Path(folder))
    print(
        f"{len(chosen)} defences: without them, the tests of {tried['red']} go red and of {tried['NOT RED']} "
        f"don't; {tried['not tried']} can't be tried here, {len(untested)} have a test that fails anyway."
    )
    return int(bool(untested or tried["NOT RED"]))


def _chosen(words: Sequence[str]) -> list[Defence]:
    named = {name for each in breaks() for name in each.defences} if BREAKS in words else None
    words = [word.casefold() for word in words if word != BREAKS]
    return [
        each
        for each in defences()
        if (named is None or each.against in named)
        and (not words or any(word in f"{each.area} {each.against}".casefold() for word in words))
    ]


def _kill_leftovers(folder: Path) -> None:
    """Kill the processes in our folder that tests left running, as the code that ends them was removed."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            places = [process.cwd(), *process.cmdline()]
            if any(Path(place).is_relative_to(folder) for place in places):
                process.kill()


def _tried(copies: list[Copy], chosen: Sequence[Defence]) -> Iterator[Outcome]:
    free = SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def tried(defence: Defence) -> tuple[Defence, Tried, float]:
        copy, begun = free.get(), monotonic()
        try:
            return defence, copy.without(defence), monotonic() - begun
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for defence, (outcome, why), seconds in pool.map(tried, chosen):
            print(f"{outcome}  {defence.area}: {defence.against}  ({seconds:.0f} s)", flush=True)
            if why:
                print(f"    {why}", flush=True)
            yield outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
