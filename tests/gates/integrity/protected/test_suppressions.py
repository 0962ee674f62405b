"""New comments that suppress a tool's findings are taken out, and nothing else."""

import pytest

from untilgreen.gates.integrity.protected.suppressions import may_suppress, swap_suppressions


@pytest.mark.parametrize(
    ("path", "line", "bare"),
    [
        ("a.py", "import os  # noqa: F401", "import os"),
        ("a.py", "x: int = 'a'  # type: ignore[assignment]", "x: int = 'a'"),
        ("a.py", "# ruff: noqa", ""),
        ("a.py", "if x:  # pragma: no cover", "if x:"),
        ("a.ts", "// @ts-ignore", ""),
        ("a.js", "/* eslint-disable */ var a", " var a"),
        ("a.js", "var a // eslint-disable-line no-var", "var a"),
        ("a.go", "f() //nolint:errcheck", "f()"),
    ],
)
def test_a_new_comment_is_taken_out(path: str, line: str, bare: str) -> None:
    swapped = swap_suppressions(path, b"one\n", f"one\n{line}\r\ntwo".encode())

    assert may_suppress(path)
    assert swapped is not None
    assert swapped.content == f"one\n{bare}\r\ntwo".encode()


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "import os  # noqa\n", "x = 1\nimport os  # noqa\n"),
        ("a.py", "", "# no quarter asked\nurl = 'https://example.org/nolint'\n"),
        ("a.js", "", "const url = 'x' // why not\n"),
    ],
    ids=["there before", "other words", "another comment"],
)
def test_old_comments_and_others_stay(path: str, before: str, after: str) -> None:
    assert swap_suppressions(path, before.encode(), after.encode()) is None


def test_a_file_that_is_gone_hides_nothing() -> None:
    assert swap_suppressions("a.py", b"import os\n", None) is None
    assert not may_suppress("a.txt")
