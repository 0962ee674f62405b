"""TAP in a file: what is read from it, and why it is refused."""

import io

import pytest

from untilgreen.gates.output.reports.tap import read
from untilgreen.gates.output.tool_result import BadReport


def test_points_are_counted_and_failures_are_findings() -> None:
    seen = read(io.BytesIO(b"\xef\xbb\xbfTAP version 14\r\n1..2\r\nok 1 - opens\r\nnot ok 2 - sums\r\n"))

    assert [each.id for each in seen.findings] == ["sums"]
    assert (seen.tool, seen.passed, seen.failed, seen.total) == ("tap", 1, 1, 2)


def test_the_rest_of_an_endless_line_is_not_a_line_of_its_own() -> None:
    endless = b"# " + b"x" * 3_998 + b"not ok 9 - hidden"

    assert read(io.BytesIO(b"1..1\nok 1 - opens\n" + endless + b"\n")).findings == ()


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"ok 1\nok 2\n", b"TAP version 13\nok 1 - a\n", b"1..3\nok 1\n", b"1..1\nok 1 - \xff\n"],
    ids=["empty", "blank", "no plan", "no plan in the end", "truncated", "encoding"],
)
def test_anything_but_whole_tap_is_refused(data: bytes) -> None:
    with pytest.raises(BadReport):
        read(io.BytesIO(data))
