"""How fast recorded runs are replayed through the detectors on one core; given files, how well rules decide.

`python -m bench.backtest FILE...` compares stop rules on the runs in these files (bench/learning/peers.py).

Each lap is 10 KB: a reply of 3 KB, and the output of a failed test run with tracebacks. No two texts are the
same, so no cache helps. Baseline: reading the same file with `json` and hashing each text with SHA-256, the
cost of looking at the data at all. Bars: 10,000 laps in under 10 seconds, and twice the laps in at most 2.5
times the time.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from time import process_time

from untilgreen.backtest.replay import decide
from untilgreen.backtest.trajectories import lines, parse
from untilgreen.core.defaults import default_detectors

LAPS = 10_000
LAPS_OF_A_RUN = 50
REPLY, OUTPUT = 3_000, 7_000
WORDS = [first + second for first in ("lo", "ma", "ter", "qui", "sen") for second in ("ra", "vin", "do", "s")]


def main() -> int:
    """Print the figures, and fail when a bar is missed; given files, compare stop rules on them instead."""
    if sys.argv[1:]:
        from bench.learning.peers import main as compare  # noqa: PLC0415 - only with recorded runs

        return compare(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        half, whole = (_written(Path(folder), laps) for laps in (LAPS // 2, LAPS))
        short, long, baseline = _seconds(half, _played), _seconds(whole, _played), _seconds(whole, _looked_at)
    print(f"{LAPS:,} laps of {REPLY + OUTPUT:,} characters: {long:.1f} s CPU time, bar 10 s")
    print(f"half as many laps: {short:.1f} s, ratio {long / short:.2f}, bar 2.50")
    print(f"ratio to reading and hashing the same file (baseline, {baseline:.2f} s): {long / baseline:.1f}")
    return int(long >= 10 or long > 2.5 * short)


def _written(folder: Path, laps: int) -> Path:
    chance = random.Random(laps)
    path = folder / f"{laps}.jsonl"
    with path.open("w") as file:
        for run in range(laps // LAPS_OF_A_RUN):
            steps = [
                {"action": _prose(chance, REPLY), "observation": _output(chance), "reward": 0.5}
                for _ in range(LAPS_OF_A_RUN)
            ]
            file.write(json.dumps({"source": "bench", "id": str(run), "steps": steps}) + "\n")
    return path


def _prose(chance: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += " ".join(chance.choices(WORDS, k=12)) + ".\n"
    return text[:size]


def _output(chance: random.Random) -> str:
    """The output of a test run: failures with tracebacks, at least `OUTPUT` characters."""
    parts, failed = ["=== test session starts ===\ncollected 30 items\n\n=== FAILURES ===\n"], []
    while sum(map(len, parts)) < OUTPUT:
        name = f"tests/test_{chance.choice(WORDS)}.py::test_{'_'.join(chance.choices(WORDS, k=2))}"
        failed.append(name)
        body = "\n".join(f"    {' '.join(chance.choices(WORDS, k=6))} = {line}" for line in range(20))
        parts.append(f"___ {name.rpartition('::')[2]} ___\n\n{body}\nE   AssertionError: {chance.random()}\n")
    summary = "".join(f"FAILED {name} - AssertionError\n" for name in failed)
    return (
        f"{''.join(parts)}=== short test summary info ===\n{summary}=== {len(failed)} failed in 0.12s ===\n"
    )


def _played(path: Path) -> None:
    for line in lines(path):
        decide(parse(line.text, line.number, str(path)), default_detectors())


def _looked_at(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        for step in json.loads(line)["steps"]:
            sha256((step["action"] + step["observation"]).encode()).hexdigest()


def _seconds(path: Path, what: object) -> float:
    assert callable(what)
    started = process_time()
    what(path)
    return process_time() - started


if __name__ == "__main__":
    sys.exit(main())
