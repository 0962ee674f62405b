"""A run that is driven by a process of its own, which no closed terminal ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from untilgreen.core.events import Attached
from untilgreen.core.exits import OK
from untilgreen.engine import lock
from untilgreen.engine.store import RunFolder
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.cli.options import Place
from untilgreen.surfaces.cli.say import complain, out, out_json, version_line
from untilgreen.surfaces.output import DetachedLine
from untilgreen.surfaces.text import inert_lines

PATIENCE_SECONDS = 30.0
"""How long the driver may take until it drives."""
LOOK_SECONDS = 0.05


def detach(folder: RunFolder, place: Place, *, json: bool, verbose: bool) -> int:
    """Start the driver, see that it drives, and leave it alone."""
    log = folder.path / "driver.log"
    driver = _start(folder, place, log, verbose=verbose)
    code = anyio.run(_until_it_drives, driver, folder)
    if code is not None:
        complain(f"The driver ended at once. It said: {inert_lines(_end_of(log))}")
        return code
    if json:
        version_line()
        out_json(DetachedLine(run=folder.id, pid=driver.pid, log=str(log)))
        return OK
    out(f"Run {folder.id} goes on without this terminal, driven by process {driver.pid}.")
    out(f"Watch it with: untilgreen follow {folder.id}{place.flags}")
    out(f"   End it with: untilgreen stop {folder.id}{place.flags}")
    out(f"It writes to {log}")
    return OK


def _start(folder: RunFolder, place: Place, log: Path, *, verbose: bool) -> subprocess.Popen[bytes]:
    # -P: what an agent left in the directory must not stand in for modules of ours.
    words = [sys.executable, "-P", "-m", "untilgreen", "resume", folder.id, "--no-input"]
    words += ["--state-dir", str(place.store().state_dir)] + (["--verbose"] if verbose else [])
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with _no_hangup():
            return subprocess.Popen(
                words,
                cwd=place.start,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
            )
    finally:
        os.close(descriptor)


@contextmanager
def _no_hangup() -> Iterator[None]:
    """What is ignored when a program starts stays ignored in it, as with nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


async def _until_it_drives(driver: subprocess.Popen[bytes], folder: RunFolder) -> int | None:
    """None as soon as it drives, or has driven; its exit code where it ended before that."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        held = lock.owner(folder.lock)
        if held is not None and held.pid == driver.pid:
            return None
        code = driver.poll()
        if code is not None:
            return None if await _has_driven(driver, folder) else code
        await anyio.sleep(LOOK_SECONDS)
    return None


async def _has_driven(driver: subprocess.Popen[bytes], folder: RunFolder) -> bool:
    """An earlier driver may have left the run just like this one would."""
    events = await FileJournal(folder.journal).events()
    return any(isinstance(event, Attached) and event.pid == driver.pid for event in events)


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").strip().splitlines()[-5:])
