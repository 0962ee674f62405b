"""Tools are recognized by the structure of their output; any text is read in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from untilgreen.gates.output.recognize import TOOLS, errors_in, recognize
from untilgreen.gates.output.tool_result import MOST_FINDINGS, NO_TESTS

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
    "FAIL a.test.js\n",
    "  ● shop › sums\n",
    "Test Suites: 1 failed, 1 total\n",
    "Tests:       1 failed, 9 passed, 10 total\n",
    "⎯⎯ Failed Tests 1 ⎯⎯\n",
    " FAIL  a.test.ts > sums\n",
    "      Tests  1 failed | 2 passed (3)\n",
    "  1 passing (2ms)\n  1 failing\n",
    "  1) shop\n       sums:\n",
    "Error: x\n    at f (/a/mocha/lib/b.js:1:2)\n",
    "▶ shop\n",
    "  ✖ sums (1.5ms)\n",
    "\u2139 tests 1\n\u2139 pass 0\n\u2139 fail 1\n",
    "✖ failing tests:\n",
    "--- FAIL: TestA/b (0.00s)\n",
    "=== RUN   TestA\n",
    "FAIL\tshop\t0.1s\n",
    "ok  \tshop\t0.1s\n",
    '{"Action":"fail","Package":"a","Test":"T"}\n',
    '{"Action":"output","Package":"a","Output":"panic: x\\n"}\n',
    "running 2 tests\n",
    "test a::b ... FAILED\n",
    "test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
    "---- a::b stdout ----\n",
    "1/2 Test #1: sums ......***Failed    0.01 sec\n",
    "50% tests passed, 1 tests failed out of 2\n",
    "rspec ./spec/a_spec.rb:3 # A sums\n",
    "3 examples, 1 failure\n",
    "There was 1 failure:\n",
    "1) ATest::testB with data set #0 (1)\n",
    "Tests: 2, Assertions: 2, Failures: 1.\n",
    "[ERROR] a.BTest.c  Time elapsed: 0.1 s  <<< FAILURE!\n",
    "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
    "[INFO] BUILD FAILURE\n",
    "TAP version 13\n",
    "1..2\n",
    "    not ok 1 - inner\n",
    "not ok 1 - outer # TODO\n",
    "a.ts(1,2): error TS1: x\n",
    "a.js\n  1:2  error  x  rule\n",
    "a.py:1:2: F401 [*] x\nFound 1 error.\n",
    "F401 x\n --> a.py:1:2\n",
    "a.py:1: error: x  [code]\n",
    "a.c:1:2: error: x\n",
    "a.c:(.text+0x5): undefined reference to `x'\n",
    "error[E1]: x\n --> a.rs:1:2\n",
    "Traceback (most recent call last):\n",
    "ValueError: x\n",
    '[{"filePath":"a","messages":[{"message":"x"}]}]',
    '[\n{"filename":"a","message":"x","code":null,"noqa_row":1}]',
]


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    recognize(text)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=60).map("".join))
def test_any_mixture_of_what_tools_print_gives_findings_that_fit_a_journal(text: str) -> None:
    for seen in (recognize(text), errors_in(text)):
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
        "FAIL a.js\n  ● x\n",
        "⎯⎯ Failed Tests 1 ⎯⎯\n FAIL  a > b\n",
        "  1 failing\n  1) a\n",
        "Error: x\n    at a (b:1:1)\n",
        "Error\n    at " + "a " * 300 + "\n",
        "▶ a\n  ✖ b (1ms)\n\u2139 tests ",
        "--- FAIL: T/a (0.00s)\n",
        "./a_test.go:1: x\n",
        '{"Action":"fail","Package":"a","Test":"T"}\n',
        "test a " + "... " * 200 + "FAILED\nrunning 1 test\n",
        "1/2 Test #1: a" + "." * 700 + "\n",
        "1) a\n1 examples, 1 failures, 1 a\nrspec a # a\n",
        "There was 1 failure:\n1) a\nPHPUnit\n",
        "[ERROR] a:[1,2] x\n",
        "[ERROR] " + "a " * 1_500 + "\n",
        "1..1\n    not ok 1 - a\n",
        "a" * 500 + " TS1: error\n",
        "a.js\n  1:1  error  x  y\n",
        "  1:1  error  " + "  a" * 1_000 + "\n",
        "Found 1 error.\na.py:1:1: F401 " + "a " * 1_500 + "\n",
        "a.py" * 100 + ":1: error: x\n",
        "undefined reference to `" + "'" * 3_000 + "\n",
        "a/" * 200 + "ld: x\n",
        "error: x\n --> a.rs:1:1\n",
        'Traceback (most recent call last):\n  File "a", line 1, in test_x\nE: x\n',
        '[{"filePath":"a","messages":[',
        "[\n",
        ":" * 3_000 + "\n",
        " " * 3_000 + "x\n",
    ],
)
def test_a_megabyte_of_anything_is_read_in_bounded_time(piece: str) -> None:
    began = time.process_time()

    recognize(piece * (1_000_000 // len(piece)))

    assert time.process_time() - began < 20  # a second on a slow machine; minutes if a pattern backtracks


def test_no_more_findings_are_made_than_anybody_reads() -> None:
    seen = recognize("\n".join(f"src/m{number}.c:1: error: gone" for number in range(MOST_FINDINGS + 10)))

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
        "FAIL means that jest found a failing test.",
        "All 3 tests are passing now, 1 failing before.",
        "ok, that is 1 of 2; not ok is the other",
        "It is not ok to say 1..2 here",
        "PASS the salt, and run 3 examples",
        "[INFO] the server is up",
        "go test says FAIL when a package fails",
        "running 2 tests is quick",
        "50% of the tests passed",
        "✖ that is wrong",
        "[1, 2, 3]",
    ],
)
def test_talking_about_a_tool_is_not_being_it(text: str) -> None:
    assert recognize(text) is None


def test_the_tool_that_complains_is_heard_before_the_one_that_does_not() -> None:
    passed = "....                [100%]\n4 passed in 0.02s\n"
    block = f"{BAR}\nFAIL: test_x (m.C.test_x)\n{DASHES}\nAssertionError: no\n\n"
    failed = f"F\n{block}{DASHES}\nRan 1 test in 0.001s\n"

    seen = recognize(passed + failed)

    assert seen is not None
    assert (seen.tool, [finding.id for finding in seen.findings]) == ("unittest", ["m.C.test_x"])


def test_a_tool_that_ran_tests_outweighs_one_that_found_none() -> None:
    seen = recognize(f"no tests ran in 0.01s\n...\n{DASHES}\nRan 3 tests in 0.001s\n\nOK\n")

    assert seen is not None
    assert (seen.tool, seen.no_tests, seen.passed) == ("unittest", False, 3)


SMALLEST = {
    "pytest": "no tests ran in 0.01s",
    "unittest": f"{DASHES}\nRan 0 tests in 0.000s\n\nOK",
    "jest": "No tests found, exiting with code 1",
    "vitest": "No test files found, exiting with code 1",
    "mocha": "  0 passing (1ms)",
    "node": "\u2139 tests 0\n\u2139 pass 0\n\u2139 fail 0",
    "deno": "ok | 0 passed | 0 failed (7ms)",
    "bun": "bun test v1.3.2 (b131639c)\n\n 0 pass\n 0 fail\nRan 0 tests across 1 file. [1.00ms]",
    "ava": "  ✘ Couldn’t find any files to test",
    "jasmine": "Started\n\n\nNo specs found\nFinished in 0.001 seconds",
    "go-test": "?   \tshop\t[no test files]",
    "cargo-test": "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored",
    "ctest": "No tests were found!!!",
    "rspec": "0 examples, 0 failures",
    "phpunit": "PHPUnit 11.2.0 by Sebastian Bergmann and contributors.\n\nNo tests executed!",
    "maven": "[INFO] Scanning for projects...\n[INFO] No tests to run.",
    "tap": "TAP version 13\n1..0",
    "tsc": "error TS18003: No inputs were found.",
    "eslint": "\u2716 1 problem (1 error, 0 warnings)",
    "ruff": "All checks passed!",
    "mypy": "Success: no issues found in 1 source file",
    "gcc": "cc1: error: no input files",
    "gradle": "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s",
    "dotnet": "No test is available in /shop/bin/Shop.Tests.dll.",
    "swift": "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds",
    "bazel": "ERROR: No test targets were found, yet testing was requested\n"
    "ERROR: Build did NOT complete successfully",
    "minitest": "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
    "busted": "0 successes / 0 failures / 0 errors / 0 pending : 0.000206 seconds",
    "prove": "Files=0, Tests=0,  0 wallclock secs ( 0.00 usr +  0.00 sys =  0.00 CPU)\nResult: NOTESTS",
    "coverage": "ERROR: Coverage for lines (50%) does not meet global threshold (90%)",
    "cmake": "CMake Error: The source directory does not appear to contain CMakeLists.txt.",
    "cargo": '{"reason":"build-finished","success":true}',
}
LINTERS = frozenset({"tsc", "eslint", "ruff", "mypy", "gcc", "gradle", "coverage", "cmake", "cargo"})


@pytest.mark.parametrize("name", TOOLS)
def test_the_smallest_output_of_each_tool_is_known(name: str) -> None:
    seen = recognize(SMALLEST[name])

    assert seen is not None
    assert (seen.tool, seen.no_tests) == (name, name not in LINTERS)


@pytest.mark.parametrize("name", [name for name in TOOLS if name not in LINTERS])
def test_a_run_without_tests_says_so_in_its_finding(name: str) -> None:
    seen = recognize(SMALLEST[name])

    assert seen is not None
    assert [finding.id for finding in seen.findings] == [NO_TESTS]
