"""Real processes that write down their ids, so that a test can check whether they are still alive."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from untilgreen.process import cgroup


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    """A file to which scripts append their process ids."""
    path = tmp_path / "pids"
    path.touch()
    return path


@pytest.fixture
def living(pids: Path) -> Iterator[Callable[[], list[int]]]:
    """Returns the recorded processes that are still alive; they are killed after the test."""

    def look() -> list[int]:
        alive = []
        for pid in map(int, pids.read_text().split()):
            with suppress(psutil.Error):
                if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                    alive.append(pid)
        return alive

    yield look
    for pid in look():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["cgroup", "adoption"])
def fence(request: pytest.FixtureRequest) -> bool:
    """Both ways to contain a process tree, as the `fence` argument of `run`."""
    if sys.platform != "linux":
        pytest.skip("only Linux has cgroups and adoption")
    if request.param == "adoption":
        return False
    probe = cgroup.make("probe")
    if probe is None:
        pytest.skip("needs a writable cgroup v2 with cgroup.kill")
    cgroup.remove(probe)
    return True
