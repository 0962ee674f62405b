"""Run the real program as a user would: with a home and a state directory of its own, and tiny agents."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import shlex
import stat
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from tests.surfaces.cli.forked import forked, suits

COMMAND = (sys.executable, "-m", "untilgreen")
PATIENCE_SECONDS = 60.0
"""Long enough for a busy machine; only something that hangs takes longer."""
UNITTEST = "tests=python -m unittest -q"
RED_CALC = "def add(a, b):\n    return a - b\n"
GREEN_CALC = "def add(a, b):\n    return a + b\n"
CALC_TESTS = """\
import unittest

from calc import add


class Adding(unittest.TestCase):
    def test_two_numbers(self):
        self.assertEqual(add(1, 2), 3)

    def test_nothing(self):
        self.assertEqual(add(1, 0), 1)
"""
NO_OP = "cat > /dev/null\n"
"""An agent that does nothing in its turn."""


@dataclass(frozen=True)
class Done:
    """The exit code and output of a program that has ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines that `--json` printed; a line that isn't JSON fails the test."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        """The last line of `run --json` and similar commands."""
        last = self.lines[-1]
        assert last["type"].endswith("result"), last
        return last

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events among the lines."""
        return [line["event"] for line in self.lines if line["type"] == "event"]


Invoke = Callable[..., Done]


def finished(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: BinaryIO) -> Done:
    """Run a command in its own process and wait for it to end."""
    code, *printed = forked(arguments, cwd=cwd, env=env, stdin=stdin, patience=PATIENCE_SECONDS)
    return Done(code, *(text.decode("utf-8", "surrogateescape") for text in printed))


@dataclass(frozen=True)
class Started:
    """A program running alongside the test."""

    process: subprocess.Popen[str]

    def end(self) -> Done:
        """Wait for the program to end by itself."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return Done(self.process.returncode, out, err)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)


class Terminal:
    """A program on a terminal, 80 by 24 by default, and everything that it printed there."""

    def __init__(
        self,
        arguments: tuple[str, ...],
        cwd: Path,
        env: Mapping[str, str],
        program: tuple[str, ...] = COMMAND,
        size: tuple[int, int] = (24, 80),
    ) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.process = subprocess.Popen(
            [*program, *arguments],
            cwd=cwd,
            env=env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY),  # noqa: PLW1509 - one call, to get SIGHUP
        )
        os.close(theirs)
        self._got: list[bytes] = []
        self._closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # reading fails once no process has the terminal open
            while not self._closing:
                if select.select([self._ours], [], [], 0.05)[0]:
                    chunk = os.read(self._ours, 65536)
                    if not chunk:
                        return
                    self._got.append(chunk)

    @property
    def seen(self) -> str:
        """Everything printed so far."""
        return b"".join(self._got).decode(errors="replace")

    @property
    def echoes(self) -> bool:
        """Whether the terminal echoes what is typed, as it does unless a program turns that off."""
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def type(self, text: str) -> None:
        """Type text as a user would; it is buffered until the program reads it."""
        os.write(self._ours, text.encode())

    def end(self) -> tuple[int, str]:
        """Wait for the program to end; return its exit code and everything it printed."""
        code = self.process.wait(timeout=PATIENCE_SECONDS)
        self._reader.join(timeout=PATIENCE_SECONDS)
        os.close(self._ours)
        return code, b"".join(self._got).decode()

    def close(self) -> int:
        """Close the terminal, as a lost connection would, and wait for the program's exit code."""
        self._closing = True
        self._reader.join(timeout=PATIENCE_SECONDS)
        os.close(self._ours)
        return self.process.wait(timeout=PATIENCE_SECONDS)


@dataclass
class Cli:
    """Runs `untilgreen` in one directory, as a user with a clean home."""

    place: Path
    tmp: Path
    env: dict[str, str] = field(default_factory=dict)
    started: list[Started] = field(default_factory=list)

    def __call__(
        self, *arguments: str, stdin: str = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> Done:
        """Run a command and wait for it to end."""
        whole = {**self.env, **(env or {})}
        if not suits(whole):
            return self.start(*arguments, stdin=stdin, cwd=cwd, env=env).end()
        with self._given(stdin).open("rb") as file:
            return finished(arguments, cwd=cwd or self.place, env=whole, stdin=file)

    def start(
        self, *arguments: str, stdin: str = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> Started:
        """Start a command that runs alongside the test."""
        with self._given(stdin).open() as file:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=cwd or self.place,
                env={**self.env, **(env or {})},
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
            )
        self.started.append(Started(process))
        return self.started[-1]

    def _given(self, stdin: str) -> Path:
        given = self.tmp / f"stdin-{len(self.started)}"
        given.write_text(stdin)
        return given

    def on_a_terminal(self, *arguments: str, term: str = "xterm-256color") -> Terminal:
        """Start a command on a terminal, alongside the test."""
        return Terminal(arguments, self.place, {**self.env, "TERM": term})

    def agent(self, body: str, name: str = "agent.sh", shebang: str = "/bin/sh") -> str:
        """Write an agent script outside the workspace; return the value for `--agent`."""
        return f"cmd:{shlex.quote(str(script(self.tmp / name, body, shebang)))}"

    def python_agent(self, body: str, name: str = "agent.py") -> str:
        """The same with a Python script."""
        return self.agent(body, name, sys.executable)

    def journal(self, run: str) -> list[dict[str, Any]]:
        """The events in a run's journal."""
        path = self.runs / run / "journal.jsonl"
        if not path.exists():
            return []
        return [json.loads(line)["event"] for line in path.read_text().splitlines() if '"event"' in line]

    @property
    def runs(self) -> Path:
        return Path(self.env["UNTILGREEN_STATE_DIR"]) / "runs"

    @property
    def ids(self) -> list[str]:
        """The ids of all runs, oldest first."""
        return sorted(path.name for path in self.runs.iterdir()) if self.runs.exists() else []


def script(path: Path, body: str, shebang: str = "/bin/sh") -> Path:
    """Write an executable script and return its path."""
    path.write_text(f"#!{shebang}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def eventually(check: Callable[[], Any], what: str = "it") -> Any:
    """Wait until the check returns something true, and return it."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {PATIENCE_SECONDS:.0f} seconds")


def git(place: Path, *arguments: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *arguments], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout


def write(place: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def repository(place: Path, files: Mapping[str, str]) -> Path:
    """Create a repository with these files in its first commit."""
    place.mkdir(parents=True, exist_ok=True)
    write(place, files)
    git(place, "init", "--quiet")
    git(place, "add", "--all")
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(place, *identity, "commit", "--quiet", "--allow-empty", "--message", "start")
    return place


def alive(pid: int) -> bool:
    """Whether a process exists and isn't a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:4]
    except FileNotFoundError:
        return sys.platform != "linux"
