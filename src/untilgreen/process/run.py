"""Runs one command to its end, whichever end that is, and leaves nothing of it behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import current_time

from untilgreen.core.secrets import Secrets
from untilgreen.ports import Walls
from untilgreen.process.adoption import housed
from untilgreen.process.capture import LONGEST_LINE, Output
from untilgreen.process.note import forget
from untilgreen.process.pipes import Pulse, Stream
from untilgreen.process.start import start
from untilgreen.process.watch import Watch

GRACE_SECONDS = 2.0
"""How long a tree may take to follow SIGINT, and then SIGTERM, before it is killed."""
LINGER_SECONDS = 2.0
"""How long what a finished command left running may go on writing to its output."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended, and both ends of what it printed."""

    status: int
    """The exit code, or minus the signal that ended it."""
    stdout: str = ""
    stderr: str = ""
    stalled: bool = False
    """Whether it was ended because it had been silent for too long."""
    late: bool = False
    """Whether it was ended because its time was over."""
    seconds: float = 0.0
    leftovers: tuple[int, ...] = ()
    """Processes that outlived the command and were ended."""
    survivors: tuple[int, ...] = ()
    """Processes that could not be ended: another user's, or stuck in the kernel."""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and with exit code 0."""
        return self.status == 0 and not self.stalled and not self.late

    @property
    def ending(self) -> str:
        """The status in words."""
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
    stdin: bytes | None = None,
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
    walls: Walls | None = None,
) -> Ran:
    """Run a command (without a shell; `start.shell` makes one) in a session of its own.

    `env` comes on top of our own variables. `merge` sends errors to the output, in order. `keep` and
    `keep_errors` are files for all of it, written anew. After `silence` seconds without output the command
    counts as stalled and is ended, and after `seconds` in all as late. `note` tells a later driver what runs.
    On cancellation the tree is ended, its last words are kept, and the cancellation goes on; that takes at
    most twice `grace`, and some seconds for what resists. `fence=False` does without a cgroup. `walls` are
    the sandbox that it runs in; then only some of our variables come along.
    """
    began = current_time()
    pulse = Pulse(began)
    secrets = Secrets({**os.environ, **(env or {})})
    with ExitStack() as stack:
        output = stack.enter_context(Output(keep, on_line, longest_line, secrets))
        errors = stack.enter_context(Output(keep_errors, on_error_line, longest_line, secrets))
        begin = partial(start, argv, cwd=cwd, env=env or {}, walls=walls)
        child = await begin(has_input=stdin is not None, merge=merge, note=note, fence=fence)
        sinks = zip(child.ours[1:], (output, errors), strict=False)
        streams = [Stream(handle, sink.take, pulse) for handle, sink in sinks]
        stack.enter_context(housed())
        watch = Watch(
            child=child,
            streams=streams,
            pulse=pulse,
            silence=silence,
            seconds=seconds,
            grace=grace,
            linger=linger,
        )
        try:
            await watch.see_through(stdin or b"")
        finally:
            if note is not None and not watch.ended.survivors:
                forget(note)
    return _told(watch, output, errors, current_time() - began)


def _told(watch: Watch, output: Output, errors: Output, seconds: float) -> Ran:
    status = watch.child.process.returncode
    return Ran(
        status=-signal.SIGTERM if status is None else status,
        stdout=output.ends.text(),
        stderr=errors.ends.text(),
        stalled=watch.stalled,
        late=watch.late,
        seconds=seconds,
        leftovers=tuple(sorted(watch.ended.pids)) if watch.finished else (),
        survivors=watch.ended.survivors,
    )
