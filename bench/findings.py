"""The cost of 2,000 findings in each of 50 laps, compared with the same run with one finding.

Ours is a real `untilgreen run` whose gate prints that many errors with file and line, different ones in each
lap, so that no finding repeats. Bar: at most 2 s more CPU time than the same run whose gate prints one error.
Left out: detectors, which would end such a run (see bench/laps.py), and the gate's own work, as both gates
print the same number of lines.

`python -m bench.findings [FINDINGS]`; ROUNDS=1 for a quick look.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench._measure import Cost, cost, interleaved, repository, script

FINDINGS, LAPS = 2_000, 50
BAR = 2.0
ROUNDS = int(os.environ.get("ROUNDS", "3"))
ERROR = "src/module_%d.py:%d:1: E%03d something is wrong here"


def main() -> int:
    """Print the figures, and fail when the bar is missed."""
    findings = int(sys.argv[1]) if len(sys.argv) > 1 else FINDINGS
    with TemporaryDirectory() as name:
        work = repository(Path(name, "work"), {"file.txt": "1\n"})
        agent = script(Path(name, "agent.sh"), "date +%N > file.txt\n")
        many = script(Path(name, "many"), f"{_printing(findings)}\nexit 1\n")
        one = script(Path(name, "one"), f"{_printing(findings)} | sed '2,$s/.*/./'\nexit 1\n")
        least = interleaved(
            {"many": lambda _: _run(work, agent, many), "one": lambda _: _run(work, agent, one)}, ROUNDS
        )
    more = least["many"].cpu - least["one"].cpu
    print(f"one finding in each of {LAPS} laps (baseline): {least['one']}")
    print(f"{findings:,} findings: {least['many']}; {more:.2f} s more CPU time, bar {BAR:.2f}")
    return int(more > BAR)


def _printing(findings: int) -> str:
    """A command that prints this many errors, different ones in each lap."""
    return (
        f'awk -v seed="$(cat file.txt)" \'BEGIN {{ for (i = 0; i < {findings}; i++) '
        f'printf "{ERROR}\\n", i, (seed + i) % 9000 + 1, i % 1000 }}\''
    )


def _run(work: Path, agent: Path, gate: Path) -> Cost:
    with TemporaryDirectory(dir=work.parent) as state:
        words = [
            *(sys.executable, "-m", "untilgreen", "run", "Nothing.", "--agent", f"cmd:{agent}"),
            *("--gate", f"lint={gate}", "--quiet", "--no-input", "--state-dir", state),
            *(
                "--set=detectors=[]",
                "--max-iterations",
                str(LAPS),
                f"--set=strategy={{use='fixed', iterations={LAPS}}}",
            ),
        ]
        return cost(words, work, expected=(3,))


if __name__ == "__main__":
    sys.exit(main())
