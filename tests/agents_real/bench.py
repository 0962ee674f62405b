"""One agent in one project: runs of the real command line, and what their journals say."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import anyio
import psutil
import pytest

from tests.agents_real.clis import search_path
from untilgreen.config.load import Request, load
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions, drive
from untilgreen.engine.driving.start import start
from untilgreen.engine.loop.seat import UNATTENDED
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.journal.reader import read
from untilgreen.testing import ScriptedModel
from untilgreen.testing.model.agent_environments import MODELS, point

GATE = "grep -qx 42 answer.txt"
TASK = "Write the answer into answer.txt."
MARK = "AGENT_BENCH"
EventT = TypeVar("EventT")


def writes(content: str, path: str = "answer.txt") -> dict[str, Any]:
    return {"text": "I will write it.", "calls": [{"write": {"path": path, "content": content}}]}


NEEDS_ALL = ("goose",)
"""Agents that work only with everything permitted."""
NO_TOOLS = ("aider",)
"""Agents that give the model no tools, and have no sessions."""
WRONG, RIGHT = writes("42\n", "wrong.txt"), writes("42\n")
TWO_LAPS = [WRONG, {"text": "I wrote it."}, RIGHT, {"text": "Now it is right."}]


class Hurried:
    """The real time, except that every pause is over at once."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead

    async def sleep_until(self, moment: float) -> None:
        await anyio.lowlevel.checkpoint()
        self.ahead += max(0.0, moment - self.now())


class Bench:
    def __init__(self, agent: str, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.agent = agent
        self.second = ""
        """Another agent to fall back to."""
        self.project = folder / "project"
        self.home = home
        self.state = folder / "state"
        self._mark = f"{os.getpid()}-{folder.name}"
        self._env = monkeypatch
        self.project.mkdir()
        for words in ("init -q", "config user.email t@example.invalid", "config user.name t"):
            subprocess.run(["git", *words.split()], cwd=self.project, check=True)
        (self.project / "README.md").write_text("The answer goes into answer.txt.\n")
        subprocess.run(["git", "add", "-A"], cwd=self.project, check=True)
        subprocess.run(["git", "commit", "-qm", "start"], cwd=self.project, check=True)

    @contextmanager
    def model(self, turns: list[Any], **options: Any) -> Iterator[ScriptedModel]:
        """Run a scripted model, and point this process at it."""
        if self.agent in NO_TOOLS:
            options = {"side": {"when": "never"}, **options}
            turns = _without_tools(turns)
        with ScriptedModel({"turns": turns, **options}, cwd=str(self.project)) as model:
            variables = point(self.agent, model.url, self.home) | {"PATH": search_path(self.agent)}
            if self.second:
                variables |= point(self.second, model.url, self.home)
                variables["PATH"] = search_path(self.second) + os.pathsep + variables["PATH"]
            for name, value in {**variables, MARK: self._mark}.items():
                self._env.setenv(name, value)
            yield model

    def flags(self, **spec: Any) -> dict[str, Any]:
        agents = [{"use": name, "model": MODELS[name]} for name in (self.agent, self.second) if name]
        spec = {"permissions": "all"} | spec if self.agent in NEEDS_ALL else spec
        return {"agents": agents, "gates": {"answer": {"run": GATE}}, **spec}

    def run(self, **spec: Any) -> tuple[RunState, list[Event]]:
        """Do a whole run in this process, where pauses take no time."""

        async def go() -> FolderRecord:
            request = Request(start=self.project, task=TASK, flags=self.flags(**spec))
            store = Store(self.state)
            folder = await start(plan_of(load(request), self.project), store)
            await drive(folder, LocalPremises(store), UNATTENDED, DriveOptions(clock=Hurried()))
            return folder

        folder = anyio.run(go)
        return folder.read().state, list(read(folder.journal)[0])

    def started(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `untilgreen` as a process."""
        command = [sys.executable, "-m", "untilgreen", *arguments, "--state-dir", str(self.state)]
        return subprocess.Popen(
            command,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def cli(self, *arguments: str) -> tuple[int, str]:
        """Run `untilgreen`; its exit code and output."""
        process = self.started(*arguments)
        said, _ = process.communicate(timeout=110)
        return process.returncode, said

    def asked(self, *further: str) -> list[str]:
        """The arguments of a run."""
        agent = f'agent={{use="{self.agent}", model="{MODELS[self.agent]}"}}'
        permitted = ["--yolo"] if self.agent in NEEDS_ALL and "--yolo" not in further else []
        return ["run", TASK, "--gate", GATE, "--set", agent, "--no-input", *permitted, *further]

    def journal(self) -> list[Event]:
        """The events of the only run."""
        folder = Store(self.state).find("@last", self.project)
        return list(read(folder.journal)[0])

    def processes(self, command: str = "") -> list[psutil.Process]:
        """Every process that was started from here; its environment has the mark."""
        found = []
        for process in psutil.process_iter():
            try:
                ours = process.environ().get(MARK) == self._mark and process.pid != os.getpid()
                if ours and command in " ".join(process.cmdline()[-1:]):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def end_all(self) -> list[str]:
        """Kill what was left behind, and say what it was."""
        left = self.left_behind()
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()
        return left

    def left_behind(self) -> list[str]:
        """The processes that still exist a moment later."""
        wait_for(lambda: not self.processes())
        return [repr(each) for each in self.processes()]


def _without_tools(turns: list[Any]) -> list[Any]:
    """The turns of an agent without tools: its answer contains the file and the text after the tool call."""
    joined: list[Any] = []
    for turn in turns:
        if joined and "calls" in joined[-1] and "calls" not in turn and "text" in turn:
            joined[-1] = {"text": turn["text"] + "\n\n" + _in_words(joined[-1])}
        else:
            joined.append(turn)
    return joined


def _in_words(turn: Any) -> str:
    (call,) = turn["calls"]
    return f"{call['write']['path']}\n```\n{call['write']['content']}```\n"


def wait_for(happened: Callable[[], Any], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happened():
            return True
        time.sleep(0.05)
    return bool(happened())


def of(kind: type[EventT], events: list[Event]) -> list[EventT]:
    return [event for event in events if isinstance(event, kind)]
