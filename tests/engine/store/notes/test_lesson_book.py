"""Lessons from finished runs; each journal is read once."""

from pathlib import Path

import anyio
import pytest

from tests.core.helpers import PASS, Run, red
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.values.model import PartSpec
from untilgreen.engine.store.notes.lesson_book import LessonBook, agent_key
from untilgreen.engine.store.runs import Store

CLAUDE = (PartSpec(name="claude:opus", use="claude", options={"model": "opus"}),)


def keep(store: Store, run: Run) -> str:
    """Write the run's journal into the store, as its driver would have; returns the run's id."""
    record = store.create(1_700_000_000.0, workspace=Path("/work"))

    async def write() -> None:
        for event in run.events:
            await record.open_journal().append(event)

    anyio.run(write)
    return record.id


def played(*findings: str, agents: tuple[PartSpec, ...] = CLAUDE, over: bool = True) -> Run:
    run = Run(agents=agents)
    for finding in findings:
        run.lap(tests=red(finding))
    if over:
        run.lap(tests=PASS)
        run.end()
    return run


def test_a_finished_run_teaches_its_course_under_its_agent_and_model(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep(store, played("a", "b"))

    (taught,) = LessonBook(store).by_agent()["claude:opus"]

    assert (taught.course.laps, taught.course.green) == (3, True)


def test_a_run_under_way_is_read_once_it_is_over(tmp_path: Path) -> None:
    store, book = Store(tmp_path), LessonBook(Store(tmp_path))
    keep(store, played("a", over=False))
    assert book.taught() == {}

    keep(store, played("a"))
    assert len(book.taught()) == 1


def test_what_a_run_taught_outlives_its_journal(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = keep(store, played("a"))
    assert list(LessonBook(store).taught()) == [run]

    store.forget(store.record(run))

    assert list(LessonBook(Store(tmp_path)).taught()) == [run]


def test_what_is_forgotten_is_not_learned_again_though_the_journals_stay(tmp_path: Path) -> None:
    store, book = Store(tmp_path), LessonBook(Store(tmp_path))
    keep(store, played("a"))
    keep(store, played("a", agents=(PartSpec(name="codex"),)))
    keep(store, played("a", over=False))

    assert book.forget("codex") == 1
    assert set(book.by_agent()) == {"claude:opus"}
    assert book.forget() == 1
    assert book.taught() == {}
    keep(store, played("b"))
    assert len(book.taught()) == 1


def test_a_book_that_cannot_be_read_is_rewritten(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep(store, played("a"))
    book = LessonBook(store)
    book.path.write_bytes(b"{torn")

    assert len(book.taught()) == 1
    assert len(LessonBook(Store(tmp_path)).taught()) == 1


def test_a_journal_that_cannot_be_read_teaches_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = keep(store, played("a"))
    store.record(run).journal.write_bytes(b"no journal\n")

    assert LessonBook(store).taught() == {}


def test_a_run_in_which_agents_took_turns_teaches_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keep(store, played("a", "a", agents=(*CLAUDE, PartSpec(name="codex"))))
    assert len(LessonBook(store).taught()) == 1

    switched = Run(agents=(*CLAUDE, PartSpec(name="codex")), remedies=("switch",), detectors=(Cycle(),))
    for _ in range(3):
        switched.lap(tests=red("a"))
    switched.lap(tests=PASS)
    switched.end()
    assert {lap.agent for lap in switched.state.laps} == {"claude:opus", "codex"}
    keep(store, switched)
    assert len(LessonBook(store).taught()) == 1


@pytest.mark.parametrize(
    ("part", "key"),
    [
        (PartSpec(name="claude"), "claude"),
        (PartSpec(name="claude:opus", use="claude", options={"model": "opus"}), "claude:opus"),
        (PartSpec(name="first", use="codex", options={"model": "o9"}), "codex:o9"),
        (PartSpec(name="cmd:./fix.sh", use="command", options={"command": "./fix.sh"}), "cmd:./fix.sh"),
        (PartSpec(name="claude#2", use="claude"), "claude"),
    ],
)
def test_an_agent_is_known_by_its_kind_and_its_model(part: PartSpec, key: str) -> None:
    assert agent_key(part) == key
