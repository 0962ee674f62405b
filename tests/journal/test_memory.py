"""The journal in memory keeps to the same contract as a file."""

import pytest

from untilgreen.core.values.events import Attached, Resumed
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal
from untilgreen.journal.memory import MemoryJournal
from untilgreen.ports import Journal
from untilgreen.testing.journals import journal_laws


async def test_a_journal_in_memory_keeps_the_laws() -> None:
    journal = MemoryJournal()

    await journal_laws(lambda: journal)


def test_a_journal_in_memory_is_a_journal() -> None:
    assert isinstance(MemoryJournal(), Journal)


async def test_its_head_is_that_of_a_file_with_the_same_events(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    memory, file = MemoryJournal(), FileJournal(tmp_path_factory.mktemp("run") / "journal.jsonl")
    heads = [(memory.head, file.head)]
    for journal in (memory, file):
        await journal.append(Attached(at=1.0))
    heads.append((memory.head, file.head))
    for journal in (memory, file):
        await journal.append(Resumed(at=2.0))
    heads.append((memory.head, file.head))

    assert all(one == other for one, other in heads)
    assert len(set(heads)) == 3


async def test_an_event_that_no_file_could_keep_is_refused_here_too() -> None:
    journal = MemoryJournal()

    with pytest.raises(JournalError, match="can't be written"):
        await journal.append(Resumed(at=float("inf")))

    assert await journal.events() == []


async def test_what_a_reader_does_to_its_list_does_not_change_the_journal() -> None:
    journal = MemoryJournal()
    await journal.append(Attached(at=1.0))

    events = await journal.events()
    assert isinstance(events, list)
    events.clear()

    assert await journal.events() == [Attached(at=1.0)]
