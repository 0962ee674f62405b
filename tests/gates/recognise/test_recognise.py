"""Tools are known by structure; any text at all is read in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from untilgreen.gates.recognise import TOOLS, errors_in, recognise
from untilgreen.gates.seen import MOST_FINDINGS

BAR, DASHES = "=" * 70, "-" * 70
PIECES = [
    "FAILED ",
    "ERROR ",
    "tests/test_a.py",
    "::",
    "test_x",
    "[a - b]",
    " - ",
    "assert 0",
    "\n",
    "\n\n",
    " ",
    "=",
    "_",
    "===== FAILURES =====\n",
    "===== ERRORS =====\n",
    "=== short test summary info ===\n",
    "\x1b[31m",
    "\r",
    "\0",
    "=== test session starts ===\n",
    "=== 1 failed, 2 passed in 0.12s ===\n",
    "3 passed in 0.01s\n",
    "no tests ran",
    "____ test_x ____\n",
    "E   boom\n",
    "a.py:3: X\n",
    "[gw0] [ 10%] ",
    "SUBFAILED[m] (i=1) ",
    "PASSED",
    "[ 50%]",
    "INTERNALERROR> x\n",
    "ERROR: usage: x\n",
    "ImportError while loading conftest 'c.py'.\n",
    "collected 3 items",
    f"{BAR}\n",
    f"{DASHES}\n",
    "FAIL: test_x (a.B.test_x)",
    "ERROR: x (a.B) (i=1)",
    "Ran 2 tests in 0.1s\n",
    "OK",
    "FAILED (failures=1, errors=²)",
    " ... ",
    "ok",
    "test_x (a.B) ... ",
    "Fatal Python error: Aborted",
    "!!! x !!!",
    '  File "a.py", line 1, in test_x\n',
    "9" * 30,
    "٣ passed in 0.01s",
    "/tmp/x",
    " at 0x7f0011223344",
]


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    recognise(text)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=60).map("".join))
def test_any_mixture_of_what_tools_print_gives_findings_that_fit_a_journal(text: str) -> None:
    for seen in (recognise(text), errors_in(text)):
        if seen is not None:
            json.encode(seen)
            assert 0.0 <= seen.score <= 1.0
            assert min(seen.passed, seen.failed, seen.skipped, seen.total) >= 0
            ids = [finding.id for finding in seen.findings]
            assert all(ids)
            assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "::",
        "FAILED ",
        "=",
        "= ",
        "_ ",
        " ",
        "\n",
        "\r",
        "\x1b[",
        "\x1b]",
        "/tmp/",
        "(",
        "1 passed, ",
        " in ",
        "FAILED a.py::t[x - \n",
        "a/b.c:1: x\n",
        "ERROR: usage: \n",
        f"{BAR}\nERROR: a (b)\n{DASHES}\n",
        f"{BAR}\n",
        "=== FAILURES ===\n=== test session starts ===\n",
        "a.py::b" + " " * 3_000 + "x\n",
        "x (" + "a." * 1_900 + "\n",
        "ImportError while loading conftest 'x'.\n",
        "=== FAILURES ===\n___ t ___\n",
        "... " * 900 + "\n",
    ],
)
def test_a_megabyte_of_anything_is_no_trap(piece: str) -> None:
    began = time.process_time()

    recognise(piece * (1_000_000 // len(piece)))

    assert time.process_time() - began < 20  # about a second on a slow machine; a trap takes minutes


def test_no_more_findings_are_made_than_anybody_reads() -> None:
    seen = recognise("\n".join(f"src/m{number}.c:1: error: gone" for number in range(MOST_FINDINGS + 10)))

    assert seen is not None
    assert len(seen.findings) == MOST_FINDINGS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Run pytest and look at the short test summary info; FAILED means that it failed.",
        "We ran 3 tests in 2 hours, and unittest said OK.",
        "$ pytest tests\n(timed out)",
        "INFO: 3 passed in the first round, 1 failed in 0.5s of the second",
        "ERROR my_crate::module: the connection was lost",
        "The test session starts now.",
    ],
)
def test_talking_about_a_tool_is_not_being_it(text: str) -> None:
    assert recognise(text) is None


def test_the_tool_that_complains_is_heard_before_the_one_that_does_not() -> None:
    passed = "....                [100%]\n4 passed in 0.02s\n"
    block = f"{BAR}\nFAIL: test_x (m.C.test_x)\n{DASHES}\nAssertionError: no\n\n"
    failed = f"F\n{block}{DASHES}\nRan 1 test in 0.001s\n"

    seen = recognise(passed + failed)

    assert seen is not None
    assert (seen.tool, [finding.id for finding in seen.findings]) == ("unittest", ["m.C.test_x"])


def test_a_tool_that_ran_tests_outweighs_one_that_found_none() -> None:
    seen = recognise(f"no tests ran in 0.01s\n...\n{DASHES}\nRan 3 tests in 0.001s\n\nOK\n")

    assert seen is not None
    assert (seen.tool, seen.no_tests, seen.passed) == ("unittest", False, 3)


def test_every_reader_names_itself_as_the_table_does() -> None:
    empty = {"pytest": "no tests ran in 0.01s", "unittest": f"{DASHES}\nRan 0 tests in 0.000s\n\nOK"}

    assert {name: seen.tool for name, read in TOOLS.items() if (seen := read(empty[name].split("\n")))} == {
        name: name for name in TOOLS
    }
