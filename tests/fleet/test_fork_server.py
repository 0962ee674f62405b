"""Drivers are forks of one preloaded process, which is started again if it dies."""

from __future__ import annotations

import os
import signal

from untilgreen.fleet.fork_server import ForkServer

ORDER = {"order": {"run": "x"}, "token": [1], "cache": "/nowhere", "url": "postgresql://?nonsense"}


def told(fork_server: ForkServer) -> str:
    """The messages of a driver that is given an impossible order."""
    write, read = fork_server.start(ORDER)
    with os.fdopen(read) as messages, os.fdopen(write, "w"):
        return messages.read()


def test_a_worker_whose_fork_server_was_killed_still_starts_drivers() -> None:
    fork_server = ForkServer()
    try:
        first = told(fork_server)
        os.kill(fork_server._process.pid, signal.SIGKILL)
        fork_server._process.wait()
        second = told(fork_server)
    finally:
        fork_server.close()

    assert '"code"' in first
    assert second == first
