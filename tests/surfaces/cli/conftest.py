"""Each test gets its own user: home, settings, state directory and projects."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import CALC_TESTS, RED_CALC, Cli, Done, Invoke, repository
from untilgreen.surfaces.cli.main import call

KEPT = ("LD_LIBRARY_PATH", "SSL_CERT_FILE", "TMPDIR", "COVERAGE_PROCESS_START")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A clean environment, without variables of the real user or of an agent that runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "UNTILGREEN_STATE_DIR": str(tmp_path / "state"),
    }


@pytest.fixture
def cli(tmp_path: Path, env: dict[str, str]) -> Iterator[Cli]:
    """The program in a repository with one empty commit."""
    cli = Cli(place=repository(tmp_path / "project", {"notes.txt": "start\n"}), tmp=tmp_path, env=env)
    yield cli
    for started in cli.started:
        started.process.kill()  # does nothing if it has ended
        with started.process:  # closes its pipes, which a test may have left unread
            pass


@pytest.fixture
def calc(tmp_path: Path, cli: Cli) -> Cli:
    """The program in a Python project where one of two tests fails."""
    cli.place = repository(tmp_path / "calc", {"calc.py": RED_CALC, "test_calc.py": CALC_TESTS})
    return cli


@pytest.fixture
def invoke(cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Invoke:
    """Runs commands in the test's own process: much quicker, and enough where only the output matters."""
    for name in [name for name in os.environ if name.startswith("UNTILGREEN_")]:
        monkeypatch.delenv(name)
    for name, value in cli.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(cli.place)

    def run(*arguments: str) -> Done:
        code = call(list(arguments))
        return Done(code, *capfd.readouterr())

    return run
