"""Run each command in its own process without importing everything again.

A server imports untilgreen once and forks for every command: a process with its own id, directory,
environment and pipes, which exits as Python does. That takes a third of the time of `python -m untilgreen`,
which tests still use where startup, signals or a terminal matter.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

_READ_AT_START = ("PYTHON", "LC_", "LANGUAGE", "UNTILGREEN_CRASH_AT", "COVERAGE_")
_LANG = "C.UTF-8"
_HERE = threading.local()


def suits(env: Mapping[str, str]) -> bool:
    """Whether a forked process can use this environment: nothing in it matters to Python's startup."""
    return env.get("LANG") == _LANG and not any(name.startswith(_READ_AT_START) for name in env)


def forked(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: BinaryIO, patience: float
) -> tuple[int, bytes, bytes]:
    """Run one command; return its exit code, stdout and stderr."""
    if not hasattr(_HERE, "server"):
        _HERE.server = _Server()
    server: _Server = _HERE.server
    return server.run(arguments, cwd=cwd, env=env, stdin=stdin, patience=patience)


class _Server:
    """The process that forks; each thread has its own, which runs one command at a time."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                env={**os.environ, "LANG": _LANG, "PYTHONDONTWRITEBYTECODE": ""},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._answers = self._socket.makefile("rb")
        # When the thread that it serves ends, or this process does: the server ends with its connection.
        weakref.finalize(self, _stop, self._answers, self._socket, self._process)

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: BinaryIO,
        patience: float,
    ) -> tuple[int, bytes, bytes]:
        ours, theirs = zip(*(os.pipe() for _ in range(2)), strict=True)
        wanted = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)})
        socket.send_fds(self._socket, [f"{wanted}\n".encode()], [stdin.fileno(), *theirs])
        for end in theirs:
            os.close(end)
        pid = int(self._answers.readline())
        try:
            out, err = _read(ours, patience)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            code = int(self._answers.readline())
            for end in ours:
                os.close(end)
        return code, out, err


def _stop(answers: BinaryIO, connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
    answers.close()
    connection.close()
    process.wait()


def _read(pipes: Sequence[int], patience: float) -> list[bytes]:
    """Read the pipes until every writer has closed them."""
    got: dict[int, list[bytes]] = {pipe: [] for pipe in pipes}
    end = time.monotonic() + patience
    with selectors.DefaultSelector() as ready:
        for pipe in pipes:
            ready.register(pipe, selectors.EVENT_READ)
        while ready.get_map():
            if time.monotonic() > end:
                raise TimeoutError(f"The command did not end within {patience:.0f} seconds: {got}")
            for key, _ in ready.select(1.0):
                if data := os.read(key.fd, 65_536):
                    got[key.fd].append(data)
                else:
                    ready.unregister(key.fd)
    return [b"".join(parts) for parts in got.values()]


def _serve(connection: socket.socket) -> None:
    """Fork for each command; only the forked processes return from this function."""
    while True:
        data, pipes, _, _ = socket.recv_fds(connection, 1_000_000, 3)
        while data and not data.endswith(b"\n"):
            data += connection.recv(1_000_000)
        if not data:
            os._exit(0)
        pid = os.fork()
        if not pid:
            connection.close()
            _become(json.loads(data), pipes)
            return
        for pipe in pipes:
            os.close(pipe)
        connection.sendall(f"{pid}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(f"{code}\n".encode())


def _become(wanted: Any, pipes: Sequence[int]) -> None:
    """Take over the pipes, directory, environment and arguments that a new process would get."""
    for end, pipe in enumerate(pipes):
        os.dup2(pipe, end)
        os.close(pipe)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", errors="backslashreplace", buffering=1, closefd=False)
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    time.tzset()
    sys.argv = ["untilgreen", *wanted["arguments"]]


def _import_all() -> None:
    import gc
    import pkgutil
    from contextlib import suppress
    from importlib import import_module

    import untilgreen

    for module in pkgutil.walk_packages(untilgreen.__path__, "untilgreen."):
        if "testing" not in module.name and not module.name.endswith("__main__"):
            with suppress(ImportError):  # an extra that is not installed
                import_module(module.name)
    gc.freeze()


def _end(code: int) -> None:
    """Exit as Python does, but without its teardown of modules, which takes longer than a short command."""
    threading._shutdown()  # type: ignore[attr-defined]  # Python calls this, too, to join its threads
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads the output: Python has its own message and exit code for that
        sys.exit(code)
    os._exit(code)


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from untilgreen.__main__ import main

    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        _end(end.code or 0)
    _end(0)
