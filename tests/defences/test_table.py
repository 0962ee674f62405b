"""The code and the tests in the table of defences exist; `make defences` tries each defence."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.defences.removing import Copy
from tests.defences.table import ROOT, Defence, defences

TABLE = tuple(defences())
BY_NAME = pytest.mark.parametrize("defence", TABLE, ids=lambda each: f"{each.area}: {each.against}")


@BY_NAME
def test_a_defence_is_in_the_code_once(defence: Defence) -> None:
    text = (ROOT / defence.file).read_text(encoding="utf-8")

    assert defence.in_(text), f"{defence.file} contains it {text.count(defence.code)} times"
    ast.parse(text.replace(defence.code, defence.without))


@BY_NAME
def test_a_defence_names_tests_that_exist(defence: Defence) -> None:
    assert defence.tests
    for test in defence.tests:
        file, _, name = test.partition("::")
        function = name.partition("[")[0].rpartition("::")[2]
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_names_are_not_used_twice() -> None:
    names = [(each.area, each.against) for each in TABLE]

    assert len(set(names)) == len(names)


def test_without_its_defence_a_test_is_red_and_with_it_green(tmp_path: Path) -> None:
    """Tries one of them: without it, an event whose line was changed is read as if it were intact."""
    seal = next(each for each in TABLE if each.against == "a flipped bit in the journal")
    copy = Copy(tmp_path / "copy")

    assert copy.without(seal) == ("red", "")
    assert copy.failing(seal.tests) == []
