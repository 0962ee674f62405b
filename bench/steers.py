"""Forty people steering one run at the same moment, compared with one.

The run waits for an approval and nobody drives it, so each command takes the run's lock in turn, reads the
journal, and records its note. Baseline: one `untilgreen steer`. Bars: all forty together take at most 20
times as much wall time, and every note is recorded exactly once.

Left out: a run that is driven; its driver takes all commands of its inbox together (tests/faults/races.py).

`python -m bench.steers [SENDERS]`; ROUNDS=2 for a quick look.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench._measure import Bar, Cost, cost, interleaved, ratio, repository, script, used

SENDERS = 40
BAR = Bar(20.0, allowed=32.0)
COMMAND = str(Path(sys.executable).with_name("untilgreen"))


def main() -> int:
    """Print the figures, and fail above the allowed ratio."""
    senders = int(sys.argv[1]) if len(sys.argv) > 1 else SENDERS
    with TemporaryDirectory() as name:
        work, env = (
            repository(Path(name, "work"), {"file.txt": "1\n"}),
            {"UNTILGREEN_STATE_DIR": f"{name}/state"},
        )
        agent = script(Path(name, "agent.sh"), "date +%N > file.txt\n")
        asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
        run = [COMMAND, "run", "Do it.", "-a", f"cmd:{agent}", "-g", "true", asks, "--no-input", "--quiet"]
        cost(run, work, env, expected=(5,))
        least = interleaved(
            {
                "one": lambda number: cost([COMMAND, "steer", "@last", f"one {number}."], work, env),
                "all": lambda number: _at_once(senders, work, {**os.environ, **env}, number),
            }
        )
        lost = _missing(senders, Path(name, "state"), work)
    found = ratio(least["all"], least["one"])
    print(f"one steer (baseline): {least['one']}")
    said = f"{found}; wall time {BAR.describe(found.wall)}"
    print(f"{senders} steers at once: {least['all']}; {said}; notes lost: {lost}")
    return int(not BAR.passes(found.wall) or lost > 0)


def _at_once(senders: int, work: Path, env: dict[str, str], number: int) -> Cost:
    before, started = used(), perf_counter()
    words = ([COMMAND, "steer", "@last", f"round {number}, note {each}."] for each in range(senders))
    sending = [subprocess.Popen(each, cwd=work, env=env, stdout=subprocess.DEVNULL) for each in words]
    codes = [each.wait() for each in sending]
    assert not any(codes), codes
    return Cost(used() - before, perf_counter() - started)


def _missing(senders: int, state: Path, work: Path) -> int:
    """How many notes of the first round are not in the journal exactly once."""
    (journal,) = state.glob("runs/*/journal.jsonl")
    text = journal.read_text()
    return sum(text.count(f"round 0, note {each}.") != 1 for each in range(senders))


if __name__ == "__main__":
    sys.exit(main())
