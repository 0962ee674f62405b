"""Which session has which run: one note per session, whatever its name."""

from pathlib import Path

import pytest

from untilgreen.engine.store.notes.session_notes import FOLDER, Note, find, notes, remove, write
from untilgreen.engine.store.runs import Store

ODD = ["../../outside", "a/b", "..", "", ".hidden", "x" * 300, "two\nlines", "\udcff", "~1234"]


def note_of(session: str) -> Note:
    return Note(session=session, agent="claude", run="r1", top="/somewhere")


@pytest.mark.parametrize("session", ODD)
def test_a_session_of_any_name_has_its_note_in_the_folder(tmp_path: Path, session: str) -> None:
    store = Store(tmp_path / "deep" / "state")
    usable = note_of(session.encode(errors="replace").decode())

    write(store, usable)

    folder = store.state_dir / FOLDER
    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [folder]
    assert find(store, usable.session) == usable
    remove(store, usable.session)
    assert not folder.exists()


def test_a_note_is_not_believed_for_another_session(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write(store, note_of("mine-1"))
    (tmp_path / FOLDER / "mine-1").rename(tmp_path / FOLDER / "other-1")

    assert find(store, "other-1") is None
    assert list(notes(store)) == [note_of("mine-1")]
