"""Simulated machines: each has its own network, processes, host name and home."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.fleet import line

WORKER, DRIVER, AGENT = "untilgreen worker", "untilgreen.fleet.fork_server", "scripted_agent.py"
"""Words in the command lines of a machine's processes."""
_APART = ["unshare", "--net", "--pid", "--uts", "--mount", "--fork", "--mount-proc", "--kill-child=SIGKILL"]


class Machine:
    """One worker in its own namespaces, with a line to the servers that can be cut."""

    def __init__(self, name: str, folder: Path, url: str, temporal: int, options: tuple[str, ...]) -> None:
        self.name, self.home, self._url, self._options = name, folder / name, url, options
        self._ports = {"database": urlsplit(url).port or 0, "temporal": temporal}
        (self.home / "home").mkdir(parents=True, exist_ok=True)
        self._line: subprocess.Popen[bytes] | None = None
        self._first: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.variables: dict[str, str] = {}
        """Environment variables that only this machine has."""

    @property
    def alive(self) -> bool:
        return self._first is not None and self._first.poll() is None

    def start(self) -> None:
        """Switch the machine on; its files are kept from the last time."""
        self._starts += 1
        outside = [f"{self._socket(name)}={port}" for name, port in self._ports.items()]
        if self._line is None:
            self._line = subprocess.Popen([sys.executable, line.__file__, *outside], stdin=subprocess.DEVNULL)
        inside = [f"{port}={self._socket(name)}" for name, port in self._ports.items()]
        forward = shlex.join([sys.executable, line.__file__, *inside])
        worker = [sys.executable, "-m", *WORKER.split(), "--cache", str(self.home / "cache"), *self._options]
        # Without the last line a dead worker would take its drivers with it, as only a dead machine should.
        script = (
            f"hostname {self.name}; ip link set lo up; {forward} & {shlex.join(worker)} & "
            "wait $!; code=$?; [ $code -ge 128 ] && sleep 15; exit $code"
        )
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        with (self.home / "log").open("ab") as log:
            self._first = subprocess.Popen(
                [*_APART, *user, "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                env={
                    **os.environ,
                    "PATH": f"{os.environ['PATH']}:/usr/sbin",
                    "HOME": str(self.home / "home"),
                    "UNTILGREEN_FLEET": self._url,
                    "UNTILGREEN_STATE_DIR": str(self.home / "state"),
                    **self.variables,
                },
                start_new_session=True,
            )

    def cut(self) -> None:
        """Cut the line: nothing passes, but connections stay open."""
        assert self._line is not None
        self._line.send_signal(signal.SIGSTOP)

    def heal(self) -> None:
        assert self._line is not None
        self._line.send_signal(signal.SIGCONT)

    def die(self) -> None:
        """Kill the whole machine at once; retries, as one that is just starting may have no process yet."""
        ended = self._first is None
        while not ended:
            for pid in self.pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                ended = self._first is None or self._first.wait(0.2) is not None

    def off(self) -> None:
        """Switch the machine off and close its line, at the end of the tests."""
        if self.alive:
            self.die()
        if self._line is not None:
            self._line.kill()
            self._line.wait()

    def wait(self, seconds: float) -> int:
        assert self._first is not None
        return self._first.wait(seconds)

    def tell(self, number: int, *words: str) -> list[int]:
        """Send a signal to every process with one of these words in its command line."""
        told = [pid for word in words for pid in self.named(word)]
        for pid in told:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return told

    def named(self, word: str) -> list[int]:
        return [pid for pid, words in self.pids().items() if word in words and not words.startswith("sh -c")]

    def drivers(self) -> list[int]:
        """The drivers: forks of the preloaded process, which is a child of the worker.

        A child that a driver has just forked has the driver's command line until it starts its program.
        """
        found = self.named(DRIVER)
        preloaded = [pid for pid in found if _parent(pid) not in found]
        return [pid for pid in found if _parent(pid) in preloaded]

    def pids(self) -> dict[int, str]:
        """All processes of the machine: their pids outside of its namespace, and their command lines."""
        first = next(iter(_children(self._first.pid)), None) if self._first is not None else None
        if first is None:
            return {}
        found: dict[int, str] = {}
        try:
            space = Path(f"/proc/{first}/ns/pid").readlink()
        except OSError:  # it has just ended
            return found
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    if (entry / "ns" / "pid").readlink() == space:
                        words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                        found[int(entry.name)] = words.decode(errors="replace").strip()
        return found

    @property
    def ready(self) -> bool:
        """Whether its worker polls for tasks."""
        return self.log().count('"ready"') >= self._starts

    def log(self) -> str:
        return (self.home / "log").read_text()

    def lines(self, run: str) -> str:
        """What the agent wrote in the run's worktree here."""
        path = self.home / "cache" / "worktrees" / run / "lines"
        return path.read_text() if path.exists() else ""

    def _socket(self, name: str) -> Path:
        return self.home / f"{name}.socket"


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return 0


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []
