"""What a stage of many gates costs, against a shell that starts the same commands side by side.

1, 50 and 200 gates of one stage, all `true` but one `false`, so that every lap runs all of them. Ours is a
real `untilgreen run`; a lap's cost is the difference between a long and a short run, divided by the laps
between them, so the start of the process cancels out. Baseline: a shell that starts each command as
`sh -c COMMAND > FILE &` and waits for all. The least of interleaved rounds.

Left out: gates that print much (bench/outputs.py), gates with a clean room (bench/integrity.py), and what
the gates themselves do: `true` is the worst case for our share, as real gates take seconds.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROUNDS = int(os.environ.get("ROUNDS", "5"))
COUNTS = (1, 50, 200)
BAR, BAR_COUNT = 1.5, 200
"""The bar holds for the largest stage; a lap with one gate is what bench/overhead.py measures."""
SHORT, LONG = 1, 5
LOOP = r"""
for lap in $(seq 1 "$LAPS"); do
    for gate in $(seq 2 "$GATES"); do sh -c true > "$PRIVATE/output-$gate.txt" & done
    sh -c false > "$PRIVATE/output-1.txt" &
    wait
done
"""

Cost = tuple[float, float]
"""The processor's seconds, and the clock's."""


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    missed = False
    with TemporaryDirectory() as name:
        work = Path(name, "work")
        work.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=work, check=True)
        for count in COUNTS:
            ours, shell = (float("inf"),) * 2, (float("inf"),) * 2
            for _ in range(ROUNDS):
                ours = _least(ours, _each_lap(lambda laps, count=count: _run(work, count, laps)))
                shell = _least(shell, _each_lap(lambda laps, count=count: _shell(work, count, laps)))
            ratios = ours[0] / shell[0], ours[1] / shell[1]
            bar = f", bar {BAR:.2f}" if count == BAR_COUNT else ""
            print(
                f"{count} gates: {_shown(ours)}; shell (baseline) {_shown(shell)}; "
                f"ratio {ratios[0]:.2f} by the processor, {ratios[1]:.2f} by the clock{bar}",
                flush=True,
            )
            missed |= count == BAR_COUNT and max(ratios) > BAR
    return int(missed)


def _each_lap(measure: object) -> Cost:
    assert callable(measure)
    short, long = measure(SHORT), measure(LONG)
    return (long[0] - short[0]) / (LONG - SHORT), (long[1] - short[1]) / (LONG - SHORT)


def _run(work: Path, count: int, laps: int) -> Cost:
    gates = "".join(f"[gates.g{number}]\nrun = 'true'\n" for number in range(2, count + 1))
    spec = work.parent / "gates.toml"
    spec.write_text(
        f"task = 'Nothing.'\nagent = 'cmd:true'\ndetectors = []\n[gates.red]\nrun = 'false'\n{gates}"
    )
    with TemporaryDirectory(dir=work.parent) as state:
        words = [
            *(sys.executable, "-m", "untilgreen", "run", "--config", str(spec), "--state-dir", state),
            *("--max-iterations", str(laps), f"--set=strategy={{use='fixed', iterations={laps}}}"),
            *("--quiet", "--no-input", "--trust"),
        ]
        return _cost(words, work, {}, expected=3)


def _shell(work: Path, count: int, laps: int) -> Cost:
    with TemporaryDirectory(dir=work.parent) as private:
        variables = {"PRIVATE": private, "LAPS": str(laps), "GATES": str(count)}
        return _cost(["/bin/sh", "-c", LOOP], work, variables, expected=0)


def _cost(words: list[str], work: Path, variables: dict[str, str], *, expected: int) -> Cost:
    before, started = _used(), perf_counter()
    done = subprocess.run(
        words,
        cwd=work,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    cost = _used() - before, perf_counter() - started
    assert done.returncode == expected, (words, done.returncode, done.stderr.decode())
    return cost


def _used() -> float:
    """What children that have ended have used of the processor."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _least(one: Cost, other: Cost) -> Cost:
    return min(one[0], other[0]), min(one[1], other[1])


def _shown(cost: Cost) -> str:
    return f"{cost[0] * 1e3:.1f} ms of the processor, {cost[1] * 1e3:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
