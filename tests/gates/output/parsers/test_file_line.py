"""Findings about places in files, from tools that have no parser."""

import pytest

from untilgreen.gates.output.recognize import errors_in, recognize


def ids(text: str) -> list[str]:
    seen = recognize(text)
    return [finding.id for finding in seen.findings] if seen else []


def test_a_place_and_a_message_make_a_finding() -> None:
    seen = recognize("src/app.vala:12:5: error: 'count' undeclared\nmake: *** [all] Error 1")

    assert seen is not None
    (finding,) = seen.findings
    assert (seen.tool, finding.file, finding.line) == ("lines", "src/app.vala", 12)
    assert finding.message == "error: 'count' undeclared"
    assert finding.id == "src/app.vala: error: 'count' undeclared"


def test_moving_to_another_line_is_not_a_new_finding() -> None:
    assert ids("lib/a.py:3:1: E999 bad indent of 4") == ids("lib/a.py:80:9: E999 bad indent of 7")


def test_the_same_words_about_two_files_are_two_findings() -> None:
    assert len(ids("a.go:3: undefined: x\nb.go:3: undefined: x")) == 2


def test_indented_places_count() -> None:
    assert ids("Style:\n    lib/sum.ex:12: got 3 want 4") == ["lib/sum.ex: got <n> want <n>"]


def test_a_level_before_the_place_is_not_part_of_the_file() -> None:
    text = "[warn] src/A.scala:4: unused\n[error] src/A.scala:6: missing argument"

    assert ids(text) == ["src/A.scala: missing argument"]


def test_an_arrow_belongs_to_the_error_above_it() -> None:
    text = (
        "error[E0308]: mismatched types\n  --> src/till.rs:12:9\n   |\n12 |   x\n   |   ^\n"
        "note: the other is here\n  --> src/shop.rs:3:1\nwarning: unused\n --> src/a.rs:1:1\n"
    )

    assert ids(text) == ["src/till.rs: E0308 mismatched types"]


def test_rows_below_a_file_are_findings_about_it() -> None:
    text = "web/shop.css\n  4:3  ✖  Unexpected unit   length\n  9:1  ⚠  Too long   lines\n"

    assert ids(text) == ["web/shop.css: unexpected unit length"]


def test_a_traceback_through_a_test_is_a_failure_of_that_test_whatever_it_raises() -> None:
    def told(error: str, line: int) -> str:
        frame = f'  File "tests/till.py", line {line}, in test_sums'
        return f"Traceback (most recent call last):\n{frame}\n    assert x\n{error}\n"

    assert ids(told("AssertionError", 3)) == ids(told("TypeError: no", 9)) == ["tests/till.py: test_sums"]


def test_any_other_traceback_is_known_by_what_was_raised_where() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in main\n    run()\n'
        '  File "lib/b.py", line 7, in run\n    open(x)\nKeyError: 7\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 5, in main\n    fail()\n'
        "shop.TillError: row 12 is missing\n"
    )

    assert ids(text) == ["a.py: main: shop.TillError: row <n> is missing"]


def test_the_last_line_of_an_exception_alone_does_not_make_two_failures_the_same() -> None:
    def told(function: str) -> str:
        frame = f'  File "shop/till.py", line 7, in {function}'
        return f"Traceback (most recent call last):\n{frame}\n    open(x)\nKeyError: 'total'\n"

    assert ids(told("read")) != ids(told("write"))
    assert ids(told("read")) == ids(told("read").replace("line 7", "line 70"))
    assert ids(told("<module>")) == ["shop/till.py: KeyError: 'total'"]


def test_warnings_are_findings_only_where_there_is_nothing_worse() -> None:
    warning, error = "a.c:1:2: warning: unused", "b.c:3:4: error: gone"

    assert ids(f"{warning}\n{error}") == ["b.c: error: gone"]
    assert ids(warning) == ["a.c: warning: unused"]
    assert errors_in(warning) is None


def test_a_drive_letter_is_part_of_the_file() -> None:
    assert ids(r"C:\src\app.c:3: error: gone") == [r"C:\src\app.c: error: gone"]


@pytest.mark.parametrize(
    "line",
    [
        "12:30:45: the night begins",
        "127.0.0.1:8080: refused",
        "localhost:80: refused",
        "http://example.org:80: refused",
        "2024-01-01T10:20:30: started",
        "src/app.py:12: in run",
        "src/app.py:12:",
        "key:3: value",
        'File "a.py", line 3',
        "look at src/app.py:12: there",
    ],
)
def test_times_addresses_and_frames_are_not_findings(line: str) -> None:
    assert ids(line) == []


def test_what_python_warns_about_fails_nothing() -> None:
    warned = "/app/basic.py:3: DeprecationWarning: Using the ABCs from here is deprecated\n  import x\n"

    assert ids(warned) == []
    assert ids(warned + "src/a.py:4: error: no") == ["src/a.py: error: no"]
