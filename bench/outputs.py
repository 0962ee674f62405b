"""The cost of a gate that prints 100 MB, compared with `wc` on the same output.

Ours is a run of one lap whose gate prints 100 MB in lines of about 100 bytes and ends with exit code 1: the
whole output is kept in a file with secrets cut out, and both of its ends are searched for findings.
Baseline: the same command piped into `wc`. The cost with a gate that prints one line is subtracted from both,
so that the start of a process and the command's own work cancel out as far as they are the same.

Left out: output without line ends, and secrets in it; tests/process/test_capture.py covers both.

`python -m bench.outputs [MEGABYTES]`; ROUNDS=2 for a quick look.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Bar, Cost, cost, interleaved, ratio, repository, script

MEGABYTES = 100
LINE = "src/module_{number:06d}.py:12: in a_function: the value is not what was expected: 0x{number:x} or so"
BAR = Bar(2.0, allowed=2.4)


def main() -> int:
    """Print the figures, and fail above the allowed ratio."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    with TemporaryDirectory() as name:
        work = repository(Path(name, "work"), {})
        much, little = (
            _printing(Path(name, "much"), megabytes * 1_000_000),
            _printing(Path(name, "little"), 1),
        )
        least = interleaved(
            {
                "ours": lambda _: _minus(_ours(work, much), _ours(work, little)),
                "wc": lambda _: _minus(_counted(work, much), _counted(work, little)),
            }
        )
    found = ratio(least["ours"], least["wc"])
    ours, theirs = least["ours"], least["wc"]
    print(f"{megabytes} MB of output: {ours}; wc (baseline) {theirs}; {found}, {BAR.describe(max(found))}")
    return int(not BAR.passes(max(found)))


def _printing(path: Path, size: int) -> Path:
    """A command that prints at least this many bytes, and fails."""
    text, number = path.with_suffix(".txt"), 0
    with text.open("w") as file:
        while file.tell() < size:
            file.write("".join(LINE.format(number=number + each) + "\n" for each in range(min(size, 1000))))
            number += 1000
    return script(path, f"cat {text}\nexit 1\n")


def _ours(work: Path, command: Path) -> Cost:
    with TemporaryDirectory(dir=work.parent) as state:
        words = [
            *(sys.executable, "-m", "untilgreen", "run", "Nothing.", "--agent", "cmd:true"),
            *("--gate", str(command), "--set=baseline=false", "--max-iterations", "1"),
            *("--quiet", "--no-input", "--state-dir", state),
        ]
        return cost(words, work, expected=(3,))


def _counted(work: Path, command: Path) -> Cost:
    return cost(["/bin/sh", "-c", f"{command} | wc"], work)


def _minus(one: Cost, other: Cost) -> Cost:
    return Cost(one.cpu - other.cpu, one.wall - other.wall)


if __name__ == "__main__":
    sys.exit(main())
