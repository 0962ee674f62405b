"""The lock of a run: held by one driver, whose name is known, and never by a dead one."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import anyio
import psutil
import pytest

from untilgreen.engine.store.lock import hold, hold_briefly, hold_when_free, owner, this_process
from untilgreen.errors import JournalError, JournalLocked, RunGone

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and file modes are POSIX only")

NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC

# The agent inherits every descriptor that a child can inherit.
DRIVER = """
import subprocess, sys, time
from pathlib import Path
from untilgreen.engine.store.lock import hold, this_process

sleep, quiet = [sys.executable, "-c", "import time; time.sleep(600)"], subprocess.DEVNULL
with hold(Path(sys.argv[1]), run="abc", driver=this_process(time.time())):
    agent = subprocess.Popen(
        sleep, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True, close_fds=False
    )
    print(agent.pid, flush=True)
    time.sleep(600)
"""

RACER = """
import sys
from pathlib import Path
from threading import Event
from untilgreen.engine.store.lock import hold, owner, this_process
from untilgreen.errors import JournalLocked

lock, count = Path(sys.argv[1]), Path(sys.argv[2])
won = 0
for _ in range(300):
    owner(lock)
    try:
        with hold(lock, run="abc", driver=this_process(0.0)):
            number = int(count.read_text())
            count.write_text(str(number + 1))
            won += 1
    except JournalLocked:
        pass
print(won)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@contextmanager
def another_driver(path: Path) -> Iterator[tuple[psutil.Process, psutil.Process]]:
    """A real process that holds the lock, and the agent that it started."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(path)], stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        agent = psutil.Process(int(driver.stdout.readline()))
        try:
            yield psutil.Process(driver.pid), agent
        finally:
            driver.kill()
            agent.kill()


def test_a_second_driver_hears_who_the_first_is(path: Path) -> None:
    with another_driver(path) as (driver, _):
        with pytest.raises(JournalLocked) as caught, hold(path, run="abc", driver=this_process(NOON)):
            pass

        noted = json.loads(path.read_text())
    assert str(caught.value) == (
        f"Run abc is being driven by process {driver.pid} on {socket.gethostname()} since {noted['since']}. "
        "Watch it with `untilgreen follow abc`, or stop it with `untilgreen stop abc`."
    )


def test_two_drivers_in_one_process_are_two_drivers(path: Path) -> None:
    with hold(path, run="abc", driver=this_process(NOON)):
        with (
            pytest.raises(JournalLocked, match=f"process {os.getpid()} "),
            hold(path, run="abc", driver=this_process(NOON)),
        ):
            pass

        assert owner(path) is not None, "the first still drives"


def test_a_run_can_be_driven_again_when_the_driver_is_done(path: Path) -> None:
    for _ in range(2):
        with hold(path, run="abc", driver=this_process(NOON)):
            pass

    assert owner(path) is None


def test_a_driver_that_fails_lets_go(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold(path, run="abc", driver=this_process(NOON)):
        _ = 1 / 0

    with hold(path, run="abc", driver=this_process(NOON)):
        assert owner(path) is not None


def test_the_text_is_for_people(path: Path) -> None:
    with hold(path, run="abc", driver=this_process(NOON)):
        noted = json.loads(path.read_text())

    assert noted["pid"] == os.getpid()
    assert noted["host"] == socket.gethostname()
    assert noted["since"].startswith(("2026-01-01 ", "2025-12-31 ", "2026-01-02 "))
    assert path.read_text() == "", "nobody drives it anymore"


def test_the_owner_is_known_while_it_drives(path: Path) -> None:
    assert owner(path) is None
    with another_driver(path) as (driver, _):
        seen = owner(path)

        assert seen is not None
        assert (seen.pid, seen.place) == (driver.pid, socket.gethostname())


@posix
def test_a_killed_driver_holds_nothing_though_its_agent_lives_on(path: Path) -> None:
    with another_driver(path) as (driver, agent):
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()

        assert agent.is_running()
        assert path.read_text() != "", "it had no time to remove its name"
        assert owner(path) is None
        with hold(path, run="abc", driver=this_process(NOON)):
            assert json.loads(path.read_text())["pid"] == os.getpid()
        assert agent.is_running()


@posix
def test_a_driver_that_does_nothing_still_drives(path: Path) -> None:
    """However long a driver is silent, nobody can take its lock while it is alive."""
    with another_driver(path) as (driver, _):
        driver.suspend()

        with pytest.raises(JournalLocked), hold(path, run="abc", driver=this_process(NOON)):
            pass
        seen = owner(path)

    assert seen is not None


def test_a_name_that_can_not_be_read_changes_nothing(path: Path) -> None:
    with another_driver(path):
        path.write_text("not a name")

        with (
            pytest.raises(JournalLocked, match=r"driven by another process\. Watch it"),
            hold(path, run="abc", driver=this_process(NOON)),
        ):
            pass


def test_a_name_left_by_a_dead_driver_changes_nothing(path: Path) -> None:
    path.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": "long ago" * 99}))

    assert owner(path) is None
    with hold(path, run="abc", driver=this_process(NOON)):
        assert json.loads(path.read_text())["since"] != "long ago" * 99


def test_looking_does_not_keep_a_driver_out(path: Path) -> None:
    """Two threads keep checking a lock that names a dead driver."""
    path.write_text(json.dumps({"pid": 1, "host": "gone", "since": "long ago"}))
    name, done = path.read_bytes(), Event()

    def look() -> int:
        looks = 0
        while not done.is_set():
            owner(path)
            looks += 1
        return looks

    with ThreadPoolExecutor(2) as pool:
        watchers = [pool.submit(look) for _ in range(2)]
        try:
            for _ in range(500):
                with hold(path, run="abc", driver=this_process(NOON)):
                    pass
                path.write_bytes(name)
        finally:
            done.set()

    assert all(watcher.result() > 0 for watcher in watchers)


def test_of_many_that_want_to_drive_only_one_does(path: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), str(count)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    won = [int(racer.communicate()[0]) for racer in racers]

    assert int(count.read_text()) == sum(won) > 0


@posix
def test_only_its_owner_can_read_the_lock(path: Path) -> None:
    with hold(path, run="abc", driver=this_process(NOON)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_run_without_a_folder_can_not_be_locked(tmp_path: Path) -> None:
    with (
        pytest.raises(RunGone, match="Run abc no longer exists"),
        hold(tmp_path / "gone" / "lock", run="abc", driver=this_process(NOON)),
    ):
        pass
    assert owner(tmp_path / "gone" / "lock") is None


def test_a_lock_that_is_not_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with (
        pytest.raises(JournalError, match=r"lock of run abc, .*lock, can't be opened"),
        hold(tmp_path / "lock", run="abc", driver=this_process(NOON)),
    ):
        pass


@posix
async def test_a_run_that_is_removed_while_its_lock_is_waited_for_is_not_driven(tmp_path: Path) -> None:
    """The driver then has a lock on a file that no other process would lock."""
    folder = tmp_path / "abc"
    folder.mkdir()

    async def drive() -> None:
        with pytest.raises(RunGone, match="Run abc no longer exists"):
            async with hold_when_free(folder / "lock", run="abc", driver=this_process(NOON)):
                pass

    async with anyio.create_task_group() as group:
        with hold_briefly(folder / "lock", run="abc"):
            group.start_soon(drive)
            await anyio.wait_all_tasks_blocked()
            folder.rename(tmp_path / "gone")


def test_a_process_that_holds_the_lock_briefly_is_not_a_driver_and_is_waited_for(path: Path) -> None:
    """Even if the file still names a driver that was killed."""
    path.write_text(json.dumps({"pid": os.getpid(), "host": "here", "since": "long ago"}))
    went = list[str]()

    async def drive() -> None:
        async with hold_when_free(path, run="abc", driver=this_process(NOON)):
            went.append("driven")

    async def both() -> None:
        async with anyio.create_task_group() as group:
            with hold_briefly(path, run="abc"):
                assert owner(path) is None
                group.start_soon(drive)
                await anyio.wait_all_tasks_blocked()
                went.append("told")

    anyio.run(both)

    assert went == ["told", "driven"]


def test_a_driver_is_not_waited_for(path: Path) -> None:
    async def drive() -> None:
        async with hold_when_free(path, run="abc", driver=this_process(NOON)):
            raise AssertionError("it is driven elsewhere")

    with another_driver(path) as (driver, _):
        with pytest.raises(JournalLocked, match=f"process {driver.pid} "):
            anyio.run(drive)
        with pytest.raises(JournalLocked, match=f"process {driver.pid} "), hold_briefly(path, run="abc"):
            raise AssertionError("it is driven")

        assert owner(path) is not None
