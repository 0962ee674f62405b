"""How long each verb that people type takes to start and answer, against bare Python with the same libraries.

Baseline: `python -c "import msgspec, anyio, cyclopts"`, the libraries that the command line can't do without
(for a hook msgspec and anyio, as it has its own parser). Measured: the processor's time of the command and
of everything it starts, git included, and the clock's; the least of several rounds, all commands in turn.

`run` is measured until its agent starts: the agent's first act is to kill the driver. `steer` notes something
for a run that waits, `show`, `diff` and `verify` look at a finished run of one lap with one changed file in a
repository of 50 files, `list` at 20 runs, `check` runs one gate (`true`), `hook` is a stop that nobody's run
concerns. Left out: larger repositories (bench/overhead.py), a stop that is judged (bench/hooks.py).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROUNDS = int(os.environ.get("ROUNDS", "15"))
BARS = {
    "--version": 0.5,
    "run": 2.5,
    "steer": 1.6,
    "show": 1.6,
    "list": 1.6,
    "diff": 2.5,
    "check": 2.5,
    "verify": 4.0,
    "hook": 0.5,
}
"""Multiples of the baseline; those of diff, check and verify are ours, as they start git and gates."""
COMMAND = str(Path(sys.executable).with_name("untilgreen"))
BASELINE = [sys.executable, "-c", "import msgspec, anyio, cyclopts"]
FILES, RUNS = 50, 20
NEVER_STARTED = 9
"""The signal by which the agent ends the driver, and so the measured time."""

Times = tuple[float, float]
"""The processor's seconds, and the clock's."""


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        least = dict.fromkeys(commands, (float("inf"), float("inf")))
        for number in range(ROUNDS):
            for name, command in commands.items():
                taken = _taken(name, [word.format(number=number) for word in command], Path(folder))
                least[name] = (min(least[name][0], taken[0]), min(least[name][1], taken[1]))
    baseline = least.pop("baseline")
    print(f"python importing msgspec, anyio, cyclopts (baseline): {_shown(baseline)}")
    missed = []
    for name, times in least.items():
        ratio = times[0] / baseline[0]
        print(
            f"untilgreen {name}: {_shown(times)}, ratio {ratio:.2f}, bar {BARS[name]:.2f}, "
            f"by the clock {times[1] / baseline[1]:.2f}"
        )
        missed += [name] * (ratio > BARS[name])
    print("missed: " + ", ".join(missed) if missed else "every bar holds")
    return int(bool(missed))


def _commands(folder: Path) -> dict[str, list[str]]:
    """Each command by its name, in a repository with finished runs and one that waits for a person."""
    work = folder / "work"
    work.mkdir()
    for number in range(FILES):
        (work / f"file-{number:02d}.txt").write_text(f"{number}\n" * 50)
    (work / "touch.sh").write_text("#!/bin/sh\ndate +%N >> file-07.txt\n")
    (work / "kill.sh").write_text("#!/bin/sh\nkill -9 $PPID\n")
    for name in ("touch.sh", "kill.sh"):
        (work / name).chmod(0o755)
    for words in ("init --quiet", "config user.name N", "config user.email n@example.org", "add --all"):
        subprocess.run(["git", *words.split()], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=start"], cwd=work, check=True)
    short = ("--max-iterations", "1", "--no-input", "--quiet")
    for _ in range(RUNS - 1):
        _untilgreen(folder, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "false", *short, code=3)
    asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
    _untilgreen(folder, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "true", asks, *short, code=5)
    ended, waiting = _runs(folder)
    new = f"--state-dir={folder}/new-{{number}}"
    return {
        "baseline": BASELINE,
        "--version": [COMMAND, "--version"],
        "run": [COMMAND, "run", "Do it.", "-a", "cmd:./kill.sh", "-g", "false", new, *short],
        "steer": [COMMAND, "steer", waiting, "note {number}"],
        "show": [COMMAND, "show", ended],
        "list": [COMMAND, "list"],
        "diff": [COMMAND, "diff", ended],
        "check": [COMMAND, "check", "-g", "true"],
        "verify": [COMMAND, "verify", ended],
        "hook": [COMMAND, "hook", "stop", "--agent", "claude"],
    }


def _runs(folder: Path) -> tuple[str, str]:
    """A run that ended, and the one that waits, which is the newest."""
    names = sorted(path.name for path in (folder / "state" / "runs").iterdir() if path.is_dir())
    return names[0], names[-1]


def _untilgreen(folder: Path, *words: str, code: int) -> None:
    done = subprocess.run(
        [COMMAND, *words], cwd=folder / "work", env=_variables(folder), capture_output=True, check=False
    )
    assert done.returncode == code, (words, done.returncode, done.stderr.decode())


def _taken(name: str, command: list[str], folder: Path) -> Times:
    before, started = _used(), perf_counter()
    done = subprocess.run(
        command, cwd=folder / "work", env=_variables(folder), capture_output=True, check=False, input=b"{}"
    )
    passed = perf_counter() - started
    expected = {"run": {-NEVER_STARTED}, "verify": {0, 1}}.get(name, {0})
    assert done.returncode in expected, (name, done.returncode, done.stderr.decode())
    return _used() - before, passed


def _used() -> float:
    """What children that have ended have used of the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _variables(folder: Path) -> dict[str, str]:
    variables = {**os.environ, "UNTILGREEN_STATE_DIR": str(folder / "state")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    return variables


def _shown(times: Times) -> str:
    return f"{times[0] * 1e3:.0f} ms of the processor, {times[1] * 1e3:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
