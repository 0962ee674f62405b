"""Starts drivers without the cost of starting Python: each is a fork of one process with everything loaded.

This process has one thread and no connection, so forking it is safe; the worker itself must not be forked,
since Temporal's runtime has threads.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

_LARGEST_ORDER = 65_536
_LOADED = b"loaded"
_PACKAGES = (
    "agents",
    "config",
    "core",
    "engine",
    "gates",
    "journal",
    "notify",
    "plugins",
    "process",
    "workspace",
)
"""The packages that a drive may import, sooner or later."""


def serve(line: socket.socket) -> None:
    """Start a driver for each message, which has its order and the files for its stdin and stdout."""
    from untilgreen.fleet.driver import leave_at_once, run_order  # noqa: PLC0415 - only this process loads it

    _load_all()
    line.send(_LOADED)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        order, descriptors, _, _ = socket.recv_fds(line, _LARGEST_ORDER, 2)
        if not order:
            return
        if os.fork() == 0:
            # A shell's `&` makes us ignore the last two, and agents would inherit that.
            for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            os.dup2(descriptors[0], 0)
            os.dup2(descriptors[1], 1)
            line.close()
            os.closerange(3, 256)
            sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
            code = 70
            try:
                code = run_order(order)
            finally:
                leave_at_once(code)
        for descriptor in descriptors:
            os.close(descriptor)


def _load_all() -> None:
    """Load every module that a drive may need: an upgrade may replace the files under a running worker."""
    for name in _PACKAGES:
        package = import_module(f"untilgreen.{name}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ModuleNotFoundError):  # of an extra that is not installed
                import_module(module.name)


class ForkServer:
    """The fork server, as its worker sees it."""

    def __init__(self) -> None:
        """Returns when everything is loaded: from then on, nothing needs the files of our package."""
        self._open()

    def _open(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line = ours
        self._process = subprocess.Popen(
            [sys.executable, "-m", "untilgreen.fleet.fork_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C is for the worker, which lets its drivers finish
        )
        theirs.close()
        self._line.recv(len(_LOADED))

    def start(self, order: dict[str, Any]) -> tuple[int, int]:
        """Start a driver; returns the ends of two pipes, to write to it and to read from it."""
        their_input, ours_out = os.pipe()
        ours_in, their_output = os.pipe()
        message, theirs = [json.dumps(order).encode()], [their_input, their_output]
        try:
            try:
                socket.send_fds(self._line, message, theirs)
            except (BrokenPipeError, ConnectionResetError):  # it was killed, perhaps by the OOM killer
                self.close()
                self._open()
                socket.send_fds(self._line, message, theirs)
        except OSError:
            os.close(ours_out)
            os.close(ours_in)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return ours_out, ours_in

    def close(self) -> None:
        """Start no more drivers; running ones continue."""
        self._line.close()
        self._process.wait()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
