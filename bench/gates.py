"""The cost of a stage of many gates, compared with a shell that starts the same commands in parallel.

1, 50 and 200 gates in one stage, all `true` except for one `false`, so that every lap runs all of them. Ours
is a real `untilgreen run`; a lap's cost is the difference between a long and a short run, divided by the
extra laps, so that the start of the process cancels out. Baseline: a shell that starts each command as
`sh -c COMMAND > FILE &` and waits for all of them.

Left out: gates with long outputs (bench/outputs.py), gates with a clean room (bench/integrity.py), and what
the gates themselves do: `true` is the worst case for our share, as real gates take seconds.

`python -m bench.gates [COUNT…]`; ROUNDS=2 for a quick look.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Bar, Cost, cost, each_lap, ratio, repository

COUNTS = (1, 50, 200)
BAR, BAR_COUNT = Bar(1.5, allowed=4.0), 200
"""The bar applies to the largest stage only; bench/overhead.py measures a lap with one gate."""
SHORT, LONG = 1, 25
"""Far apart, because the starts of two runs differ by more than the cost of a few laps."""
LOOP = r"""
for lap in $(seq 1 "$LAPS"); do
    for gate in $(seq 2 "$GATES"); do sh -c true > "$PRIVATE/output-$gate.txt" & done
    sh -c false > "$PRIVATE/output-1.txt" &
    wait
done
"""


def main() -> int:
    """Print the figures, and fail above the allowed ratio."""
    failed = False
    with TemporaryDirectory() as name:
        work = repository(Path(name, "work"), {})
        for count in [int(word) for word in sys.argv[1:]] or COUNTS:
            run, shell = partial(_run, work, count), partial(_shell, work, count)
            least = each_lap({"ours": run, "shell": shell}, SHORT, LONG)
            found = ratio(least["ours"], least["shell"])
            said = f"{found}, {BAR.describe(max(found))}" if count == BAR_COUNT else f"{found}"
            print(f"{count} gates: {least['ours']}; shell (baseline) {least['shell']}; {said}", flush=True)
            failed |= count == BAR_COUNT and not BAR.passes(max(found))
    return int(failed)


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
        return cost(words, work, expected=(3,))


def _shell(work: Path, count: int, laps: int) -> Cost:
    with TemporaryDirectory(dir=work.parent) as private:
        variables = {"PRIVATE": private, "LAPS": str(laps), "GATES": str(count)}
        return cost(["/bin/sh", "-c", LOOP], work, variables)


if __name__ == "__main__":
    sys.exit(main())
