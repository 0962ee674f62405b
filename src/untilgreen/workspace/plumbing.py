"""One git command at a time: nobody else's settings, no hooks, and failures in git's own words."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen
from threading import Lock

from anyio import sleep, to_thread

from untilgreen.crash import passing
from untilgreen.errors import WorkspaceNotReady
from untilgreen.process.sandbox import outside, top_of

OPTIONS = (
    "core.fsmonitor=false",
    "core.hooksPath=" + os.devnull,
    "core.ignoreStat=false",
    "core.logAllRefUpdates=false",
    "core.quotePath=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "index.sparse=false",
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
"""All other GIT_ variables speak about the caller's own repository or command."""

REMEDIES = (
    ("filter", "Install the program that this filter runs, or take the filter out of .gitattributes."),
    ("bad object", "Name a snapshot that the run still keeps."),
    ("Permission denied", "Make it readable for you, or name it in .gitignore."),
    ("not uptodate", "Something writes these files: end it, and start again."),
    ("No space left", "Free some space on that disk."),
    ("dubious ownership", "Do what git says, if you trust this repository."),
)
PLAINLY = b"./"
"""In front of a path that `check-ignore` is asked about: `:/x` alone would be the `x` of the top."""
LONGEST = 2000
_HALF_MADE = re.compile(rb"failed to read .*commondir")
"""Of every command that looks at all worktrees, while another process makes one: its file is still empty."""
_TRIES, _PAUSE_SECONDS = 50, 0.1


class GitFailed(WorkspaceNotReady):
    """What git said when it could not do what it was asked, and what helps."""

    def __init__(self, command: str, words: str, place: Path) -> None:
        self.words = words
        told = " ".join(words[:LONGEST].split()) or "it gave no reason."
        advice = next((help for sign, help in REMEDIES if sign in words), "Mend that, and start again.")
        super().__init__(f"`git {command}` failed in {str(place)!r}: {told} {advice}")


@dataclass(frozen=True, kw_only=True)
class Git:
    """git, seen from one directory and with variables that say which repository is meant."""

    place: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    descriptors: Sequence[int] = ()
    """Open files that every git process holds until it ends, also when it outlives us."""

    async def __call__(self, *arguments: str | bytes, given: bytes | None = None) -> bytes:
        """Run one command and give what it printed."""
        return self.checked(await self.attempt(*arguments, given=given))

    async def attempt(self, *arguments: str | bytes, given: bytes | None = None) -> CompletedProcess[bytes]:
        """Run one command and give what came of it, failed or not; a worktree in the making is waited for."""
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
            # In a thread that waits for it: at several processes a lap, the event loop's own way costs twice.
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
        passing("git", "before", verb)
        process = Popen(
            [*COMMAND, *arguments],
            stdin=DEVNULL if given is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self.place,
            env={**surroundings(), **self.variables, "PATH": self._path()},
            # Out of reach of the terminal's Ctrl-C: what was begun is finished.
            start_new_session=True,
            pass_fds=self.descriptors,
        )
        with process:
            running.begin(process)
            printed, said = process.communicate(given)
        passing("git", "after", verb)
        return CompletedProcess(process.args, process.returncode, printed, said)

    def _refuse_a_pipe(self) -> None:
        """An agent can put a pipe in place of HEAD, and git would wait there for ever."""
        head = Path(self.variables.get("GIT_DIR", top_of(self.place) / ".git"), "HEAD")
        if os.path.exists(head) and not head.is_file():  # noqa: PTH110 - no error where it may not be seen
            raise WorkspaceNotReady(
                f"{str(head)!r} is no plain file, so that git can't go on there. Remove it, write the line "
                "`ref: refs/heads/BRANCH` in its place, with the name of your branch, and start again."
            )

    def _path(self) -> str:
        tree = Path(self.variables.get("GIT_WORK_TREE", self.place))
        return _ours_first(os.environ.get("PATH", os.defpath), self.place, tree)

    def with_index(self, index: Path) -> Git:
        """The same repository with another index."""
        return replace(self, variables={**self.variables, "GIT_INDEX_FILE": str(index)})

    def checked(self, done: CompletedProcess[bytes]) -> bytes:
        """What a command printed, or its failure raised."""
        if done.returncode:
            verb = os.fsdecode(done.args[len(COMMAND)])
            raise GitFailed(verb, done.stderr.decode(errors="replace").strip(), self.place)
        return done.stdout

    def _absent(self) -> str:
        if self.place.is_dir():
            return "There is no `git` on the PATH. Install git, and start again."
        return f"There is no directory {str(self.place)!r}. Name one that exists."


class _Running:
    """A process that somebody waits for in a thread, and that ends when nobody wants it any more."""

    def __init__(self) -> None:
        self._door = Lock()
        self._process: Popen[bytes] | None = None
        self._unwanted = False

    def begin(self, process: Popen[bytes]) -> None:
        """It runs now."""
        with self._door:
            self._process = process
            if self._unwanted:
                process.kill()

    def end(self) -> None:
        """Whatever still runs is not wanted; what has ended is left alone."""
        with self._door:
            self._unwanted = True
            if self._process is not None:
                self._process.kill()


@cache
def _ours_first(search: str, place: Path, tree: Path) -> str:
    """A PATH on which folders of the workspace come last.

    An agent may have left a git of its own there, and a person a filter that is nowhere else.
    """
    ours = outside(search, (top_of(place), tree)).split(os.pathsep)
    folders = [folder for folder in search.split(os.pathsep) if Path(folder).is_absolute()]
    return os.pathsep.join([*ours, *(folder for folder in folders if folder not in ours)])


def surroundings() -> dict[str, str]:
    """Our own environment without what would make git look, speak or ask elsewhere."""
    ours = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in INHERITED
    }
    return ours | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}


def split(listed: bytes) -> list[bytes]:
    """The parts of what a command prints with `-z`."""
    return listed.split(b"\0")[:-1]


def joined(paths: Sequence[bytes]) -> bytes:
    """Paths as a command reads them with `-z --stdin`."""
    return b"".join(path + b"\0" for path in paths)


def shown(path: bytes) -> str:
    """A path as text that fits into an event, whatever bytes it is made of."""
    return path.decode(errors="backslashreplace")
