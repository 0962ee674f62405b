"""The cached rows of runs are never wrong: what does not match the disk is read again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store import catalog
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError
from untilgreen.journal.file import FileJournal
from untilgreen.testing.world import World

NOW = 1_785_000_000.0


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def finished(state: Path, laps: str = "a b -", at: float = NOW) -> FolderRecord:
    """A run that ended a while ago."""
    run = begun(state, at)
    drive(run, laps)
    return aged(run)


def begun(state: Path, at: float = NOW) -> FolderRecord:
    workspace = state.parent / "project"
    workspace.mkdir(exist_ok=True)
    return Store(state).create(at, workspace=workspace, title="make it green")


def drive(run: FolderRecord, laps: str) -> None:
    async def go() -> None:
        world = World(laps, Fixed(iterations=5))
        journal = FileJournal(run.journal)
        await journal.append(RunStarted(at=world.clock.now(), run=run.id, plan=world.plan))
        await world.runner(journal=journal).drive()

    anyio.run(go)


def aged(run: FolderRecord) -> FolderRecord:
    os.utime(run.journal, (NOW, NOW))
    return run


def rows(state: Path) -> dict[str, RunRow]:
    """The rows of all runs, read and cached as `list` does."""
    store = Store(state)
    found = {run.id: store.catalog.row(run) for run in store.runs()}
    store.catalog.save()
    return found


def scribbled(run: FolderRecord) -> None:
    """Overwrite the journal without changing its size or time, so that only reading it shows the damage."""
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)
    aged(run)


def test_a_run_that_is_known_is_not_read_again(state: Path) -> None:
    run = finished(state)
    first = rows(state)
    scribbled(run)

    assert rows(state) == first
    assert first[run.id].status == "converged"
    assert first[run.id].laps == 3
    assert first[run.id].scores == (0.0, 0.0, 1.0)


def test_without_the_file_the_journals_tell_the_same(state: Path) -> None:
    for number in range(3):
        finished(state, "a - "[: 2 * number] + "-", NOW + number)
    first = rows(state)
    (state / catalog.NAME).unlink()

    assert rows(state) == first
    assert (state / catalog.NAME).exists()


def test_a_journal_that_grew_is_read_again(state: Path) -> None:
    run = begun(state)

    async def start() -> None:
        world = World("a b -", Fixed(iterations=5))
        await FileJournal(run.journal).append(RunStarted(at=world.clock.now(), run=run.id, plan=world.plan))

    async def go_on() -> None:
        await World("a b -", Fixed(iterations=5)).runner(journal=FileJournal(run.journal)).drive()

    anyio.run(start)
    aged(run)
    assert rows(state)[run.id].status == "open"
    anyio.run(go_on)
    aged(run)

    assert rows(state)[run.id].status == "converged"


def test_a_journal_that_was_written_just_now_is_not_remembered(state: Path) -> None:
    run = finished(state)
    os.utime(run.journal)
    assert rows(state)[run.id].status == "converged"
    run.journal.write_bytes(b"x" * run.journal.stat().st_size)

    with pytest.raises(JournalError):
        rows(state)


def test_a_damaged_journal_is_looked_at_every_time(state: Path) -> None:
    run = finished(state)
    good = run.journal.read_bytes()
    scribbled(run)
    for _ in range(2):
        with pytest.raises(JournalError):
            rows(state)
    run.journal.write_bytes(good)
    aged(run)

    assert rows(state)[run.id].status == "converged"


def test_a_file_that_is_cut_or_changed_anywhere_is_made_again(state: Path) -> None:
    finished(state)
    finished(state, at=NOW + 1)
    first, path = rows(state), state / catalog.NAME
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place])
        assert rows(state) == first
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert rows(state) == first
        assert path.read_bytes() == whole


def test_what_another_version_remembered_is_not_believed(state: Path) -> None:
    finished(state)
    run = finished(state, at=NOW + 1)
    rows(state)
    path = state / catalog.NAME
    path.write_bytes(path.read_bytes().replace(b"untilgreen ", b"untilgreen 0.", 1))
    scribbled(run)

    with pytest.raises(JournalError):
        rows(state)


def test_another_folder_under_the_name_of_a_known_run_is_another_run(state: Path) -> None:
    run, elsewhere = finished(state), state.parent / "elsewhere"
    elsewhere.mkdir()
    assert [found.id for found in Store(state).runs(state.parent / "project")] == [run.id]
    run.path.rename(state.parent / "kept")  # so that its inode stays in use
    other = Store(state).create(NOW, workspace=elsewhere)
    other.path.rename(run.path)

    assert Store(state).runs(state.parent / "project") == []
    assert [found.id for found in Store(state).runs(elsewhere)] == [run.id]


def test_a_run_that_was_removed_is_forgotten(state: Path) -> None:
    gone, stays = finished(state), finished(state, at=NOW + 1)
    rows(state)
    Store(state).forget(gone)

    assert list(rows(state)) == [stays.id]
    assert gone.id.encode() not in (state / catalog.NAME).read_bytes()


def test_where_nothing_can_be_remembered_the_journals_are_read(state: Path) -> None:
    run = finished(state)
    (state / catalog.NAME).mkdir(parents=True)

    assert rows(state)[run.id].status == "converged"
    assert [found.id for found in Store(state).runs(state.parent / "project")] == [run.id]


def test_a_killed_writer_does_not_block_others_for_long(state: Path) -> None:
    finished(state)
    draft = state / f".{catalog.NAME}.draft"
    draft.write_bytes(b"half")
    rows(state)
    assert not (state / catalog.NAME).exists(), "another process may be writing"
    os.utime(draft, (NOW, NOW))
    rows(state)

    assert (state / catalog.NAME).exists()
    assert not draft.exists()


LIST = """
import sys
from pathlib import Path
from untilgreen.engine.store import catalog
from untilgreen.engine.store.runs import Store
print("ready", flush=True)
while True:
    (Path(sys.argv[1]) / catalog.NAME).unlink(missing_ok=True)
    store = Store(Path(sys.argv[1]))
    for run in store.runs():
        assert store.catalog.row(run).status == "converged"
    store.catalog.save()
"""


def test_many_may_write_and_be_killed_at_any_moment(state: Path) -> None:
    for number in range(10):
        finished(state, at=NOW + number)
    first = rows(state)
    command = [sys.executable, "-c", LIST, str(state)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        for writer in writers:
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                assert rows(state) == first
            assert writer.poll() is None, "it read something that it could not handle"
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            assert rows(state) == first
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
