"""A separate session for each test, in a repository whose path contains spaces."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import repository
from tests.surfaces.hook.helpers import Session

KEPT = ("LD_LIBRARY_PATH", "SSL_CERT_FILE", "TMPDIR", "COVERAGE_PROCESS_START")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session with no settings of the user, nor of an agent that runs the tests."""
    (tmp_path / "home").mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    env = {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "UNTILGREEN_STATE_DIR": str(tmp_path / "state"),
    }
    session = Session(place=repository(tmp_path / "my project", {"notes.txt": "start\n"}), env=env)
    yield session
    for process in session.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
