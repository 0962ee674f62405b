"""The start of a process and events around it are ordered by one clock."""

import subprocess
import sys

from untilgreen.process.boot_clock import now

SCRIPT = "from untilgreen.process.boot_clock import began; print(began(0.0).seconds)"


def test_a_process_does_not_seem_to_begin_before_what_went_before_it() -> None:
    for _ in range(5):
        before = now()
        child = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)

        assert before.seconds < float(child.stdout) < now().seconds
