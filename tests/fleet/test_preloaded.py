"""Drivers are forks of one process, which may die."""

from __future__ import annotations

import os
import signal

from untilgreen.fleet.preloaded import Preloaded

ORDER = {"order": {"run": "x"}, "token": [1], "cache": "/nowhere", "url": "postgresql://?nonsense"}


def told(preloaded: Preloaded) -> str:
    """What a driver says that is given an impossible order."""
    write, read = preloaded.start(ORDER)
    with os.fdopen(read) as news, os.fdopen(write, "w"):
        return news.read()


def test_a_worker_whose_preloaded_process_was_killed_still_starts_drivers() -> None:
    preloaded = Preloaded()
    try:
        first = told(preloaded)
        os.kill(preloaded._process.pid, signal.SIGKILL)
        preloaded._process.wait()
        second = told(preloaded)
    finally:
        preloaded.close()

    assert '"code"' in first
    assert second == first
