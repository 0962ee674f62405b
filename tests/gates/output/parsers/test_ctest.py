"""ctest: outcomes, a list of failures, a percentage."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

RED = """\
Test project /home/me/build
    Start 1: opens
1/4 Test #1: opens ............................   Passed    0.01 sec
    Start 2: sums
2/4 Test #2: sums .............................***Failed    {time} sec
two is not three

    Start 3: crashes
3/4 Test #3: crashes ..........................***Exception: SegFault  0.01 sec
    Start 4: rings
4/4 Test #4: rings ............................***Skipped   0.00 sec

33% tests passed, 2 tests failed out of 4

Total Test time (real) =   1.05 sec

The following tests did not run:
\t  4 - rings (Skipped)

The following tests FAILED:
\t  2 - sums (Failed)
\t  3 - crashes (SEGFAULT)
Errors while running CTest
"""


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "ctest"
    return seen


def test_failures_are_known_by_name_and_show_what_they_printed() -> None:
    seen = read(RED.format(time="0.01"))

    assert [(each.id, each.message) for each in seen.findings] == [
        ("sums", "Failed\ntwo is not three"),
        ("crashes", "SEGFAULT"),
    ]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (1, 2, 1, 4)


def test_times_change_no_id() -> None:
    assert [each.id for each in read(RED.format(time="0.01")).findings] == [
        each.id for each in read(RED.format(time="12.50")).findings
    ]


def test_the_end_alone_is_enough() -> None:
    seen = read(RED[RED.index("33%") :].format(time=1))

    assert [each.id for each in seen.findings] == ["sums", "crashes"]
    assert seen.score == pytest.approx(0.5)
