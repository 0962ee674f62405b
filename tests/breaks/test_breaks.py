"""Every attack that once broke something has its tests and its defences, and they are there."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from tests.defences.table import ROOT, defences

NAMES = {each.against for each in defences()}


class Break(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One attack, what shows that it is held, and what holds it."""

    attack: str
    tests: tuple[str, ...]
    defences: tuple[str, ...]


TABLE = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("breaks.toml").read_text(encoding="utf-8"))["break"], list[Break]
)
BY_ATTACK = pytest.mark.parametrize("one", TABLE, ids=lambda one: one.attack[:60])


def test_all_of_them_are_there() -> None:
    assert len({one.attack for one in TABLE}) == len(TABLE) >= 24


@BY_ATTACK
def test_an_attack_has_tests_that_there_are(one: Break) -> None:
    assert one.tests
    for test in one.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        if file.endswith(".py"):
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), test
        else:
            assert file.startswith(("tests/cheats/cheats/", "tests/cheats/runners/cheats/")), test


@BY_ATTACK
def test_an_attack_has_defences_that_there_are(one: Break) -> None:
    assert one.defences
    assert [each for each in one.defences if each not in NAMES] == []
