"""One fleet on this machine: servers, machines with workers, a project with a remote, and runs in it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from tests.fleet.machines import AGENT, Machine
from untilgreen.config.load import Request, load
from untilgreen.core.values.events import Event
from untilgreen.core.values.state import RunState
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.fleet.client import Fleet
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.temporal.orders import Order


class FleetBench:
    """A project with a remote, its machines, and the runs that a test starts."""

    def __init__(self, url: str, folder: Path, temporal: int = 0, heartbeat: float = 5.0) -> None:
        self.url, self.folder, self.temporal, self.heartbeat = url, folder, temporal, heartbeat
        self.project, self.remote = folder / "project", folder / "remote.git"
        self.warnings: list[str] = []
        self.machines: dict[str, Machine] = {}
        git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.invalid"]
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.project / "README").write_text("begin\n")
        for words in (
            ["add", "-A"],
            ["commit", "-qm", "start"],
            ["remote", "add", "origin", str(self.remote)],
        ):
            subprocess.run([*git, *words], cwd=self.project, check=True)

    def machine(self, name: str, *options: str) -> Machine:
        """The machine of this name, switched on."""
        machine = self.switched_off(name, *options)
        if not machine.alive:
            machine.start()
        return machine

    def switched_off(self, name: str, *options: str) -> Machine:
        """The machine of this name, made but not switched on."""
        if name not in self.machines:
            grace = () if "--grace" in options else ("--grace", "60s")
            given = ("--slots", "8", *grace, *options)
            self.machines[name] = Machine(name, self.folder, self.url, self.temporal, given)
        return self.machines[name]

    async def ready(self, *names: str) -> list[Machine]:
        """Switch on these machines and no others, and wait until their workers poll."""
        for each in self.machines.values():
            if each.name not in names and each.alive:
                each.die()
        found = [self.machine(name) for name in names]
        for each in found:
            await until(lambda each=each: each.ready or not each.alive)  # type: ignore[misc]
            assert each.ready, each.log()
        return found

    async def driving(self, record: PostgresRecord) -> Machine:
        """Wait until an agent works on the run, and return its machine."""

        async def found() -> Machine | None:
            driver, lap = await record.driver(), (await record.load()).state.open
            if driver is None or lap is None or not lap.offered or lap.reply is not None:
                return None
            if len([note for note in self.notes() if note["run"] == record.id]) == 0:
                return None
            return self.machines[driver.place.rpartition("-")[0]]

        machine: Machine = await until(found)
        return machine

    def other(self, machine: Machine) -> Machine:
        """The other of two machines."""
        (other,) = (each for each in self.machines.values() if each is not machine and each.alive)
        return other

    def notes(self) -> list[dict[str, str]]:
        """The notes of the scripted agents."""
        path = self.folder / "notes"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def agent(self, seconds: float = 1.0) -> str:
        """The command of an agent that takes this many seconds to write a line."""
        return shlex.join([sys.executable, scripted_agent(), str(self.folder / "notes"), str(seconds)])

    def end(self) -> None:
        for each in self.machines.values():
            each.off()

    async def begin(
        self, fleet: Fleet, agent: str | dict[str, Any], gate: str, **spec: Any
    ) -> PostgresRecord:
        limit, failures = spec.pop("limit", ""), spec.pop("failures", 0)
        named = agent if isinstance(agent, dict) else f"cmd:{agent}"
        flags = {"agents": [named], "gates": {"done": {"run": gate}}, **spec}
        request = Request(start=self.project, task="Do it.", flags=flags, search=False)
        order = Order(run="", heartbeat=self.heartbeat, deaf=8.0, limit=limit, failures=failures)
        return await fleet.begin(plan_of(load(request), self.project), order, self.warnings.append)

    async def end_runs(self, fleet: Fleet, *records: PostgresRecord) -> None:
        """Terminate these runs, which would keep machines busy in the next test."""
        for record in records:
            await fleet.client.get_workflow_handle(record.id).terminate()

            async def left(record: PostgresRecord = record) -> bool:
                return await record.driver() is None

            await until(left)

    def git(self, *words: str, there: bool = False) -> str:
        """The output of a git command in the project, or in its remote if `there`."""
        place = ["--git-dir", str(self.remote)] if there else ["-C", str(self.project)]
        return subprocess.run(["git", *place, *words], capture_output=True, text=True, check=True).stdout

    def branch(self, run: str) -> str:
        """The content of `lines` on the delivered branch."""
        shown = ["git", "--git-dir", str(self.remote), "show", f"untilgreen/{run}:lines"]
        return subprocess.run(shown, capture_output=True, text=True, check=True).stdout


def scripted_agent() -> str:
    return str(Path(__file__).with_name(AGENT))


async def until(happened: Callable[[], Any], seconds: float = 180.0) -> Any:
    """Wait until `happened` returns something true, and return that; long, as the machine may be busy."""
    deadline = time.monotonic() + seconds
    while True:
        found = happened()
        found = await found if hasattr(found, "__await__") else found
        if found:
            return found
        assert time.monotonic() < deadline, "It did not happen in time."
        await anyio.sleep(0.1)


async def over(record: PostgresRecord, seconds: float = 240.0) -> RunState:
    """Wait until the run has ended, and return its state."""

    async def ended() -> RunState | None:
        state = (await record.load()).state
        return state if state.outcome else None

    state: RunState = await until(ended, seconds)
    return state


def names(events: Sequence[Event]) -> list[str]:
    return [type(event).__name__ for event in events]
