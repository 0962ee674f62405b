"""Every sentence of the pages about safety has tests that prove it, and the tests exist."""

import re
from collections import Counter

import pytest

from tests.promises.table import PAGES, ROOT, Row, rows, sentences

NAMED = re.compile(r"`(test_\w+)(…?)`")
FILES = re.compile(r"`(tests/[\w/]+\.py)`")
ROWS = [
    pytest.param(row, id=f"{name}: {row.says[:60]}") for page, name in PAGES.items() for row in rows(page)
]


def known_tests() -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return [name for text in texts for name in re.findall(r"def (test_\w+)\(", text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_sentence_of_a_page_has_its_row(page: str) -> None:
    said = Counter(sentences((ROOT / page).read_text(encoding="utf-8")))
    known = Counter(row.says for row in rows(page))

    assert list(said - known) == [], "a sentence without a row: add it, with the test that proves it"
    assert list(known - said) == [], "a row whose sentence is gone or changed"


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_tests_that_exist_or_why_it_needs_none(row: Row) -> None:
    assert bool(row.tests) is not bool(row.reason)
    for test in row.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        story = file.startswith("tests/cheats/") and file.endswith(".toml") and "about = " in text
        assert story or re.search(rf"^ *(?:async )?def {name}\(", text, re.MULTILINE), test


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


def test_sentences_are_found_in_lines_lists_and_tables() -> None:
    table = "| a | b |\n|---|---|\n| row | It is. So. |\n"
    text = f"# A\nOne. Two `x`? `three` is so.\n\n{table}```\nno\n```\n- **Item.** Text.\n"

    assert list(sentences(text)) == [
        "One.",
        "Two `x`?",
        "`three` is so.",
        "row | It is.",
        "So.",
        "**Item.** Text.",
    ]
