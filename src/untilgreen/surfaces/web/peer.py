"""Who is at the other end of a connection: agents and gates are refused, even with the token."""

from __future__ import annotations

from pathlib import Path

import psutil

from untilgreen.engine.operations.calling_run import started_by


def run_behind(client: tuple[str, int], port: int, state_dir: Path) -> str | None:
    """The run whose agent or gate opened the connection; None if it is somebody else's.

    The port leads to the process, and the process to its ancestors. A peer on another machine, or of another
    user whose processes can't be seen, has no process here; it still needs the token.
    """
    pid = _process_of(client, port)
    if pid is None:
        return None
    return started_by(state_dir, pid)


def _process_of(client: tuple[str, int], port: int) -> int | None:
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return None
    for each in connections:
        if each.laddr and each.raddr and each.laddr.port == client[1] and each.raddr.port == port:
            return each.pid
    return None
