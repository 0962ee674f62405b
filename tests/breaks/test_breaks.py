"""Every attack that once worked has tests and defences, and all of them exist."""

import pytest

from tests.breaks.table import Break, breaks
from tests.defences.table import ROOT, defences

NAMES = {each.against for each in defences()}
TABLE = tuple(breaks())
BY_ATTACK = pytest.mark.parametrize("one", TABLE, ids=lambda one: one.attack[:60])


def test_all_of_them_are_there() -> None:
    assert len({one.attack for one in TABLE}) == len(TABLE) >= 24


@BY_ATTACK
def test_an_attack_names_tests_that_exist(one: Break) -> None:
    assert one.tests
    for test in one.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        if file.endswith(".py"):
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), test
        else:
            assert file.startswith(("tests/cheats/cheats/", "tests/cheats/runners/cheats/")), test


@BY_ATTACK
def test_an_attack_names_defences_that_exist(one: Break) -> None:
    assert one.defences
    assert [each for each in one.defences if each not in NAMES] == []
