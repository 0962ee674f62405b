"""pytest's output in all the shapes that its options give it."""

import pytest

from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.tool_result import ToolResult

START = "============================= test session starts =============================="
HEAD = f"{START}\nplatform linux -- Python 3.12.1, pytest-8.3.0, pluggy-1.5.0\nrootdir: /home/kim/shop\n"
SUMMARY = "=========================== short test summary info ============================"


def read(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    assert seen.tool == "pytest"
    return seen


def ids(text: str) -> list[str]:
    return [finding.id for finding in read(text).findings]


BLOCKS = f"""{HEAD}collected 5 items

tests/test_cart.py .F.                                                   [ 60%]
tests/test_till.py FE                                                    [100%]

==================================== ERRORS ====================================
_____________________ ERROR at setup of TestTill.test_opens ____________________

    @pytest.fixture
    def till():
>       raise RuntimeError("the drawer is stuck")
E       RuntimeError: the drawer is stuck

tests/test_till.py:7: RuntimeError
=================================== FAILURES ===================================
_________________________________ test_total[3] ________________________________

count = 3

    def test_total(count):
>       assert total(count) == 30, "the whole sentence that says what went wrong here"
E       AssertionError: the whole sentence that says what went wrong here
E       assert 29 == 30

tests/test_cart.py:12: AssertionError
_______________________________ TestTill.test_sum ______________________________

self = <test_till.TestTill object at 0x7f0011223344>

    def test_sum(self):
>       add(1, "2")

tests/test_till.py:21:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

shop/till.py:4: in add
    return one + other
E   TypeError: unsupported operand type(s) for +: 'int' and 'str'
{SUMMARY}
FAILED tests/test_cart.py::test_total[3] - AssertionError: the whole sente...
FAILED tests/test_till.py::TestTill::test_sum - TypeError: unsupported oper...
ERROR tests/test_till.py::TestTill::test_opens - RuntimeError: the drawer is stuck
==================== 2 failed, 2 passed, 1 error in 0.12s ======================
"""


def test_the_summary_names_the_tests_and_the_blocks_say_where_and_why() -> None:
    found = [(each.id, each.file, each.line, each.message) for each in read(BLOCKS).findings]

    assert found == [
        (
            "tests/test_cart.py::test_total[3]",
            "tests/test_cart.py",
            12,
            "AssertionError: the whole sentence that says what went wrong here",
        ),
        (
            "tests/test_till.py::TestTill::test_sum",
            "tests/test_till.py",
            21,
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        ),
        (
            "tests/test_till.py::TestTill::test_opens",
            "tests/test_till.py",
            7,
            "RuntimeError: the drawer is stuck",
        ),
    ]


def test_the_last_line_counts() -> None:
    seen = read(BLOCKS)

    assert (seen.passed, seen.failed, seen.skipped, seen.total, seen.no_tests) == (2, 3, 0, 5, False)


@pytest.mark.parametrize(
    ("line", "passed", "failed", "skipped", "total"),
    [
        ("1 failed, 3 passed in 0.10s", 3, 1, 0, 4),
        ("=== 1 failed, 3 passed in 0.10s ===", 3, 1, 0, 4),
        ("= 1 failed, 3 passed in 75.01s (0:01:15) =", 3, 1, 0, 4),
        ("=== 3 passed, 2 warnings in 0.10s ===", 3, 0, 0, 3),
        ("=== 3 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 rerun in 0.10s ===", 4, 0, 2, 6),
        ("2 errors in 0.10s", 0, 2, 0, 2),
        ("=== 7 warnings, 1 error in 0.41s ===", 0, 1, 0, 1),
        ("=== 3 passed, 9 deselected in 1.02 seconds ===", 3, 0, 0, 3),
        ("2 passed, 4 subtests passed in 0.10s", 2, 0, 0, 2),
        (
            "\x1b[31m=== \x1b[1m1 failed\x1b[0m, \x1b[32m3 passed\x1b[0m\x1b[31m in 0.10s\x1b[0m ===\x1b[0m",
            3,
            1,
            0,
            4,
        ),
    ],
)
def test_every_form_of_the_last_line(line: str, passed: int, failed: int, skipped: int, total: int) -> None:
    seen = read(line)

    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (passed, failed, skipped, total)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}collected 0 items\n\n============================ no tests ran in 0.01s ============",
        "no tests ran in 0.00s",
        "15 deselected in 0.87s",
        "1 warning in 0.01s",
        f"{HEAD}2 workers [0 items]\n\n======= no tests ran in 2.61s =======",
        "no tests collected in 0.02s",
    ],
)
def test_a_session_without_a_test_is_seen(text: str) -> None:
    seen = read(text)

    assert (seen.no_tests, [finding.id for finding in seen.findings]) == (True, ["no-tests"])


@pytest.mark.parametrize(
    "text",
    ["2 skipped in 0.01s", "1 xfailed in 0.01s", "1 error in 0.10s", "3 tests collected in 0.01s"],
)
def test_skipped_broken_and_listed_tests_are_tests(text: str) -> None:
    assert not read(text).no_tests


def test_parameters_may_look_like_the_separator() -> None:
    text = f"""{SUMMARY}
FAILED t.py::test_p[a - b] - AssertionError: assert [1] - [2]
FAILED t.py::test_p[x]y] - assert 0
FAILED t.py::test_p[no - message]
FAILED t.py::test_q - assert [1] - [2]
4 failed in 0.02s"""

    assert ids(text) == [
        "t.py::test_p[a - b]",
        "t.py::test_p[x]y]",
        "t.py::test_p[no - message]",
        "t.py::test_q",
    ]


def test_a_failing_test_whose_teardown_breaks_is_one_finding() -> None:
    text = (
        f"{SUMMARY}\nFAILED t.py::test_x - assert 0\nERROR t.py::test_x - OSError\n1 failed, 1 error in 0.02s"
    )

    assert ids(text) == ["t.py::test_x"]


def test_a_file_that_can_not_be_imported_is_named_by_its_path() -> None:
    text = f"""{HEAD}collected 0 items / 1 error

==================================== ERRORS ====================================
______________________ ERROR collecting tests/test_door.py _____________________
ImportError while importing test module '/home/kim/shop/tests/test_door.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
tests/test_door.py:2: in <module>
    import hinge
E   ModuleNotFoundError: No module named 'hinge'
{SUMMARY}
ERROR tests/test_door.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.09s ===============================
"""
    (finding,) = read(text).findings

    assert (finding.id, finding.line) == ("tests/test_door.py", 2)
    assert finding.message == "ModuleNotFoundError: No module named 'hinge'"


def test_long_messages_over_many_lines_hide_no_finding_and_make_none() -> None:
    text = f"""{SUMMARY}
FAILED t.py::test_a - AssertionError: assert 'one' == 'two'

  - two
  + one
ERROR while the door was open
FAILED t.py::test_b - AssertionError
2 failed in 0.02s"""

    assert ids(text) == ["t.py::test_a", "t.py::test_b"]


def test_subtests_are_findings_of_their_own() -> None:
    text = f"""{SUMMARY}
SUBFAILED[half] (i=0) t.py::test_s - assert 0 == 1
SUBFAILED(i=2) t.py::TestU::test_s - assert 2 == 1
[old] (i=3) SUBFAIL t.py::test_old - assert 3 == 1
FAILED t.py::test_s - contains 1 failed subtest
4 failed in 0.02s"""

    assert ids(text) == [
        "t.py::test_s [half] (i=0)",
        "t.py::TestU::test_s (i=2)",
        "t.py::test_old [old] (i=3)",
        "t.py::test_s",
    ]


def test_passed_and_skipped_lines_of_a_full_summary_are_not_findings() -> None:
    text = f"""{SUMMARY}
PASSED t.py::test_a
SKIPPED [1] t.py:16: later
XFAIL t.py::test_c - known
XPASS t.py::test_d
FAILED t.py::test_b - assert 0
=== 1 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed in 0.84s ==="""

    assert ids(text) == ["t.py::test_b"]


def test_without_a_summary_verbose_progress_names_the_tests() -> None:
    text = f"""{HEAD}collecting ... collected 4 items

t.py::test_a PASSED                                                      [ 25%]
t.py::test_p[a FAILED b] FAILED                                          [ 50%]
t.py::TestB::test_b ERROR                                                [ 75%]
t.py::test_c SKIPPED (it FAILED before)                                  [100%]

=== 1 failed, 1 passed, 1 skipped, 1 error in 0.02s ==="""

    assert ids(text) == ["t.py::test_p[a FAILED b]", "t.py::TestB::test_b"]


def test_workers_name_the_tests_in_their_own_way() -> None:
    text = f"""{HEAD}created: 2/2 workers
2 workers [3 items]

scheduling tests via LoadScheduling
t.py::test_a
t.py::test_b
[gw0] [ 33%] PASSED t.py::test_a
[gw1] [ 66%] FAILED t.py::test_b
[gw0] [100%] SUBFAILED[m] (i='0') t.py::test_c
=== 2 failed, 1 passed in 2.02s ==="""

    assert ids(text) == ["t.py::test_b", "t.py::test_c [m] (i='0')"]


def test_without_summary_and_names_the_blocks_have_to_do() -> None:
    text = """F                                                                        [100%]
=================================== FAILURES ===================================
___________________________ TestTill.test_sum[a.b] _____________________________
tests/test_till.py:3: in test_sum
    assert add(1) == 2
shop/till.py:9: in add
    raise ValueError("empty")
E   ValueError: empty
1 failed in 0.82s"""
    (finding,) = read(text).findings

    assert (finding.id, finding.line) == ("tests/test_till.py::TestTill::test_sum[a.b]", 3)
    assert finding.message == "ValueError: empty"


def test_native_tracebacks_leave_at_least_the_name() -> None:
    text = """=================================== FAILURES ===================================
___________________________________ test_bad ___________________________________
Traceback (most recent call last):
  File "/home/kim/shop/t.py", line 3, in test_bad
AssertionError
1 failed in 0.82s"""

    assert ids(text) == ["test_bad"]


def test_the_last_line_alone_counts_even_if_nothing_is_named() -> None:
    seen = read(".F..                      [100%]\n1 failed, 3 passed in 0.05s")

    assert ([finding.id for finding in seen.findings], seen.score) == (["unnamed failure 1"], 0.75)


def test_failures_that_are_only_counted_are_known_by_their_file() -> None:
    seen = read(
        f"{HEAD}collected 4 items\n\ntests/test_a.py ..                [ 50%]\n"
        "tests/test_b.py .F                [100%]\n\n=== 1 failed, 3 passed in 0.05s ==="
    )

    assert [finding.id for finding in seen.findings] == ["tests/test_b.py: failure 1"]


def test_stopping_early_does_not_look_better_than_going_on() -> None:
    summary = f"{SUMMARY}\nFAILED t.py::test_d\n=== 1 failed, 3 passed in 0.02s ==="
    text = f"{HEAD}collected 100 items\n\nt.py ...F\n\n{summary}"

    assert read(text).score == 0.03


def test_deselected_tests_are_not_expected_to_pass() -> None:
    found = f"{HEAD}collected 10 items / 6 deselected / 4 selected"
    text = f"{found}\n\n=== 1 failed, 3 passed, 6 deselected in 0.02s ==="

    assert read(text).total == 4


def test_a_crash_is_found_at_the_test_that_was_running() -> None:
    text = f"""{HEAD}collecting ... collected 3 items

t.py::test_a PASSED                                                      [ 33%]
t.py::test_b FAILED                                                      [ 66%]
t.py::test_c Fatal Python error: Segmentation fault

Current thread 0x00007ff6f5243b80 (most recent call first):
  File "/home/kim/shop/t.py", line 5 in test_c"""
    seen = read(text)

    assert [(each.id, each.message) for each in seen.findings] == [
        ("t.py::test_b", ""),
        ("t.py::test_c", "Fatal Python error: Segmentation fault"),
    ]
    assert (seen.passed, seen.failed, seen.total) == (1, 2, 3)


def test_a_crash_without_names_is_found_in_its_file() -> None:
    seen = read(f"{HEAD}collected 9 items\n\nt/a.py ..s                    [ 33%]\nt/b.py .F")

    assert [finding.id for finding in seen.findings] == ["t/b.py"]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (3, 1, 1, 9)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Fatal Python error: Aborted", "Fatal Python error: Aborted"),
        ("+++++++++ Timeout +++++++++", "The test took longer than pytest-timeout allows."),
    ],
)
def test_a_crash_that_is_printed_on_the_progress_line_is_found_there(said: str, message: str) -> None:
    seen = read(f"{HEAD}collected 9 items\n\nt/a.py ..s                    [ 33%]\nt/b.py .F{said}\n")

    assert [(each.id, each.message) for each in seen.findings] == [("t/b.py", message)]
    assert (seen.passed, seen.failed, seen.skipped, seen.total) == (3, 1, 1, 9)


def test_a_crash_before_any_test_still_is_one() -> None:
    assert ids(HEAD) == ["crash"]


def test_quiet_output_that_never_counts_is_not_a_crash() -> None:
    seen = read(f"F.                    [100%]\n{SUMMARY}\nFAILED t.py::test_a - assert 0\n")

    assert [finding.id for finding in seen.findings] == ["t.py::test_a"]


def test_an_error_inside_pytest_is_named_by_its_kind() -> None:
    text = f"""{HEAD}collected 1 item
INTERNALERROR> Traceback (most recent call last):
INTERNALERROR>   File "/venv/_pytest/main.py", line 285, in wrap_session
INTERNALERROR>     session.exitstatus = doit(config, session) or 0
INTERNALERROR> PluginBroken: at 0x7f0011223344
============================ no tests ran in 0.05s ============================="""
    (finding,) = read(text).findings

    assert finding.id == "INTERNALERROR: PluginBroken"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "ERROR: usage: pytest [options] [file_or_dir]\npytest: error: unrecognized arguments: --nope\n",
            "usage: unrecognized arguments: --nope",
        ),
        (
            "\nno tests ran in 0.01s\nERROR: file or directory not found: tests/gone.py\n",
            "usage: file or directory not found: tests/gone.py",
        ),
        (
            "\nno tests ran in 0.01s\nERROR: not found: t.py::gone\n(no match in any of [<Module t.py>])\n",
            "usage: not found: t.py::gone",
        ),
        (
            "ImportError while loading conftest 'tests/conftest.py'.\ntests/conftest.py:1: in <module>\n"
            "    import nothing\nE   ModuleNotFoundError: No module named 'nothing'\n",
            "tests/conftest.py",
        ),
        (
            f"{HEAD}collected 3 items\n\nt.py .\n!!!!! KeyboardInterrupt !!!!!\n=== 1 passed in 0.50s ===",
            "KeyboardInterrupt",
        ),
        (
            f"{HEAD}collected 1 item\n\nt.py .     [100%]\n\nFAIL Required test coverage of 90% not reached. "
            "Total coverage: 71.43%\n=== 1 passed in 0.50s ===",
            "coverage",
        ),
    ],
)
def test_what_ends_a_session_without_a_failing_test_is_a_finding(text: str, wanted: str) -> None:
    assert ids(text) == [wanted]


def test_several_sessions_are_added_up() -> None:
    summary = f"{SUMMARY}\nFAILED a.py::test_a - assert 0"
    one = f"{HEAD}collected 2 items\n\n{summary}\n=== 1 failed, 1 passed in 0.50s ===\n"
    two = f"{HEAD}collected 3 items\n\n{summary}\n=== 1 failed, 2 passed in 0.50s ===\n"
    none = f"{HEAD}collected 0 items\n\n=== no tests ran in 0.50s ===\n"
    seen = read(f"py311: commands[0]\n{one}py312: commands[0]\n{two}{none}")

    assert (seen.passed, seen.failed, seen.total, seen.no_tests) == (3, 2, 5, False)
    assert [finding.id for finding in seen.findings] == ["a.py::test_a", "no-tests"]


def test_a_session_that_a_test_ran_and_pytest_captured_is_not_mistaken_for_the_session() -> None:
    summary = f"{SUMMARY}\nFAILED inner.py::test_in - assert 0\n=== 1 failed in 0.01s ===\n"
    inner = f"{HEAD}collected 1 item\n\n{summary}"
    text = f"""{HEAD}collected 8 items

=================================== FAILURES ===================================
__________________________________ test_plugin _________________________________
tests/test_plugin.py:3: in test_plugin
E   assert 1 == 0
----------------------------- Captured stdout call -----------------------------
{inner}4 passed in 0.01s
{SUMMARY}
FAILED tests/test_plugin.py::test_plugin - assert 1 == 0
=== 1 failed, 7 passed in 0.50s ==="""
    seen = read(text)

    assert [finding.id for finding in seen.findings] == ["tests/test_plugin.py::test_plugin"]
    assert (seen.passed, seen.failed) == (7, 1)


def test_a_captured_session_that_was_cut_off_does_not_swallow_the_real_one() -> None:
    text = f"""{HEAD}collected 2 items

=================================== FAILURES ===================================
__________________________________ test_plugin _________________________________
tests/test_plugin.py:3: in test_plugin
E   assert 1 == 0
----------------------------- Captured stdout call -----------------------------
{HEAD}
{SUMMARY}
FAILED tests/test_plugin.py::test_plugin - assert 1 == 0
=== 1 failed, 1 passed in 0.50s ==="""

    seen = read(text)

    assert [(each.id, each.message) for each in seen.findings] == [
        ("tests/test_plugin.py::test_plugin", "assert 1 == 0")
    ]
    assert (seen.passed, seen.failed, seen.total) == (1, 1, 2)


def test_output_of_tools_around_pytest_is_ignored() -> None:
    text = f"""ERROR conda.cli.main_run:execute(124): `conda run pytest` failed. (See above for error)
{HEAD}collected 2 items

{SUMMARY}
FAILED t.py::test_a - assert 0
=== 1 failed, 1 passed in 0.50s ===
ERROR tox: command failed
ERROR: invocation failed"""

    assert ids(text) == ["t.py::test_a"]
