"""`make defences`: take away one defence after another and see its tests go red.

`python -m tests.defences.removing [--breaks] [WORDS …]` tries those whose area or fault has one of these
words, with `--breaks` only those behind the attacks of `tests/breaks`. Nothing here is touched: it happens in
copies of the work tree, each with an environment of its own.
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
"""What pytest says when tests ran and some failed; not when there are none, or none can be read."""
PATIENCE_SECONDS = 300
Outcome = Literal["red", "not tried", "NOT RED"]
Tried = tuple[Outcome, str]
"""What became of a defence's tests without it, and why they are not red."""
_WORST: tuple[Outcome, ...] = ("red", "not tried", "NOT RED")
COMMAND = """\
#!{python}
import sys
from untilgreen.__main__ import main
sys.exit(main())
"""


@dataclass
class Copy:
    """The work tree once more, with a Python that imports this copy and nothing of ours from elsewhere."""

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
        """The packages are links in a directory of its own, where a tool looks for what is installed."""
        home = self.folder / ".venv"
        venv.create(home, with_pip=False, symlinks=True)
        python = home / "bin" / "python"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = home / "lib" / version / "site-packages"
        for each in Path(sysconfig.get_path("purelib")).iterdir():
            if each.suffix != ".pth" and each.name != "__pycache__":  # a .pth leads back to the code here
                (packages / each.name).symlink_to(each)
        (packages / "copy.pth").write_text(str(self.folder / "src"))
        script = home / "bin" / "untilgreen"
        script.write_text(COMMAND.format(python=python))
        script.chmod(0o755)
        (home / "bin" / "ruff").symlink_to(Path(sys.executable).with_name("ruff"))  # a gate of some tests
        return python

    def failing(self, tests: Sequence[str]) -> list[str]:
        """Those that fail in the code as it is, also alone: their defences can't be tried."""
        code, said = self._tested([*tests, "-n", str(AT_ONCE)], patience=len(tests) * PATIENCE_SECONDS)
        named = [line.split()[1] for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if code and not named:
            raise SystemExit(f"These tests can't be run:\n{said[-2000:]}")
        return [each for each in named if self._tested([each])[0]]

    def without(self, defence: Defence) -> Tried:
        """Take it away, and put it back; each of its tests has to fail."""
        file = self.folder / defence.file
        whole = file.read_text(encoding="utf-8")
        if not defence.in_(whole):
            return "NOT RED", f"{defence.file} does not have it once"
        self._put(file, whole.replace(defence.code, defence.without))
        try:
            tried = [self._missed(test) for test in defence.tests]
        finally:
            self._put(file, whole)
        return max(tried, key=lambda each: _WORST.index(each[0]))

    def _put(self, file: Path, text: str) -> None:
        """With a time that no other content had, or Python would take what it compiled before."""
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
        # Of our own: in the usual one, others tidy up at the same time, which ends a run of tests oddly.
        flags += ["--basetemp", str(self.folder.with_name(f"{self.folder.name}-tests"))]
        command = [str(self.python), "-m", "pytest", *flags, *tests]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=patience
        )
        return done.returncode, done.stdout + done.stderr


def main(words: Sequence[str]) -> int:
    """Try all, or those with one of the words, and print what became of each."""
    chosen = _chosen(words)
    if not chosen:
        print(f"No defence has one of these words: {' '.join(words)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="defences-") as folder:
        copies = [Copy(Path(folder, str(number))) for number in range(AT_ONCE)]
        tests = sorted({test for each in chosen for test in each.tests})
        failing = copies[0].failing(tests)
        for test in failing:
            print(f"NOT GREEN  {test} fails although its defence is there", flush=True)
        dark = [each for each in chosen if any(each.shown_by(test) for test in failing)]
        try:
            tried = Counter(_tried(copies, [each for each in chosen if each not in dark]))
        finally:
            _end_what_was_left(Path(folder))
    print(
        f"{len(chosen)} defences: {tried['red']} are missed by their tests, {tried['NOT RED']} are not, "
        f"{tried['not tried']} need what this machine lacks, {len(dark)} have a test that fails anyway."
    )
    return int(bool(dark or tried["NOT RED"]))


def _chosen(words: Sequence[str]) -> list[Defence]:
    named = {name for each in breaks() for name in each.defences} if BREAKS in words else None
    words = [word.casefold() for word in words if word != BREAKS]
    return [
        each
        for each in defences()
        if (named is None or each.against in named)
        and (not words or any(word in f"{each.area} {each.against}".casefold() for word in words))
    ]


def _end_what_was_left(folder: Path) -> None:
    """Without the line that ends a process, a test leaves it running; it works somewhere in our folder."""
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
