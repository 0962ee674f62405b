"""Starts a separate process that drives a run and outlives this one."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from untilgreen.core.loop.receive import Arrival
from untilgreen.core.loop.step import next_step
from untilgreen.core.values.events import Attached
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.loop.seat import SERVED
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.errors import UntilgreenError

if TYPE_CHECKING:  # most commands launch nothing
    import subprocess

PATIENCE_SECONDS = 30.0
"""How long the process may take to start driving."""
LOOK_SECONDS = 0.05
LAST_LINES = 5
_children: list[subprocess.Popen[bytes]] = []
"""Processes that this one started, so that those that have ended are not left as zombies."""


class DriverEnded(UntilgreenError):
    """The process ended before it drove the run; `code` is its exit code."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"The background process exited immediately. Its last output: {words}")
        self.code = code
        self.words = words


def log_of(record: FolderRecord) -> Path:
    """The log file of the process."""
    return record.path / "driver.log"


async def launch(record: FolderRecord, words: Sequence[str] | None = None, *, cwd: Path | None = None) -> int:
    """Start a process that drives the run, wait until it does, and leave it running; returns its id.

    Without `words`, it is a process whose questions others can answer, with the seat SERVED.
    """
    # -P: what an agent left in the directory must not shadow our modules.
    served = (sys.executable, "-P", "-m", "untilgreen.engine.driving.driver_process")
    state_dir = record.scratch.state_dir
    driver = _start(words or (*served, str(state_dir), record.id), cwd or state_dir, log_of(record))
    code = await _until_it_drives(driver, record)
    if code is not None:
        said = log_of(record).read_text(errors="replace").strip().splitlines()[-LAST_LINES:]
        raise DriverEnded(code, "\n".join(said))
    return driver.pid


async def deliver_and_launch(record: FolderRecord, arrival: Arrival) -> str:
    """Send a command; a served run that waited for it is driven again. Returns why it was refused."""
    refused = await deliver(record, arrival)
    await launch_again(record)
    return refused


async def launch_again(record: FolderRecord) -> None:
    """Start a driver again for a served run that no longer waits."""
    if goes_on((await record.load()).state) and await record.driver() is None:
        await launch(record)


def goes_on(state: RunState) -> bool:
    """Whether a served run can continue without a person."""
    if workplace(state.plan).remote:  # the fleet drives it again, somewhere
        return False
    step = next_step(state)
    return state.seat == SERVED.name and step is not None and SERVED.takes(step, time.time())


def _start(words: Sequence[str], cwd: Path, log: Path) -> subprocess.Popen[bytes]:
    import subprocess  # noqa: PLC0415 - see above

    _children[:] = [child for child in _children if child.poll() is None]
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with _no_hangup():
            started = subprocess.Popen(
                words,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
            )
    finally:
        os.close(descriptor)
    _children.append(started)
    return started


@contextmanager
def _no_hangup() -> Iterator[None]:
    """A signal that is ignored when a program starts stays ignored in it, as with nohup."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may change signals
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


async def _until_it_drives(driver: subprocess.Popen[bytes], record: FolderRecord) -> int | None:
    """None once it drives, or has driven; its exit code if it ended before that."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        held = await record.driver()
        if held is not None and held.pid == driver.pid:
            return None
        code = driver.poll()
        if code is not None:
            return None if await _has_driven(driver, record) else code
        await anyio.sleep(LOOK_SECONDS)
    return None


async def _has_driven(driver: subprocess.Popen[bytes], record: FolderRecord) -> bool:
    """Whether it has driven; the state can't tell, since an earlier driver may have left the same one."""
    events = await record.open_journal().events()
    return any(isinstance(event, Attached) and event.pid == driver.pid for event in events)
