"""Runs one command to its end and leaves nothing of it behind."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from anyio import current_time
from msgspec import Struct

from untilgreen.ports import RoomView, Sandbox
from untilgreen.process.capture import LONGEST_LINE, Output
from untilgreen.process.disk_watch import DiskWatch
from untilgreen.process.environment import own_variables, secrets_in
from untilgreen.process.pipes import Pulse, Stream
from untilgreen.process.start import start
from untilgreen.process.subreaper import adopting_orphans
from untilgreen.process.supervise import Supervisor
from untilgreen.process.talk import Talk
from untilgreen.process.tree_note import forget

GRACE_SECONDS = 2.0
"""How long a process tree gets after SIGINT, and again after SIGTERM, before it is killed."""
LINGER_SECONDS = 2.0
"""How long processes left by a finished command may keep writing to its output."""


TOO_MUCH = "ended because it wrote more to the disk than sandbox.disk allows"


class Ran(Struct, frozen=True, kw_only=True):
    """How a command ended, and both ends of what it printed."""

    status: int
    """The exit code, or minus the signal that ended it."""
    stdout: str = ""
    stderr: str = ""
    stalled: bool = False
    """Whether it was killed after too long a silence."""
    late: bool = False
    """Whether it was killed because its time was up."""
    full: bool = False
    """Whether it was ended because it wrote more to the disk than its sandbox allows."""
    seconds: float = 0.0
    leftovers: tuple[int, ...] = ()
    """Processes that outlived the command and were killed."""
    survivors: tuple[int, ...] = ()
    """Processes that could not be killed: another user's, or stuck in the kernel."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.status == 0 and not self.stalled and not self.late and not self.full

    @property
    def ending(self) -> str:
        """The status in words."""
        if self.full:
            return TOO_MUCH
        if self.status >= 0:
            return f"exit code {self.status}"
        try:
            return f"ended by {signal.Signals(-self.status).name}"
        except ValueError:
            return f"ended by signal {-self.status}"


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | Talk | None = None,
    merge: bool = False,
    keep: Path | None = None,
    keep_errors: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    on_error_line: Callable[[str], None] | None = None,
    longest_line: int = LONGEST_LINE,
    silence: float | None = None,
    seconds: float | None = None,
    note: Path | None = None,
    grace: float = GRACE_SECONDS,
    linger: float = LINGER_SECONDS,
    fence: bool = True,
    sandbox: Sandbox | None = None,
    view: RoomView | None = None,
) -> Ran:
    """Run a command (without a shell; `start.shell` makes one) in its own session.

    `env` is added to our own variables. `stdin` is its whole input, or a conversation. `merge` sends
    errors to the output, in order. `keep` and `keep_errors` are files for the full output, overwritten.
    After `silence` seconds without output the command counts as stalled and is ended, and after `seconds` in
    total as late. `note` tells a later driver what is running. On cancellation the process tree is ended, its
    last output is kept, and the cancellation continues; that takes at most twice `grace`, plus a few seconds
    for processes that resist. `fence=False` uses no cgroup. In a `sandbox` only some of our variables are
    passed on. `view` shows it a room in place of the workspace.
    """
    began = current_time()
    pulse = Pulse(began)
    secrets = secrets_in({**own_variables(), **(env or {})})
    with ExitStack() as stack:
        output = stack.enter_context(Output(keep, on_line, longest_line, secrets))
        errors = stack.enter_context(Output(keep_errors, on_error_line, longest_line, secrets))
        begin = partial(start, argv, cwd=cwd, env=env or {}, sandbox=sandbox, view=view)
        child = await begin(has_input=stdin is not None, merge=merge, note=note, fence=fence)
        sinks = zip(child.ours[1:], (output, errors), strict=False)
        streams = [Stream(handle, sink.take, pulse) for handle, sink in sinks]
        stack.enter_context(adopting_orphans(child.process.pid))
        supervisor = Supervisor(
            child=child,
            streams=streams,
            pulse=pulse,
            silence=silence,
            seconds=seconds,
            grace=grace,
            linger=linger,
            disk=_watch(sandbox, view),
        )
        try:
            await supervisor.run(stdin or b"")
        finally:
            if note is not None:
                forget(note, child.tree.trace.mark, survived=bool(supervisor.ended.survivors))
    return _result(supervisor, output, errors, current_time() - began)


def _watch(sandbox: Sandbox | None, view: RoomView | None) -> DiskWatch | None:
    if sandbox is None or sandbox.disk is None:
        return None
    places = [mount.source or mount.path for mount in sandbox.mounts if mount.way == "write"]
    return DiskWatch(places=(*places, *(() if view is None else (view.place,))), most=sandbox.disk)


def _result(supervisor: Supervisor, output: Output, errors: Output, seconds: float) -> Ran:
    status = supervisor.child.process.returncode
    return Ran(
        status=-signal.SIGTERM if status is None else status,
        stdout=output.ends.text(),
        stderr=errors.ends.text(),
        stalled=supervisor.stalled,
        late=supervisor.late,
        full=supervisor.full,
        seconds=seconds,
        leftovers=tuple(sorted(supervisor.ended.pids)) if supervisor.finished else (),
        survivors=supervisor.ended.survivors,
    )
