"""Complaints about places in files, from tools that nobody here knows."""

import pytest

from untilgreen.gates.recognise import errors_in, recognise


def ids(text: str) -> list[str]:
    seen = recognise(text)
    return [finding.id for finding in seen.findings] if seen else []


def test_a_place_and_a_message_make_a_finding() -> None:
    seen = recognise("src/app.c:12:5: error: 'count' undeclared\nmake: *** [all] Error 1")

    assert seen is not None
    (finding,) = seen.findings
    assert (seen.tool, finding.file, finding.line) == ("lines", "src/app.c", 12)
    assert finding.message == "error: 'count' undeclared"
    assert finding.id == "src/app.c: error: 'count' undeclared"


def test_moving_to_another_line_is_no_new_complaint() -> None:
    assert ids("lib/a.py:3:1: E999 bad indent of 4") == ids("lib/a.py:80:9: E999 bad indent of 7")


def test_the_same_words_about_two_files_are_two_complaints() -> None:
    assert len(ids("a.go:3: undefined: x\nb.go:3: undefined: x")) == 2


def test_indented_places_count_as_go_prints_them() -> None:
    assert ids("--- FAIL: TestSum (0.00s)\n    sum_test.go:12: got 3 want 4") == [
        "sum_test.go: got <n> want <n>"
    ]


def test_warnings_are_complaints_only_where_there_is_nothing_worse() -> None:
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
def test_times_addresses_and_frames_are_no_complaints(line: str) -> None:
    assert ids(line) == []
