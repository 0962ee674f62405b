"""The beginning of a process and what happens around it stand on one clock, in their order."""

import subprocess
import sys

from untilgreen.process.boot_clock import now

TOLD = "from untilgreen.process.boot_clock import began; print(began(0.0).seconds)"


def test_a_process_does_not_seem_to_begin_before_what_went_before_it() -> None:
    for _ in range(5):
        before = now()
        told = subprocess.run([sys.executable, "-c", TOLD], capture_output=True, text=True, check=True)

        assert before.seconds < float(told.stdout) < now().seconds
