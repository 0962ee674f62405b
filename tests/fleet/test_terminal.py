"""A worker on a terminal, where Ctrl-C reaches every process of its group."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.fleet.test_commands import until
from tests.surfaces.cli.helpers import Terminal
from untilgreen.fleet.client import Fleet
from untilgreen.surfaces.cli.verbs.fleet import _database_home

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]


def interrupted(words: tuple[str, ...], home: Path, **variables: str) -> tuple[int, str]:
    """The exit code and the output of a worker that is ended by Ctrl-C."""
    env = {**os.environ, "UNTILGREEN_STATE_DIR": str(home), **variables}
    terminal = Terminal(words, home, env)
    until(lambda: '"ready"' in terminal.seen or terminal.process.poll() is not None)
    terminal.type("\x03")
    return terminal.end()


async def test_ctrl_c_ends_a_worker_without_a_traceback(fleet: Fleet, tmp_path: Path) -> None:
    code, seen = interrupted(
        ("worker", "--grace", "9s"), tmp_path, UNTILGREEN_FLEET=fleet.records.database.url
    )

    assert (code, "Traceback" in seen) == (0, False), seen


def test_ctrl_c_ends_a_fleet_on_this_machine_without_a_traceback(tmp_path: Path) -> None:
    try:
        code, seen = interrupted(("fleet", "up"), tmp_path)
    finally:
        shutil.rmtree(_database_home(tmp_path / "fleet-trial"))

    assert (code, "Traceback" in seen) == (0, False), seen
