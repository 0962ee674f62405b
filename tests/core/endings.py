"""Runs that ended in a way that several surfaces have to tell about."""

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
    """Every gate passes but the one that guards the tests, until the laps are used up."""
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
