"""The question that a person answers before a spec file is used."""

from pathlib import Path

import pytest

from untilgreen.config.load import Loaded, Request, load
from untilgreen.engine.store.notes.trust_book import TrustBook
from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError


def spec(place: Path, gate: str) -> Loaded:
    place.mkdir(exist_ok=True)
    lines = ["task = 'Do it.'", "agent = 'cmd:true'", f"gates.tests.run = '{gate}'"]
    (place / "untilgreen.toml").write_text("\n".join(lines))
    return load(Request(start=place))


def test_a_yes_to_what_was_shown_answers_the_question(tmp_path: Path) -> None:
    book, loaded = TrustBook(Store(tmp_path / "state")), spec(tmp_path / "place", "pytest")

    asked = book.question(loaded)

    assert asked is not None
    assert (asked.changed, asked.new) == (False, asked.lines)
    assert any("pytest" in line for line in asked.lines)
    book.accept(loaded, asked.digest, at=1.0)
    assert book.question(loaded) is None


def test_a_changed_spec_is_asked_about_with_its_new_lines(tmp_path: Path) -> None:
    book, loaded = TrustBook(Store(tmp_path / "state")), spec(tmp_path / "place", "pytest")
    first = book.question(loaded)
    assert first is not None
    book.accept(loaded, first.digest, at=1.0)

    asked = book.question(spec(tmp_path / "place", "rm -rf ~"))

    assert asked is not None
    assert asked.changed
    assert ["rm -rf" in line for line in asked.new] == [True]


def test_a_yes_to_what_has_changed_since_it_was_shown_is_refused(tmp_path: Path) -> None:
    book, shown = TrustBook(Store(tmp_path / "state")), spec(tmp_path / "place", "pytest")
    asked = book.question(shown)
    assert asked is not None
    changed = spec(tmp_path / "place", "rm -rf ~")

    with pytest.raises(UserError, match="has changed since you reviewed it"):
        book.accept(changed, asked.digest, at=1.0)

    assert book.question(changed) is not None
