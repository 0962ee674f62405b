"""Starts a child that waits until its process tree is contained and noted.

The child is a shell that waits for one line on standard input and then becomes the command, or runs it if it
is a line of shell. Before that line is sent, the child is moved into its cgroup and noted on disk; if the
driver dies in between, the line never comes and the command never starts.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import STDOUT, Popen
from typing import Self

from anyio import CancelScope, to_thread, wait_readable
from anyio.lowlevel import checkpoint_if_cancelled
from msgspec import Struct

from untilgreen.crash_points import passing
from untilgreen.errors import UntilgreenError
from untilgreen.ports import RoomView, Sandbox
from untilgreen.process import cgroup, subreaper
from untilgreen.process.environment import own_variables
from untilgreen.process.sandbox.bubblewrap import CommandLine, bwrap_command_line, inherited
from untilgreen.process.sandbox.containers import container_command_line, find_engine
from untilgreen.process.sandbox.room import room_command
from untilgreen.process.table import INSIDE, era, find
from untilgreen.process.tree import MARK, Trace, Tree, chain, container_name, new_mark
from untilgreen.process.tree_note import forget, write_note

_GO = b"go\n"
# `read` takes no more than one line from a pipe, so the rest is the command's own input. The shell passes on
# every variable except those whose names no shell could set.
_WAIT = f'IFS= read -r {MARK}_GO && [ "${MARK}_GO" = go ] || exit 125; unset {MARK}_GO; '
# An empty pipe is not the same as no input: tools like ripgrep would search it instead of the directory.
_NO_INPUT = "exec </dev/null; "
_SHELL = ("/bin/sh", "-c")
_WINDOWS = os.name == "nt"


def shell(command: str) -> list[str]:
    """The arguments that run a line of shell."""
    return ["cmd", "/c", command] if _WINDOWS else [*_SHELL, command]


class CannotStart(UntilgreenError):
    """The command could not even be started; a missing program shows later, as exit code 127."""


class StartedProcess:
    """A process we started; waiting for it takes no thread where the system has pidfds."""

    def __init__(self, popen: Popen[bytes]) -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its process id, which is not reused until we have waited for it."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, once we have waited for it."""
        return self._popen.returncode

    async def wait(self) -> int:
        """Return when it has ended."""
        handle = _handle(self._popen.pid) if self._popen.poll() is None else None
        if handle is not None:
            try:
                await wait_readable(handle)
            finally:
                os.close(handle)
        elif self._popen.returncode is None:
            await to_thread.run_sync(self._popen.wait, abandon_on_cancel=True)
        return self._popen.wait()


def _handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None if the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


class Child(Struct, frozen=True, kw_only=True):
    """A child that waits for permission to begin."""

    process: StartedProcess
    tree: Tree
    ours: tuple[int, ...]
    """Our ends of its pipes: input, output and, unless merged into it, errors."""

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
    sandbox: Sandbox | None = None,
    view: RoomView | None = None,
) -> Child:
    """Start the shell that waits to become the command."""
    mark = new_mark()
    environ = {INSIDE: "1", **_ours(sandbox), **env}
    there = cwd if view is None else view.seen(cwd)
    line = CommandLine(words=[*argv])
    if sandbox is not None and sandbox.engine:
        line = container_command_line(
            argv, sandbox, there, {INSIDE: "1", MARK: "", **env}, container_name(mark)
        )
    elif sandbox is not None:
        line = bwrap_command_line(argv, sandbox, there, environ, None if view is None else view.at)
    command = line.words if view is None else room_command(line.words, view, there)
    pipes = _Pipes.make(merge=merge)
    home = cgroup.make(mark, _limits(sandbox)) if fence else None
    try:
        process = StartedProcess(
            Popen(  # noqa: ASYNC220 - it returns as soon as the shell is there, and a thread would not be faster
                _waiting(command, has_input=has_input),
                stdin=pipes.theirs[0],
                stdout=pipes.theirs[1],
                stderr=STDOUT if merge else pipes.theirs[2],
                cwd=cwd,
                env={**environ, MARK: chain(mark, os.environ.get(MARK, ""))},
                start_new_session=True,
                pass_fds=line.descriptors,
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
        line.close()
    subreaper.about_to_run(process.pid)
    try:
        trace = _fence(process.pid, mark, home, note, sandbox)
        await checkpoint_if_cancelled()
    except BaseException:
        pipes.close(pipes.ours)
        with CancelScope(shield=True):
            await process.wait()
        subreaper.never_ran(process.pid)
        _unfence(mark, home, note)
        raise
    return Child(process=process, tree=Tree(trace=trace), ours=pipes.ours)


def _ours(sandbox: Sandbox | None) -> Mapping[str, str]:
    """The variables of ours that a command gets."""
    known = own_variables()
    return known if sandbox is None or sandbox.engine else inherited(known, sandbox)


def _limits(sandbox: Sandbox | None) -> dict[str, int]:
    """The limits that a cgroup, if there is one, sets for all processes of a sandbox together."""
    most = {} if sandbox is None else {"memory.max": sandbox.memory, "pids.max": sandbox.processes}
    return {name: number for name, number in most.items() if number is not None}


def _why(argv: Sequence[str], cwd: Path, error: OSError) -> str:
    if error.errno == errno.E2BIG:
        size = sum(len(os.fsencode(word)) for word in argv)
        return (
            f"The arguments of {argv[0]!r} are too long for this system ({size:,} bytes). "
            "Pass long text on standard input, or in a file ({prompt_file} in a 'cmd:' agent)."
        )
    reason = error.strerror or error
    return f"{argv[0]!r} can't be started in {str(cwd)!r}: {reason}. Check that the directory exists."


def _waiting(words: Sequence[str], *, has_input: bool) -> list[str]:
    """The arguments of a shell that waits and then runs these.

    It waits on the same line as a given line of shell, so that line numbers in messages stay right.
    """
    if _WINDOWS:
        return [*words]
    wait = _WAIT if has_input else _WAIT + _NO_INPUT
    match words:
        case [*program, line] if tuple(program) == _SHELL:
            return [*_SHELL, wait + line]
        case _:
            return [*_SHELL, f'{wait}exec "$@"', "untilgreen", *words]


def _fence(pid: int, mark: str, home: Path | None, note: Path | None, sandbox: Sandbox | None) -> Trace:
    """Runs in the event loop: neither step waits for a disk, and a thread would take longer than both."""
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
        walled=sandbox is not None and not sandbox.engine,
        engine=find_engine(sandbox) if sandbox is not None and sandbox.engine else None,
    )
    if note is not None:
        write_note(note, trace)
    return trace


def _unfence(mark: str, home: Path | None, note: Path | None) -> None:
    _take_away(home)
    if note is not None:
        forget(note, mark)


def _take_away(home: Path | None) -> None:
    if home is not None:
        cgroup.remove(home)


class _Pipes(Struct, frozen=True):
    """Input, output and errors, our ends and theirs."""

    ours: tuple[int, ...]
    theirs: tuple[int, ...]

    @classmethod
    def make(cls, *, merge: bool) -> Self:
        """We write the input and read the others."""
        theirs_in, ours_in = os.pipe()
        outputs = [os.pipe() for _ in range(1 if merge else 2)]
        ours = (ours_in, *(read for read, _ in outputs))
        if not _WINDOWS:
            for handle in ours:
                os.set_blocking(handle, False)
        return cls(ours, (theirs_in, *(write for _, write in outputs)))

    @staticmethod
    def close(handles: tuple[int, ...]) -> None:
        """Close these ends."""
        for handle in handles:
            os.close(handle)
