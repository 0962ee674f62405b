"""What `init` remarks on about a gate that it has tried."""

import pytest

from untilgreen.config.init.detect import TESTS, Detected
from untilgreen.core.values.model import ToolCount, Verdict
from untilgreen.engine.operations.try_gates import Tried

GATE = Detected(name="tests", run="gradle test", role=TESTS, seen="build.gradle")


@pytest.mark.parametrize(
    ("tools", "remark"),
    [
        ((ToolCount(tool="pytest", passed=3, total=3),), ""),
        ((ToolCount(tool="gradle", uncounted=True),), ""),
        ((ToolCount(tool="ruff"),), "no test was seen in its output"),
        ((), "no test was seen in its output"),
    ],
    ids=["counted", "ran, and said only that all is well", "a linter", "nothing"],
)
def test_a_gate_that_shows_no_test_is_remarked_on(tools: tuple[ToolCount, ...], remark: str) -> None:
    assert Tried(gate=GATE, verdict=Verdict(status="pass", tools=tools)).remark == remark
