"""Starts a child so that it can't do anything before its tree is fenced and noted.

What is started is a shell that waits for one line on its standard input and then becomes the command. In
between it is put into its cgroup and noted down; if the driver dies in that moment, the line never comes, and
neither does the command.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import STDOUT, Popen
from typing import Self

from anyio import CancelScope, to_thread

from untilgreen.crash import passing
from untilgreen.errors import UntilgreenError
from untilgreen.ports import Walls
from untilgreen.process import cgroup
from untilgreen.process.child import Waited
from untilgreen.process.note import forget, write_note
from untilgreen.process.sandbox import enclosed, inherited
from untilgreen.process.table import era, find
from untilgreen.process.tree import MARK, Trace, Tree, chain, new_mark

INSIDE = "UNTILGREEN_INSIDE"
"""Tells every program that it runs inside of a run."""
_GO = b"go\n"
# `read` takes no byte more than its line from a pipe, so what follows is the command's own input. The shell
# hands on every variable but those whose names no shell could set.
_WAIT = f'IFS= read -r {MARK}_GO && [ "${MARK}_GO" = go ] || exit 125; unset {MARK}_GO; exec "$@"'
# An empty pipe is not the same as no input: tools like ripgrep would search it instead of the directory.
_NO_INPUT = " </dev/null"
_WINDOWS = os.name == "nt"


def shell(command: str) -> list[str]:
    """The arguments that run a line of shell."""
    return ["cmd", "/c", command] if _WINDOWS else ["/bin/sh", "-c", command]


class CannotStart(UntilgreenError):
    """Not even the start of a command was possible; a missing program is noticed later, as exit code 127."""


@dataclass(frozen=True, kw_only=True)
class Child:
    """A child that waits to be let go."""

    process: Waited
    tree: Tree
    ours: tuple[int, ...]
    """Our ends of its pipes: input, output and, where it is not merged, errors."""

    def let_go(self) -> None:
        """Let the command begin."""
        passing("process", "before", "begins")
        if not _WINDOWS:
            with suppress(BrokenPipeError):
                os.write(self.ours[0], _GO)
        passing("process", "after", "begins")


async def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    has_input: bool,
    merge: bool,
    note: Path | None,
    fence: bool,
    walls: Walls | None = None,
) -> Child:
    """Start the shell that waits to become the command."""
    mark = new_mark()
    environ = {INSIDE: "1", **(os.environ if walls is None else inherited(os.environ, walls)), **env}
    command = argv if walls is None else enclosed(argv, walls, cwd, environ)
    pipes = _Pipes.make(merge=merge)
    home = cgroup.make(mark) if fence else None
    try:
        process = Waited(
            Popen(  # noqa: ASYNC220 - it returns as soon as the shell is there, and a thread would not be faster
                [*_launcher(has_input), *command],
                stdin=pipes.theirs[0],
                stdout=pipes.theirs[1],
                stderr=STDOUT if merge else pipes.theirs[2],
                cwd=cwd,
                env={**environ, MARK: chain(mark, os.environ.get(MARK, ""))},
                start_new_session=True,
            )
        )
    except BaseException as error:
        pipes.close(pipes.ours)
        _take_away(home)
        if isinstance(error, OSError):
            raise CannotStart(_why(argv, cwd, error)) from error
        raise
    finally:
        pipes.close(pipes.theirs)
    try:
        trace = await to_thread.run_sync(_fence, process.pid, mark, home, note, walls is not None)
    except BaseException:
        pipes.close(pipes.ours)
        with CancelScope(shield=True):
            await process.wait()
        _take_away(home)
        if note is not None:
            forget(note)
        raise
    return Child(process=process, tree=Tree(trace=trace), ours=pipes.ours)


def _why(argv: Sequence[str], cwd: Path, error: OSError) -> str:
    if error.errno == errno.E2BIG:
        size = sum(len(os.fsencode(word)) for word in argv)
        return (
            f"The arguments of {argv[0]!r} are too long for this system ({size:,} bytes). "
            "Hand long text over on standard input or in a file, which is {prompt_file} in a 'cmd:' agent."
        )
    reason = error.strerror or error
    return f"{argv[0]!r} can't be started in {str(cwd)!r}: {reason}. Check that the directory is there."


def _launcher(has_input: bool) -> list[str]:
    if _WINDOWS:
        return []
    return ["/bin/sh", "-c", _WAIT if has_input else _WAIT + _NO_INPUT, "untilgreen"]


def _fence(pid: int, mark: str, home: Path | None, note: Path | None, walled: bool) -> Trace:
    """Both steps touch the disk or the kernel's locks and take milliseconds, so they run in a thread."""
    if home is not None and not cgroup.join(home, pid):
        _take_away(home)
        home = None
    seen = find(pid)
    trace = Trace(
        mark=mark,
        pid=pid,
        start=seen.start if seen else 0.0,
        group=pid,
        era=era(),
        cgroup=str(home) if home else None,
        walled=walled,
    )
    if note is not None:
        write_note(note, trace)
    return trace


def _take_away(home: Path | None) -> None:
    if home is not None:
        cgroup.remove(home)


@dataclass(frozen=True)
class _Pipes:
    """Input, output and errors, our ends and theirs."""

    ours: tuple[int, ...]
    theirs: tuple[int, ...]

    @classmethod
    def make(cls, *, merge: bool) -> Self:
        """The input is written by us, the others are read."""
        theirs_in, ours_in = os.pipe()
        outputs = [os.pipe() for _ in range(1 if merge else 2)]
        ours = (ours_in, *(read for read, _ in outputs))
        if not _WINDOWS:
            for handle in ours:
                os.set_blocking(handle, False)
        return cls(ours, (theirs_in, *(write for _, write in outputs)))

    @staticmethod
    def close(handles: tuple[int, ...]) -> None:
        """Let go of these ends."""
        for handle in handles:
            os.close(handle)
