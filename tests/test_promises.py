"""The tests that the pages about safety name are there: a promise without its test is not one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("SECURITY.md", "docs/sandbox.md", "docs/gates.md")
NAMED = re.compile(r"`(test_\w+)(…?)`")
FILES = re.compile(r"`(tests/[\w/]+\.py)`")


def known_tests() -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return [name for text in texts for name in re.findall(r"def (test_\w+)\(", text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    text, names = (ROOT / page).read_text(encoding="utf-8"), known_tests()

    gone = [
        said
        for said, more in NAMED.findall(text)
        if not (any(name.startswith(said) for name in names) if more else said in names)
    ]
    assert gone == []
    assert [path for path in FILES.findall(text) if not (ROOT / path).is_file()] == []


def test_every_row_about_the_sandbox_names_the_test_that_shows_it() -> None:
    text = (ROOT / "docs/sandbox.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| | ")]
    rows = [row for row in rows if not row.startswith("| ---")]

    assert len(rows) > 10
    bare = [
        row for row in rows if not (NAMED.search(row) or FILES.search(row) or row.endswith("| the same |"))
    ]
    assert bare == []
