"""A story of real commands in a place of its own, each of which can be killed at a named point."""

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
"""In the environment of everything that belongs to one of these stages."""
UNHARMED = (0, 1, 3, 4, 5, 129, 130, 143)
"""Exit codes of what went on as it should: over, waiting, or told to leave."""
ALREADY = 2
"""What is done once more may be refused, since it was done; the end tells whether that is true."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """One command; `{run}` in its words is the first run there is, `{agent}` the script."""

    words: tuple[str, ...]
    stdin: Callable[[Stage], str] = lambda stage: ""
    begins: bool = False
    """It makes a run, so that one that was cut off is gone on with by `resume`."""
    before: Callable[[Stage], None] = lambda stage: None
    """What somebody else does first."""
    beside: str = ""
    """A script of what a person does at the same time, in another terminal, until the act is over."""
    terminal: bool = False
    """Whether somebody who could answer sits before it."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """What is played, and by which agent."""

    name: str
    agent: str
    acts: tuple[Act, ...]
    files: Mapping[str, str] = field(default_factory=lambda: {"counter.txt": "0\n"})


@dataclass
class Stage:
    """A project, its user and all that a story leaves there."""

    folder: Path
    story: Story
    codes: list[int] = field(default_factory=list)
    printed: list[dict[str, Any]] = field(default_factory=list)
    """Every event that a process told of before it died: it was acknowledged."""
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
        """The folders of runs that have begun, the oldest first."""
        found = sorted((self.folder / "state" / "runs").glob("*/journal.jsonl"))
        return [path.parent for path in found if decode(path.read_bytes())[0]]

    def events(self, run: Path) -> list[Event]:
        """A journal; reading it checks every line."""
        return decode((run / "journal.jsonl").read_bytes(), name=str(run))[0]

    def say(self, *words: str, stdin: str = "", crash: str = "", terminal: bool = False) -> Done:
        """One command, to whatever end."""
        try:
            done = (
                self._started(words, stdin, crash, terminal)
                if crash or terminal
                else self._forked(words, stdin)
            )
        except (subprocess.TimeoutExpired, TimeoutError) as error:
            self.trouble.append(f"{' '.join(words)} hangs after {crash!r}: {error}")
            return Done(HANGS, "", "")
        if "Traceback" in done.err:
            self.trouble.append(f"{' '.join(words)}: {done.err}")
        self.printed += [line["event"] for line in _lines(done.out) if line.get("type") == "event"]
        return done

    def _forked(self, words: Sequence[str], stdin: str) -> Done:
        """The same in a third of the time, for what is not killed."""
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
        """Do one act."""
        place = {"run": self.runs[0].name if self.runs else "", "agent": f"cmd:{self.folder / 'agent'}"}
        words = [word.format(**place) if "{" in word else word for word in act.words]
        return self.say(*words, stdin=act.stdin(self), crash=crash, terminal=act.terminal)

    def finish(self, act: Act, *crashes: str) -> list[str]:
        """Do an act that dies at these points, one after another, and then once more; gives those reached."""
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
        late = bool(died) and not act.begins and done.code == ALREADY  # who died had done all of it
        self.codes.append(0 if late else done.code)
        if done.code not in (UNHARMED if act.begins else (*UNHARMED, ALREADY)):
            self.trouble.append(f"exit code {done.code} after {died}: {done.err}")
        return died

    def points(self, act: Act, number: int) -> list[str]:
        """Do an act unharmed, and give every point that it passed."""
        listed = self.folder / f"points-{number}"
        act.before(self)
        with self._beside(act):
            self.codes.append(self.play(act, f"list:{listed}").code)
        return listed.read_text().splitlines() if listed.exists() else []

    @contextmanager
    def _beside(self, act: Act) -> Iterator[None]:
        """Nobody leaves in the middle of a command."""
        command, quiet = ["sh", "-c", f"trap exit TERM\n{act.beside}"], subprocess.DEVNULL
        with subprocess.Popen(command, cwd=self.work, env=self.env, stdout=quiet, stderr=quiet) as person:
            try:
                yield
            finally:
                person.terminate()

    def alive(self) -> list[str]:
        """Every process that belongs here, however far it ran."""
        return [" ".join(each.cmdline()) for each in psutil.process_iter() if self._is_ours(each)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == str(
                self.folder
            )
        except psutil.Error:
            return False

    def of_the_user(self) -> tuple[bytes, bytes]:
        """What a run never touches."""
        return (self.work / ".git" / "index").read_bytes(), (self.work / ".git" / "HEAD").read_bytes()

    def ending(self) -> dict[str, Any]:
        """What can be compared with the same story, unharmed."""
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
        """A start that died before anything was done is made again, and its run waits for `prune`."""
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
        """All that is not as it should be."""
        ending = self.ending()
        return [
            *self.trouble,
            *(
                f"{key}: {ending[key]!r} instead of {unharmed[key]!r}"
                for key in unharmed
                if ending[key] != unharmed[key]
            ),
            *(f"{line} still runs" for line in self.alive()),
            *(
                f"{path.name} was left in the directory for temporary files"
                for path in (self.folder / "tmp").iterdir()
            ),
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
        if not gone:  # what was pruned is gone on purpose
            yield from (
                f"{event} was told and is not in the journal" for event in self.printed if event not in events
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
    """The end of a terminal that a command reads; nobody types anything."""
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
