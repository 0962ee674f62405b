"""Short names by which a person recognizes an output."""

import pytest

from untilgreen.core.values.signature import LONGEST, signature, signature_of_findings


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Modified auth.ts", "auth.ts:modified"),
        ("Modified auth.ts and fixed it", "auth.ts:modified"),
        ("Modified auth.ts, fixed it, added null check for users", "auth.ts:null-check"),
    ],
    ids=["nothing said", "nothing that tells", "the first that tells"],
)
def test_a_change_is_named_by_its_file_and_what_was_done(text: str, name: str) -> None:
    assert signature(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Searched GitHub for 'oauth2 refresh token', found 3 patterns", "search:oauth2-refresh-token"),
        ("Searched the web for oauth2 refresh token.", "search:oauth2-refresh-token"),
        ("I looked at it", "looked"),
    ],
)
def test_a_search_is_named_by_what_was_looked_for(text: str, name: str) -> None:
    assert signature(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("TypeError: null in auth.ts\n2 tests failing - auth, login", "test-fail:2-auth,login"),
        ("Fixed auth.ts, but TypeError: null in auth.ts", "error:TypeError-null-auth.ts"),
        ("Searched for 'null', fixed auth.ts - added null check", "auth.ts:null-check"),
    ],
)
def test_failing_tests_are_named_before_errors_changes_and_searches(text: str, name: str) -> None:
    assert signature(text) == name


def test_of_a_very_long_output_both_ends_are_looked_at() -> None:
    much = "word " * 20_000

    assert signature(f"TypeError: null in auth.ts\n{much}") == "error:TypeError-null-auth.ts"
    assert signature(f"{much}\nTypeError: null in auth.ts") == "error:TypeError-null-auth.ts"
    assert signature(f"{much}\nTypeError: null in auth.ts\n{much}") == "word-word-word-word-word-word"


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        ([], ""),
        (["tests/test_a.py::test_one"], "test_a.py:test_one"),
        (["test_a.py::two", "test_a.py::one", "test_a.py::one"], "test_a.py:one,two"),
        (["a.py::d", "a.py::c", "a.py::b", "a.py::a"], "a.py:a,b+2"),
        (["src/app.py"], "app.py"),
        (["a.py::one", "b.py::one"], "a.py::one,b.py::one"),
        (["a.py::one", "no file"], "a.py::one,no-file"),
        (["type error: x"], "type-error:-x"),
        (["src/auth.ts: TypeError: cannot read properties of null"], "error:TypeError-null-auth.ts"),
        (["src/test_error.py::TestTypeError::test_a"], "test_error.py:TestTypeError::test_a"),
    ],
    ids=[
        "none",
        "one",
        "one file",
        "many",
        "file alone",
        "two files",
        "some without file",
        "no file",
        "an exception",
        "a test with the name of one",
    ],
)
def test_findings_are_named_by_the_file_they_share_and_the_first_names(ids: list[str], name: str) -> None:
    assert signature_of_findings(ids) == name


def test_a_name_stays_short() -> None:
    name = signature_of_findings([f"{'long' * 30}.py::{'name' * 30}"])

    assert len(name) == LONGEST
    assert name.endswith("…")
