"""The journal in a file: durable, one writer, and nothing lost when writing fails."""

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.events import Attached, Event, Resumed, RunFinished, Steered
from untilgreen.core.values.model import Outcome
from untilgreen.errors import JournalDamaged, JournalError
from untilgreen.journal.codec import End, decode, encode
from untilgreen.journal.file import LOOK_SECONDS, FileJournal
from untilgreen.ports import Journal
from untilgreen.testing import tell
from untilgreen.testing.journals import journal_laws

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs the limits and file modes of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def note(number: int) -> Steered:
    return Steered(at=float(number), id=f"n{number}", note="x" * 40)


# Blocking helpers: a test may block its own event loop to look at a file.
def content(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def remove(path: Path) -> None:
    path.unlink()


def there(path: Path) -> bool:
    return path.exists()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def written(path: Path, count: int = 3) -> FileJournal:
    journal = FileJournal(path)
    for number in range(1, count + 1):
        await journal.append(note(number))
    return journal


async def heard(journal: Journal, after: int, ears: list[Event]) -> None:
    async for event in journal.follow(after):
        ears.append(event)


async def test_a_file_journal_keeps_the_laws(path: Path) -> None:
    await journal_laws(lambda: FileJournal(path))


def test_a_file_journal_is_a_journal(path: Path) -> None:
    assert isinstance(FileJournal(path), Journal)


async def test_reading_a_journal_that_is_not_there_yet_creates_nothing(path: Path) -> None:
    journal = FileJournal(path)

    assert (await journal.events(), journal.head) == ([], "")
    assert not there(path)


async def test_an_event_is_in_the_file_when_append_returns(path: Path) -> None:
    journal = await written(path, 2)

    lines = content(path).splitlines()

    assert json.loads(lines[0])["format"] == "untilgreen-journal/1"
    assert [json.loads(line)["event"]["id"] for line in lines[1:]] == ["n1", "n2"]
    assert json.loads(lines[2])["hash"] == journal.head


@posix
async def test_only_its_owner_can_read_a_journal(path: Path) -> None:
    await written(path, 1)

    assert mode(path) == 0o600


async def test_the_head_is_the_same_for_a_writer_and_a_reader(path: Path) -> None:
    writer, reader = await written(path), FileJournal(path)

    assert reader.head == writer.head != ""
    await writer.append(note(4))
    await reader.events()
    assert reader.head == writer.head


async def test_a_torn_line_is_cut_away_when_the_next_event_is_written(path: Path) -> None:
    await written(path)
    whole = content(path)
    put(path, whole + b'{"seq":4,"event":{"ty')

    journal = FileJournal(path)
    assert len(await journal.events()) == 3
    assert len(content(path)) > len(whole), "reading alone changes nothing"
    await journal.append(note(4))

    assert await FileJournal(path).events() == [note(number) for number in range(1, 5)]
    assert content(path).startswith(whole)


@pytest.mark.parametrize("read_first", [True, False])
async def test_a_journal_torn_at_any_byte_of_its_last_line_continues(path: Path, read_first: bool) -> None:
    await written(path, 2)
    whole = content(path)
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in (*range(0, last, 7), *range(last, len(whole))):
        put(path, whole[:cut])
        kept, _ = decode(whole[:cut])
        journal = FileJournal(path)
        if read_first:
            assert await journal.events() == kept

        await journal.append(note(9))

        assert await FileJournal(path).events() == [*kept, note(9)]


async def test_a_damaged_journal_is_neither_read_nor_written(path: Path) -> None:
    await written(path)
    damaged = content(path).replace(b'"n2"', b'"n8"')
    put(path, damaged)

    with pytest.raises(JournalDamaged, match=f"Line 3 of {path}"):
        await FileJournal(path).events()
    with pytest.raises(JournalDamaged, match=f"Line 3 of {path}"):
        await FileJournal(path).append(note(4))

    assert content(path) == damaged


async def test_a_second_writer_is_noticed_before_anything_is_written(path: Path) -> None:
    first = await written(path, 1)
    await FileJournal(path).append(note(2))
    before = content(path)

    for _ in range(2):
        with pytest.raises(JournalError, match="can no longer be written by this process"):
            await first.append(note(3))

    assert content(path) == before


async def test_half_a_line_of_a_second_writer_is_noticed_and_left_alone(path: Path) -> None:
    """Only a line that was torn before this process first wrote may be cut away."""
    journal = await written(path, 1)
    add(path, b'{"seq":2,"ev')
    before = content(path)

    with pytest.raises(JournalError, match="Another process"):
        await journal.append(note(2))

    assert content(path) == before


async def test_a_writer_that_read_only_old_events_can_not_write_after_new_ones(path: Path) -> None:
    await written(path, 1)
    slow = FileJournal(path)
    await slow.events()
    await FileJournal(path).append(note(2))

    with pytest.raises(JournalError, match="Another process"):
        await slow.append(note(3))

    assert await FileJournal(path).events() == [note(1), note(2)]


async def test_reading_again_does_not_hide_a_second_writer(path: Path) -> None:
    first = await written(path, 1)
    await FileJournal(path).append(note(2))

    assert await first.events() == [note(1), note(2)]
    with pytest.raises(JournalError, match="Another process"):
        await first.append(note(3))


async def test_another_journal_of_the_same_length_is_noticed(path: Path) -> None:
    journal = await written(path, 1)
    other, _ = encode(note(2), End())
    assert len(other) == len(content(path))
    put(path, other)

    with pytest.raises(JournalError, match="or it was changed"):
        await journal.append(note(3))


async def test_a_journal_that_has_gone_is_not_begun_again_in_the_middle(path: Path) -> None:
    journal = await written(path, 1)
    remove(path)

    with pytest.raises(JournalError, match=f"{path} can't be written"):
        await journal.append(note(2))

    assert not there(path)


async def test_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"can't be written: No such file or directory\."):
        await FileJournal(tmp_path / "missing" / "journal.jsonl").append(note(1))


async def test_a_journal_that_can_not_be_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="can't be read"):
        await FileJournal(tmp_path).events()


async def test_an_event_that_can_not_be_kept_leaves_the_journal_usable(path: Path) -> None:
    journal = await written(path, 1)

    with pytest.raises(JournalError, match="can't be written"):
        await journal.append(Resumed(at=float("nan")))
    await journal.append(note(2))

    assert await FileJournal(path).events() == [note(1), note(2)]


async def test_appends_at_the_same_time_all_arrive(path: Path) -> None:
    journal = FileJournal(path)
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(journal.append, note(number))

    found = await FileJournal(path).events()

    assert sorted(event.at for event in found) == [float(number) for number in range(20)]


async def test_a_cancelled_append_leaves_the_journal_usable(path: Path) -> None:
    """Whenever an append is cancelled, its event is there or not, and the next one follows."""
    journal = FileJournal(path)
    for delay in (0, 0.0001, 0.001, 0.01):
        with anyio.move_on_after(delay):
            await journal.append(note(1))
    before = list(await journal.events())

    await journal.append(note(2))

    assert await FileJournal(path).events() == [*before, note(2)]


# A child process, because the limit applies to all files of one. Python ignores the signal for it.
FULL_DISK = """
import resource, sys
from pathlib import Path
import anyio
from untilgreen.core.values.events import Steered
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal

def note(number):
    return Steered(at=float(number), id=f"n{number}", note="x" * 40)

async def main(path, room):
    journal = FileJournal(path)
    for number in (1, 2):
        await journal.append(note(number))
    size = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
    try:
        await journal.append(note(3), note(5))
    except JournalError as error:
        print(error)
    assert path.stat().st_size == size, "a part of what was to be written is left"
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await journal.append(note(4))

anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]))
"""


@posix
@pytest.mark.parametrize("room", [0, 1, 50, 180])
async def test_after_a_full_disk_nothing_is_lost_and_the_journal_continues(path: Path, room: int) -> None:
    """With no room at all, with room for part of an event, and with room for the first of two."""
    child = await anyio.run_process([sys.executable, "-c", FULL_DISK, str(path), str(room)], check=False)

    assert (child.returncode, child.stderr) == (0, b"")
    assert f"{path} can't be written" in child.stdout.decode()
    assert "resume the run" in child.stdout.decode()
    assert await FileJournal(path).events() == [note(1), note(2), note(4)]


KILLED = """
import sys
from pathlib import Path
import anyio
from untilgreen.core.values.events import Steered
from untilgreen.journal.file import FileJournal

async def main(path):
    journal = FileJournal(path)
    for number in range(1, 10_000):
        await journal.append(Steered(at=float(number), id=f"n{number}", note="x" * 40))
        print(number, flush=True)

anyio.run(main, Path(sys.argv[1]))
"""


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(path: Path) -> None:
    said = ""
    async with await anyio.open_process([sys.executable, "-c", KILLED, str(path)], stderr=None) as child:
        assert child.stdout is not None
        async for chunk in child.stdout:
            said += chunk.decode()
            if said.count("\n") >= 20:
                child.kill()
    acknowledged = said.count("\n")

    found = await FileJournal(path).events()

    assert len(found) >= acknowledged >= 20
    assert found == [note(number) for number in range(1, len(found) + 1)]


async def test_a_listener_hears_what_another_process_writes(path: Path) -> None:
    ears: list[Event] = []
    code = KILLED.replace("range(1, 10_000)", "range(1, 6)")
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(heard, FileJournal(path), 2, ears)
            await anyio.run_process([sys.executable, "-c", code, str(path)])
            await FileJournal(path).append(RunFinished(at=9.0, outcome=Outcome.STUCK, reason=""))

    assert ears == [note(3), note(4), note(5), RunFinished(at=9.0, outcome=Outcome.STUCK, reason="")]


async def test_a_listener_does_not_hear_half_an_event(path: Path) -> None:
    await written(path, 1)
    line, _ = encode(note(2), decode(content(path))[1])
    for piece in (line[:30], line[30:-1]):
        add(path, piece)
        with anyio.move_on_after(1.2 * LOOK_SECONDS) as waiting:
            await anext(FileJournal(path).follow(1))
        assert waiting.cancelled_caught

    add(path, line[-1:])

    assert await anext(FileJournal(path).follow(1)) == note(2)


async def test_a_listener_hears_of_damage(path: Path) -> None:
    await written(path)
    put(path, content(path).replace(b'"n3"', b'"n8"'))
    ears: list[Event] = []

    with pytest.raises(JournalDamaged, match="Line 4"):
        await heard(FileJournal(path), 0, ears)


async def test_a_listener_hears_when_the_journal_was_cut_or_removed(path: Path) -> None:
    await written(path)
    whole = content(path)
    harms: list[tuple[Callable[[], None], str]] = [
        (lambda: put(path, whole[:100]), "became shorter while it was being read"),
        (lambda: remove(path), "was removed while it was being read"),
    ]
    for harm, sentence in harms:
        put(path, whole)
        listener = FileJournal(path).follow(0)
        for number in (1, 2, 3):
            assert await anext(listener) == note(number)
        harm()
        with pytest.raises(JournalError, match=sentence):
            await anext(listener)


@posix
async def test_a_pipe_in_place_of_the_journal_is_an_error_and_not_waited_for(path: Path) -> None:
    os.mkfifo(path)

    with anyio.fail_after(5):
        with pytest.raises(JournalError, match="can't be read: it is not a regular file"):
            await FileJournal(path).events()
        with pytest.raises(JournalError, match="can't be read"):
            await FileJournal(path).append(note(1))


async def test_the_journal_of_a_thousand_laps_is_read_quickly(path: Path) -> None:
    """Seventy thousand events; the bound is generous, to catch only a worse complexity."""
    put(path, _long([event for _, event in tell("ab a* -*", Ralph())], 70_000))
    journal = FileJournal(path)

    began = time.perf_counter()
    found = await journal.events()
    seconds = time.perf_counter() - began

    assert len(found) == 70_000
    assert seconds < 15


def _long(events: Sequence[Event], count: int) -> bytes:
    lines, end = [], End()
    for number in range(count):
        line, end = encode(events[number % len(events)], end)
        lines.append(line)
    return b"".join(lines)


async def test_the_first_event_of_a_journal_opens_it(path: Path) -> None:
    """The header and the first event are written at once, so no journal has only a header."""
    journal = FileJournal(path)
    await journal.append(Attached(at=1.0, pid=os.getpid()))

    assert content(path).count(b"\n") == 2
