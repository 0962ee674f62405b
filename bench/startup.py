"""How long each verb takes to start and answer, compared with Python importing the same libraries.

Baseline: `python -c "import msgspec, anyio, cyclopts"`, the libraries that the command line can't do without
(a hook has its own parser and needs only msgspec and anyio: bench/hooks.py). Measured: the CPU time of the
command and everything it starts, including git, and the wall time. `import anyio` loads no event loop, which
`run` and some other verbs need; the time that Python takes to start one is printed after the baseline.

`run` is measured until its agent starts, so including lap 0: the gates on the untouched files, and once more
in a clean room. The agent kills the driver at once. `steer` records a note for a run that waits; `show`,
`diff` and `verify` look at a finished run of one lap with one changed file in a repository of 50 files, and
`list` at 20 runs; `check` runs one gate (`true`); `hook` is a stop in a session without a run. Left out:
larger repositories (bench/overhead.py), a stop that ends a lap (bench/hooks.py).

`python -m bench.startup [VERB…]`; ROUNDS=5 for a quick look. `BEFORE=PATH` names the `untilgreen` of another
version, in its own environment, which is measured in the same rounds: before and after.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Bar, Cost, cost, interleaved, ratio, repository, script

ROUNDS = int(os.environ.get("ROUNDS", "15"))
BARS = {
    "--version": Bar(0.5),
    "run": Bar(2.5, allowed=4.0),
    "steer": Bar(1.6),
    "show": Bar(1.6),
    "list": Bar(1.6),
    "diff": Bar(2.5),
    "check": Bar(2.5),
    "verify": Bar(4.0),
    "hook": Bar(0.5),
}
"""Multiples of the baseline; those of diff, check and verify are higher, as these start git and gates."""
COMMAND = str(Path(sys.executable).with_name("untilgreen"))
BEFORE = os.environ.get("BEFORE")
BASELINE = [sys.executable, "-c", "import msgspec, anyio, cyclopts"]
LOOP = [sys.executable, "-c", "import msgspec, anyio, cyclopts; anyio.run(anyio.sleep, 0)"]
FILES, RUNS = 50, 20
KILLED = 9
"""The signal with which the agent kills the driver, which ends the measurement."""


def main() -> int:
    """Print the figures, and fail above the allowed ratios."""
    with TemporaryDirectory() as name, TemporaryDirectory() as other:
        measured = {"baseline": BASELINE, "loop": LOOP, **_chosen(Path(name), COMMAND)}
        turns = {verb: partial(_taken, verb, words, Path(name)) for verb, words in measured.items()}
        if BEFORE:
            earlier = _chosen(Path(other), BEFORE).items()
            turns |= {f"{verb} before": partial(_taken, verb, words, Path(other)) for verb, words in earlier}
        least = interleaved(turns, ROUNDS)
    baseline, loop = least.pop("baseline"), least.pop("loop")
    before = {verb: least.pop(f"{verb} before") for verb in list(least) if f"{verb} before" in least}
    print(f"python importing msgspec, anyio, cyclopts (baseline): {baseline}")
    print(f"the same with an event loop: {loop}, {ratio(loop, baseline)}")
    failed = []
    for verb, taken in least.items():
        found = ratio(taken, baseline)
        print(f"untilgreen {verb}: {taken}; {found}; CPU time {BARS[verb].describe(found.cpu)}")
        if verb in before:
            print(f"  before: {before[verb]}; after / before: {ratio(taken, before[verb])}")
        failed += [verb] * (not BARS[verb].passes(found.cpu))
    print("failed: " + ", ".join(failed) if failed else "nothing failed")
    return int(bool(failed))


def _chosen(folder: Path, command: str) -> dict[str, list[str]]:
    commands = _commands(folder, command)
    return {verb: commands[verb] for verb in sys.argv[1:]} or commands


def _commands(folder: Path, command: str) -> dict[str, list[str]]:
    """The commands by name, for a repository with finished runs and one that waits for a person."""
    work = repository(
        folder / "work", {f"file-{number:02d}.txt": f"{number}\n" * 50 for number in range(FILES)}
    )
    script(work / "touch.sh", "date +%N >> file-07.txt\n")
    script(work / "kill.sh", "kill -9 $PPID\n")
    subprocess.run(["git", "add", "--all"], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=agents"], cwd=work, check=True)
    short = ("--max-iterations", "1", "--no-input", "--quiet")
    for _ in range(RUNS - 1):
        _untilgreen(folder, command, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "false", *short, code=3)
    asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
    _untilgreen(folder, command, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "true", asks, *short, code=5)
    ended, waiting = _runs(folder)
    new = f"--state-dir={folder}/new-{{number}}"
    return {
        "--version": [command, "--version"],
        "run": [command, "run", "Do it.", "-a", "cmd:./kill.sh", "-g", "false", new, *short],
        "steer": [command, "steer", waiting, "note {number}"],
        "show": [command, "show", ended],
        "list": [command, "list"],
        "diff": [command, "diff", ended],
        "check": [command, "check", "-g", "true"],
        "verify": [command, "verify", ended],
        "hook": [command, "hook", "stop", "--agent", "claude"],
    }


def _runs(folder: Path) -> tuple[str, str]:
    """The ids of a run that ended, and of the one that waits, which is the newest."""
    names = sorted(path.name for path in (folder / "state" / "runs").iterdir() if path.is_dir())
    return names[0], names[-1]


def _untilgreen(folder: Path, command: str, *words: str, code: int) -> None:
    cost([command, *words], folder / "work", _variables(folder), expected=(code,))


def _taken(verb: str, words: list[str], folder: Path, number: int) -> Cost:
    command = [word.format(number=number) for word in words]
    expected = {"run": (-KILLED,), "verify": (0, 1)}.get(verb, (0,))
    return cost(command, folder / "work", _variables(folder), expected=expected, given=b"{}")


def _variables(folder: Path) -> dict[str, str]:
    return {"UNTILGREEN_STATE_DIR": str(folder / "state")}


if __name__ == "__main__":
    sys.exit(main())
