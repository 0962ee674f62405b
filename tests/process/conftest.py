"""Real processes that say who they are, so that a test can look whether they are still there."""

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
    """A file to which scripts append their process numbers."""
    path = tmp_path / "pids"
    path.touch()
    return path


@pytest.fixture
def living(pids: Path) -> Iterator[Callable[[], list[int]]]:
    """Which of them are alive now; none of them outlives its test."""

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
    """Both ways of holding a tree together; the value is what `run` takes."""
    if sys.platform != "linux":
        pytest.skip("only Linux has cgroups and adoption")
    if request.param == "adoption":
        return False
    made = cgroup.make("probe")
    if made is None:
        pytest.skip("no cgroup can be made here: there is no writable cgroup v2 with cgroup.kill")
    cgroup.remove(made)
    return True
