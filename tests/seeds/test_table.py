"""Every requirement of the founding documents has a test that proves it, or a decision that replaces it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent
DOCUMENTS = ("loop-strategies", "simplified-strategy", "convergence", "session-loop", "loop-detection")
LEAST_ROWS = 250
_TEST = re.compile(r"`([\w/.-]+\.py)::(test_\w+)`")
_DECISION = re.compile(r"differs: \[([\w-]+)\]\(decisions\.md#([\w-]+)\)")


class Row(NamedTuple):
    """One requirement of a document."""

    document: str
    asks: str
    here: str
    shown: str


def rows(document: str) -> list[Row]:
    lines = (HERE / f"{document}.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    found = [[cell.strip() for cell in row] for row in cells]
    return [
        Row(document, *row) for row in found if row[0] != "it asks for" and not set("".join(row)) <= {"-"}
    ]


@cache
def names_in(file: Path) -> frozenset[str]:
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.M))


@cache
def decisions() -> frozenset[str]:
    return frozenset(re.findall(r"^## ([\w-]+)$", (HERE / "decisions.md").read_text(encoding="utf-8"), re.M))


def test_the_tables_have_a_row_for_each_requirement() -> None:
    assert sum(len(rows(document)) for document in DOCUMENTS) >= LEAST_ROWS
    assert {path.stem for path in HERE.glob("*.md")} == {*DOCUMENTS, "decisions", "README"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_row_is_complete_and_occurs_once(document: str) -> None:
    found = rows(document)

    assert [row for row in found if not (row.asks and row.here and row.shown)] == []
    assert [row for row in found if not (_TEST.search(row.shown) or _DECISION.search(row.shown))] == []
    asked = [row.asks for row in found]
    assert [asks for asks in sorted(set(asked)) if asked.count(asks) > 1] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_named_test_exists(document: str) -> None:
    named = [(row.asks, *each) for row in rows(document) for each in _TEST.findall(row.shown)]

    missing = [
        f"{file}::{name} ({asks})"
        for asks, file, name in named
        if not (TESTS / file).exists() or name not in names_in(TESTS / file)
    ]

    assert missing == []


def test_every_difference_names_a_decision_and_every_decision_is_needed() -> None:
    named = [
        each for document in DOCUMENTS for row in rows(document) for each in _DECISION.findall(row.shown)
    ]

    assert {name for pair in named for name in pair} == decisions()
    text = (HERE / "decisions.md").read_text(encoding="utf-8")
    for name in decisions():
        part = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert all(f"- {word}: " in part for word in ("asked for", "here", "why")), name
