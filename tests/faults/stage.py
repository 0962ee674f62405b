"""Play a story of real commands on its own stage, where each can be killed at a named point."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import psutil

from tests.surfaces.cli.helpers import COMMAND, Done, finished, git, repository, script
from untilgreen.core.values.events import Attached, Event, RunFinished, SnapshotTaken
from untilgreen.crash_points import CRASH_AT
from untilgreen.journal.codec import decode

PATIENCE_SECONDS = 60.0
HANGS = -1
MARK = "FAULTS_OF_STAGE"
"""A variable in the environment of every process that belongs to one of these stages."""
UNHARMED = (0, 1, 3, 4, 5, 129, 130, 143)
"""Exit codes of commands that worked: the run has ended, waits, or was told to leave."""
ALREADY = 2
"""The exit code of a repeated command that is refused because it is done; the ending shows whether it was."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """One command; `{run}` in its words is the id of the first run, `{agent}` the agent's script."""

    words: tuple[str, ...]
    stdin: Callable[[Stage], str] = lambda stage: ""
    begins: bool = False
    """Whether it starts a run; if it is killed, `resume` continues that run."""
    before: Callable[[Stage], None] = lambda stage: None
    """What somebody else does before it."""
    beside: str = ""
    """A script that runs at the same time, like a person in another terminal, until the act is over."""
    terminal: bool = False
    """Whether it runs on a terminal, where somebody could answer."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """The acts to play, the agent's script, and the files of the project."""

    name: str
    agent: str
    acts: tuple[Act, ...]
    files: Mapping[str, str] = field(default_factory=lambda: {"counter.txt": "0\n"})


@dataclass
class Stage:
    """A project, its user, and everything that a story leaves there."""

    folder: Path
    story: Story
    codes: list[int] = field(default_factory=list)
    printed: list[dict[str, Any]] = field(default_factory=list)
    """Every event that a process printed before it died, so that it counts as acknowledged."""
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.work = repository(self.folder / "work", self.story.files)
        (self.folder / "home").mkdir()
        (self.folder / "tmp").mkdir()
        script(self.folder / "agent", self.story.agent)
        self.belongings = self.of_the_user()

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.folder / "tmp"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "UNTILGREEN_STATE_DIR": str(self.folder / "state"),
            "OUTSIDE": str(self.folder),
            MARK: str(self.folder),
        }

    @property
    def runs(self) -> list[Path]:
        """The folders of runs with at least one event, oldest first."""
        found = sorted((self.folder / "state" / "runs").glob("*/journal.jsonl"))
        return [path.parent for path in found if decode(path.read_bytes())[0]]

    def events(self, run: Path) -> list[Event]:
        """The events of a run; reading them checks every line."""
        return decode((run / "journal.jsonl").read_bytes(), name=str(run))[0]

    def say(self, *words: str, stdin: str = "", crash: str = "", terminal: bool = False) -> Done:
        """Run one command, however it ends."""
        try:
            done = (
                self._started(words, stdin, crash, terminal)
                if crash or terminal
                else self._forked(words, stdin)
            )
        except (subprocess.TimeoutExpired, TimeoutError) as error:
            self.trouble.append(f"{' '.join(words)} hangs with {crash!r}: {error}")
            return Done(HANGS, "", "")
        if "Traceback" in done.err:
            self.trouble.append(f"{' '.join(words)}: {done.err}")
        self.printed += [line["event"] for line in _lines(done.out) if line.get("type") == "event"]
        return done

    def _forked(self, words: Sequence[str], stdin: str) -> Done:
        """Run a command that is not to be killed in a fork, which takes a third of the time."""
        with TemporaryFile() as file:
            file.write(stdin.encode())
            file.seek(0)
            return finished(words, cwd=self.work, env=self.env, stdin=file)

    def _started(self, words: Sequence[str], stdin: str, crash: str, terminal: bool) -> Done:
        armed = {CRASH_AT: crash} if crash else {}
        with (
            _terminal() as their_end,
            subprocess.Popen(
                [*COMMAND, *words],
                cwd=self.work,
                env={**self.env, **armed},
                stdin=their_end if terminal else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process,
        ):
            try:
                out, err = process.communicate(None if terminal else stdin, timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Done(process.returncode, out, err)

    def play(self, act: Act, crash: str = "") -> Done:
        """Play one act."""
        place = {"run": self.runs[0].name if self.runs else "", "agent": f"cmd:{self.folder / 'agent'}"}
        words = [word.format(**place) if "{" in word else word for word in act.words]
        return self.say(*words, stdin=act.stdin(self), crash=crash, terminal=act.terminal)

    def finish(self, act: Act, *crashes: str) -> list[str]:
        """Play an act, killed at one point after another, and then once more; return the points reached."""
        known, died = self.runs, list[str]()
        act.before(self)
        with self._beside(act):
            for crash in (*crashes, ""):
                begun = [run for run in self.runs if run not in known] if act.begins else []
                again = replace(act, words=("resume", begun[0].name, "--json")) if begun else act
                done = self.play(again, crash)
                if done.code != -signal.SIGKILL:
                    break
                died.append(crash)
        late = bool(died) and not act.begins and done.code == ALREADY  # the killed one had done all of it
        self.codes.append(0 if late else done.code)
        if done.code not in (UNHARMED if act.begins else (*UNHARMED, ALREADY)):
            self.trouble.append(f"exit code {done.code} after {died}: {done.err}")
        return died

    def points(self, act: Act, number: int) -> list[str]:
        """Play an act undisturbed, and return every point that it passed."""
        listed = self.folder / f"points-{number}"
        act.before(self)
        with self._beside(act):
            self.codes.append(self.play(act, f"list:{listed}").code)
        return listed.read_text().splitlines() if listed.exists() else []

    @contextmanager
    def _beside(self, act: Act) -> Iterator[None]:
        """Run the act's other script meanwhile; it ends between two commands, never in the middle of one."""
        command, quiet = ["sh", "-c", f"trap exit TERM\n{act.beside}"], subprocess.DEVNULL
        with subprocess.Popen(command, cwd=self.work, env=self.env, stdout=quiet, stderr=quiet) as person:
            try:
                yield
            finally:
                person.terminate()

    def alive(self) -> list[str]:
        """Every process that belongs to this stage, including those in other sessions."""
        return [" ".join(each.cmdline()) for each in psutil.process_iter() if self._is_ours(each)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == str(
                self.folder
            )
        except psutil.Error:
            return False

    def of_the_user(self) -> tuple[bytes, bytes]:
        """What a run must not touch: the user's index and HEAD."""
        return (self.work / ".git" / "index").read_bytes(), (self.work / ".git" / "HEAD").read_bytes()

    def ending(self) -> dict[str, Any]:
        """The result of the story, to compare with the same story played undisturbed."""
        return {
            "runs": [self._end(run) for run in self.runs if self._driven(run)],
            "files": {name: path.read_text() for name, path in self._files()},
            "branches": sorted(
                git(self.work, "rev-parse", f"{ref}^{{tree}}")
                for ref in git(self.work, "for-each-ref", "--format=%(refname)", "refs/heads").split()
            ),
            "worktrees": git(self.work, "worktree", "list").count("\n"),
            "sessions": (self.folder / "state" / "sessions").exists(),
            "last exit code": self.codes[-1:],
        }

    def _driven(self, run: Path) -> bool:
        """Whether the run had a driver; a start that is killed before that is repeated, and leaves a run."""
        return any(isinstance(event, Attached) for event in self.events(run))

    def _end(self, run: Path) -> tuple[str, str | None]:
        last = self.events(run)[-1]
        return (str(last.outcome), last.final_snapshot) if isinstance(last, RunFinished) else ("open", None)

    def _files(self) -> Iterator[tuple[str, Path]]:
        for path in sorted(self.work.rglob("*")):
            name = path.relative_to(self.work)
            if path.is_file() and name.parts[0] != ".git":
                yield str(name), path

    def faults(self, unharmed: Mapping[str, Any]) -> list[str]:
        """Everything that differs from the undisturbed ending or is otherwise wrong."""
        ending = self.ending()
        return [
            *self.trouble,
            *(
                f"{key}: {ending[key]!r} instead of {unharmed[key]!r}"
                for key in unharmed
                if ending[key] != unharmed[key]
            ),
            *(f"{line} still runs" for line in self.alive()),
            *(f"{path.name} was left in the temporary directory" for path in (self.folder / "tmp").iterdir()),
            *(f"the note {path.name} was left" for path in (self.folder / "state").glob("runs/*/trees/*")),
            *([] if self.of_the_user() == self.belongings else ["the user's index or HEAD was touched"]),
            *self._lost(),
            *self._damage(),
        ]

    def _lost(self) -> Iterator[str]:
        kept = [
            json.loads(line) for run in self.runs for line in (run / "journal.jsonl").read_text().splitlines()
        ]
        events = [line["event"] for line in kept if "event" in line]
        gone = {event.get("run") for event in self.printed if event["type"] == "RunStarted"} - {
            run.name for run in self.runs
        }
        if not gone:  # pruned runs are gone on purpose
            yield from (
                f"{event} was printed, but is not in the journal"
                for event in self.printed
                if event not in events
            )
        trees = set(git(self.work, "for-each-ref", "--format=%(objectname)", "refs/untilgreen").split())
        for run in self.runs:
            taken = [event for event in self.events(run) if isinstance(event, SnapshotTaken)]
            yield from (f"no ref has {each.snapshot}" for each in taken if each.snapshot not in trees)

    def _damage(self) -> list[str]:
        command = ["git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"]
        checked = subprocess.run(command, cwd=self.work, capture_output=True, text=True, check=False)
        said = (checked.stdout + checked.stderr).strip()
        return [f"git fsck: {said}"] if checked.returncode or said else []


@contextmanager
def _terminal() -> Iterator[int]:
    """A terminal on which nobody types anything; yields the end that a command reads."""
    ours, theirs = pty.openpty()
    try:
        yield theirs
    finally:
        os.close(ours)
        os.close(theirs)


def _lines(out: str) -> Iterator[dict[str, Any]]:
    for line in out.splitlines():
        if line.startswith("{"):
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the last line of a process that died
