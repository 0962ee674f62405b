"""How long each verb that people type takes to start and answer, against bare Python with the same libraries.

Baseline: `python -c "import msgspec, anyio, cyclopts"`, the libraries that the command line can't do without
(for a hook msgspec and anyio, as it has its own parser: bench/hooks.py). Measured: the processor's time of
the command and of everything it starts, git included, and the clock's. `import anyio` loads no event loop,
which all verbs but `list` and `show` need; what Python takes to start one is printed beside the baseline.

`run` is measured until its agent starts, so with lap 0: the gates on the untouched tree, and once more in a
clean room. The agent's first act is to kill the driver. `steer` notes something for a run that waits, `show`,
`diff` and `verify` look at a finished run of one lap with one changed file in a repository of 50 files,
`list` at 20 runs, `check` runs one gate (`true`), `hook` is a stop that nobody's run concerns. Left out:
larger repositories (bench/overhead.py), a stop that is judged (bench/hooks.py).

`python -m bench.startup [VERB…]`; ROUNDS=5 for a quick look.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Cost, cost, interleaved, ratio, repository, script

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
LOOP = [sys.executable, "-c", "import msgspec, anyio, cyclopts; anyio.run(anyio.sleep, 0)"]
FILES, RUNS = 50, 20
NEVER_STARTED = 9
"""The signal by which the agent ends the driver, and so the measured time."""


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        commands = _commands(folder)
        chosen = {verb: commands[verb] for verb in sys.argv[1:]} or commands
        measured = {"baseline": BASELINE, "loop": LOOP, **chosen}
        least = interleaved(
            {verb: partial(_taken, verb, words, folder) for verb, words in measured.items()}, ROUNDS
        )
    baseline, loop = least.pop("baseline"), least.pop("loop")
    print(f"python importing msgspec, anyio, cyclopts (baseline): {baseline}")
    print(f"the same with an event loop: {loop}, {ratio(loop, baseline)}")
    missed = []
    for verb, taken in least.items():
        found = ratio(taken, baseline)
        print(f"untilgreen {verb}: {taken}, {found}, bar {BARS[verb]:.2f} by the processor")
        missed += [verb] * (found.processor > BARS[verb])
    print("missed: " + ", ".join(missed) if missed else "every bar holds")
    return int(bool(missed))


def _commands(folder: Path) -> dict[str, list[str]]:
    """Each command by its name, in a repository with finished runs and one that waits for a person."""
    work = repository(
        folder / "work", {f"file-{number:02d}.txt": f"{number}\n" * 50 for number in range(FILES)}
    )
    script(work / "touch.sh", "date +%N >> file-07.txt\n")
    script(work / "kill.sh", "kill -9 $PPID\n")
    subprocess.run(["git", "add", "--all"], cwd=work, check=True)
    subprocess.run(["git", "commit", "--quiet", "--message=agents"], cwd=work, check=True)
    short = ("--max-iterations", "1", "--no-input", "--quiet")
    for _ in range(RUNS - 1):
        _untilgreen(folder, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "false", *short, code=3)
    asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
    _untilgreen(folder, "run", "Do it.", "-a", "cmd:./touch.sh", "-g", "true", asks, *short, code=5)
    ended, waiting = _runs(folder)
    new = f"--state-dir={folder}/new-{{number}}"
    return {
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
    cost([COMMAND, *words], folder / "work", _variables(folder), expected=(code,))


def _taken(verb: str, words: list[str], folder: Path, number: int) -> Cost:
    command = [word.format(number=number) for word in words]
    expected = {"run": (-NEVER_STARTED,), "verify": (0, 1)}.get(verb, (0,))
    return cost(command, folder / "work", _variables(folder), expected=expected, given=b"{}")


def _variables(folder: Path) -> dict[str, str]:
    return {"UNTILGREEN_STATE_DIR": str(folder / "state")}


if __name__ == "__main__":
    sys.exit(main())
