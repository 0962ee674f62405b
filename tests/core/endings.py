"""Finished runs with endings that several surfaces have to explain."""

from tests.core.helpers import PASS, Run, gate
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import INTEGRITY_GATE, Finding, Verdict

WEAKENED = Verdict(
    status="fail",
    findings=(
        Finding(id="changed: tests/test_a.py", message="1 test removed", file="tests/test_a.py"),
        Finding(id="original tests: test_a", message="assert 1 == 2", file="tests/test_a.py"),
    ),
)


def weakened() -> Run:
    """A run that uses up its laps: every gate passes except integrity, which guards the tests."""
    run = Run(
        gate("tests"),
        gate("integrity", kind=INTEGRITY_GATE),
        strategy=Hybrid(),
        limits=Limits(iterations=2),
    )
    for _ in range(2):
        run.lap(tests=PASS, integrity=WEAKENED)
    run.end()
    return run
