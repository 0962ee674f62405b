"""Runs one git command: fixed settings, no hooks, and failures in git's own words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen
from threading import Lock

from anyio import sleep, to_thread
from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.crash_points import passing
from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.sandbox.bubblewrap import path_outside, work_tree_top
from untilgreen.regex import regex

OPTIONS = (
    "core.checkStat=default",
    "core.fsmonitor=false",
    "core.hooksPath=" + os.devnull,
    "core.ignoreStat=false",
    "core.logAllRefUpdates=false",
    "core.quotePath=false",
    "core.splitIndex=false",
    "core.trustctime=true",
    "core.untrackedCache=false",
    "gc.auto=0",
    "index.sparse=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "submodule.recurse=false",
)
COMMAND = ("git", *(part for option in OPTIONS for part in ("-c", option)))
INHERITED = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
    }
)
"""All other GIT_ variables are about the caller's own repository or command."""

REMEDIES = (
    ("filter", "Install the program that this filter runs, or remove the filter from .gitattributes."),
    ("bad object", "Use a snapshot that the run still has."),
    ("Permission denied", "Make it readable, or add it to .gitignore."),
    ("not uptodate", "Another program is writing these files: stop it, and try again."),
    ("No space left", "Free some space on that disk, and try again."),
    ("dubious ownership", "Follow git's advice if you trust this repository."),
)
PLAINLY = b"./"
"""Prefix for paths given to `check-ignore`: a bare `:/x` would mean the `x` at the top."""
LONGEST = 2000
_HALF_MADE = regex(rb"failed to read .*commondir")
"""The error of commands that read all worktrees while another process is adding one: its file is empty."""
_TRIES, _PAUSE_SECONDS = 50, 0.1


class GitFailed(WorkspaceNotReady):
    """A failed git command: what git said, and what to do about it."""

    def __init__(self, command: str, words: str, place: Path) -> None:
        self.command, self.words = command, words
        told = " ".join(words[:LONGEST].split()) or "no reason given."
        advice = next((help for sign, help in REMEDIES if sign in words), "Fix that, and try again.")
        super().__init__(f"`git {command}` failed in {str(place)!r}: {told} {advice}")


class Git(Struct, frozen=True, kw_only=True):
    """git in one directory, with variables that select the repository."""

    place: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    """More settings for the command line, each as `name=value`."""
    descriptors: Sequence[int] = ()
    """Open files that every git process holds until it ends, even if it outlives us."""
    before: Callable[[], None] | None = None
    """Called before a process is started; raises an error if git must not run."""

    async def __call__(self, *arguments: str | bytes, given: bytes | None = None) -> bytes:
        """Run one command and return its output."""
        return self.checked(await self.attempt(*arguments, given=given))

    async def attempt(self, *arguments: str | bytes, given: bytes | None = None) -> CompletedProcess[bytes]:
        """Run one command and return its result, failed or not; waits for a worktree that is being made."""
        for _ in range(_TRIES):
            done = await self._attempt(arguments, given)
            if not done.returncode or _HALF_MADE.search(done.stderr) is None:
                break
            await sleep(_PAUSE_SECONDS)
        return done

    async def _attempt(
        self, arguments: Sequence[str | bytes], given: bytes | None
    ) -> CompletedProcess[bytes]:
        running = _Running()
        try:
            # In a thread: a lap starts several processes, and the event loop's own cost twice as much.
            return await to_thread.run_sync(self._run, running, arguments, given, abandon_on_cancel=True)
        except FileNotFoundError:
            raise WorkspaceNotReady(self._absent()) from None
        finally:
            running.end()

    def _run(
        self, running: _Running, arguments: Sequence[str | bytes], given: bytes | None
    ) -> CompletedProcess[bytes]:
        verb = os.fsdecode(arguments[0])
        self._refuse_a_pipe()
        if self.before is not None:
            self.before()
        passing("git", "before", verb)
        path = self._path()
        process = Popen(
            [*COMMAND, *(part for each in self.settings for part in ("-c", each)), *arguments],
            executable=_program(path),
            stdin=DEVNULL if given is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self.place,
            env={**environment(), **self.variables, "PATH": path},
            # Out of reach of Ctrl-C in the terminal: a command that has begun is finished.
            start_new_session=True,
            pass_fds=self.descriptors,
        )
        with process:
            running.begin(process)
            printed, said = process.communicate(given)
        passing("git", "after", verb)
        return CompletedProcess(process.args, process.returncode, printed, said)

    def _refuse_a_pipe(self) -> None:
        """An agent can put a pipe in place of HEAD, and git would wait for it forever."""
        head = Path(self.variables.get("GIT_DIR", work_tree_top(self.place) / ".git"), "HEAD")
        if os.path.exists(head) and not head.is_file():  # noqa: PTH110 - no error where access is denied
            raise WorkspaceNotReady(
                f"{str(head)!r} is not a regular file, so git can't read it. Replace it with a file that "
                "contains the line `ref: refs/heads/BRANCH`, with the name of your branch, and try again."
            )

    def _path(self) -> str:
        tree = Path(self.variables.get("GIT_WORK_TREE", self.place))
        return _ours_first(os.environ.get("PATH", os.defpath), self.place, tree)

    def with_index(self, index: Path) -> Git:
        """The same git with another index."""
        return replace(self, variables={**self.variables, "GIT_INDEX_FILE": str(index)})

    def checked(self, done: CompletedProcess[bytes]) -> bytes:
        """The output of a command, or its failure raised."""
        if done.returncode:
            verb = os.fsdecode(done.args[len(COMMAND) + 2 * len(self.settings)])
            raise GitFailed(verb, done.stderr.decode(errors="replace").strip(), self.place)
        return done.stdout

    def _absent(self) -> str:
        if self.place.is_dir():
            return "There is no `git` on the PATH. Install git, and try again."
        return f"The directory {str(self.place)!r} does not exist. Put it back, or choose another."


class _Running:
    """A process waited for in a thread, and killed when the wait is cancelled."""

    def __init__(self) -> None:
        self._door = Lock()
        self._process: Popen[bytes] | None = None
        self._unwanted = False

    def begin(self, process: Popen[bytes]) -> None:
        """Note that the process has started."""
        with self._door:
            self._process = process
            if self._unwanted:
                process.kill()

    def end(self) -> None:
        """Kill the process if it is still running."""
        with self._door:
            self._unwanted = True
            if self._process is not None:
                self._process.kill()


@cache
def _program(search: str) -> str:
    """The path of git, looked up once: a `git` that an agent puts on the PATH later is not used."""
    found = which("git", path=search)
    if found is None:
        raise FileNotFoundError(search)
    return found


@cache
def _ours_first(search: str, place: Path, tree: Path) -> str:
    """A PATH on which folders of the workspace come last.

    An agent may have put a `git` there, but they may also be the only place where a filter is installed.
    """
    ours = path_outside(search, (work_tree_top(place), tree)).split(os.pathsep)
    folders = [folder for folder in search.split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join([*ours, *(folder for folder in folders if folder not in ours)])


def environment() -> dict[str, str]:
    """Our environment without variables that redirect git, translate its output or let it prompt."""
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in INHERITED
    }
    return ours | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


SEALED = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull}
"""Variables for a git that sees nothing but the configuration in its own git directory."""
OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""Variables for a git that never fetches missing objects, and so never starts a program to fetch them."""


def split(listed: bytes) -> list[bytes]:
    """The parts of what a command prints with `-z`."""
    return listed.split(b"\0")[:-1]


def joined(paths: Iterable[bytes]) -> bytes:
    """Paths as a command reads them with `-z --stdin`."""
    return b"".join(path + b"\0" for path in paths)


def path_as_text(path: bytes) -> str:
    """A path as text for an event, whatever its bytes."""
    return path.decode(errors="backslashreplace")
