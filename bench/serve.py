"""The cost of `untilgreen serve`: 500 runs, 10,000 laps, 100 MB of activity, 200 followers, an idle server.

The installed command on a free port, over HTTP. Bars: ready in under 1.5 times the time of a hello-world
server with the same libraries; under 200 MB; under 10 % of a core while nothing happens and 200 followers are
connected; the list of 500 runs, the progress of 10,000 laps and the end of 100 MB of activity in under a
second each; a new server's first list, including opening the runs, in under 1.5 s of CPU time. Left out: the
browser.
"""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import anyio
import msgspec
import psutil
from msgspec.structs import replace

from untilgreen.core.strategies.fixed import Fixed
from untilgreen.core.values.events import Event, RunStarted
from untilgreen.core.values.limits import Limits
from untilgreen.engine.store.run_folder import Meta
from untilgreen.journal.codec import End, encode
from untilgreen.ports import Activity, ShownActivity
from untilgreen.testing.world import World

RUNS, LAPS, FOLLOWERS = 500, 10_000, 200
ACTIVITY = 100_000_000
"""Bytes, over two laps: a lap keeps at most 64 MB."""
IDLE_SECONDS = 10.0
ROUNDS = 5
READY_BAR, MEGABYTES_BAR, IDLE_BAR, ANSWER_BAR, OPENED_BAR = 1.5, 200.0, 0.10, 1.0, 1.5
COMMAND = [str(Path(sys.executable).with_name("untilgreen")), "serve", "--port", "0", "--state-dir"]
HELLO = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def hello(request):
    return Response("hello")
bound = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{bound.getsockname()[1]}/#none", flush=True)
app = Starlette(routes=[Route("/api/v1/health", hello)])
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[bound])
"""


class Served:
    """A server, from its start to its end."""

    def __init__(self, words: list[str]) -> None:
        begun = perf_counter()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        address, _, token = self.process.stdout.readline().strip().partition("#")
        self.port = int(address.rstrip("/").rpartition(":")[2])
        self.headers = {"Authorization": f"Bearer {token}"}
        self.get("/health")
        self.ready_seconds = perf_counter() - begun
        self.told = psutil.Process(self.process.pid)

    def connect(self, path: str) -> http.client.HTTPResponse:
        """Send a request, and return the response before its body is read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", f"/api/v1{path}", headers=self.headers)
        return connection.getresponse()

    def get(self, path: str) -> float:
        """The seconds that a complete response takes."""
        begun = perf_counter()
        while True:
            try:
                answer = self.connect(path)
            except ConnectionError:
                time.sleep(0.01)
                continue
            answer.read()
            assert answer.status == 200, answer.status
            return perf_counter() - begun

    def spent(self) -> float:
        """Seconds of CPU time that the server has used so far."""
        return float(sum(self.told.cpu_times()[:2]))

    def cost(self, path: str) -> float:
        """The CPU time of a response that is computed only once, since its wall time varies too much."""
        before = self.spent()
        self.get(path)
        return self.spent() - before

    def end(self) -> None:
        """Stop the server like Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    with TemporaryDirectory() as folder:
        few, many = anyio.run(_events, 3), anyio.run(_events, LAPS)
        for number in range(RUNS - 1):
            _write(Path(folder), f"{number:07d}xx", few)
        _write(Path(folder), "0000999xx", many)
        _write(Path(folder), "0000888xx", few[:-4])
        _show(Path(folder) / "runs" / "0000888xx", ACTIVITY)
        words = [*COMMAND, folder]
        first_ever = Served(words)
        cold = first_ever.cost("/runs?limit=200")  # nothing has read these journals before
        first_ever.get("/inbox")
        first_ever.get("/runs?limit=1")  # by now all of them are read and cached
        first_ever.end()
        # In turns, because the speed of a shared machine varies.
        pairs = [(_ready([sys.executable, "-c", HELLO]), _ready(words)) for _ in range(ROUNDS)]
        hello, ready = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
        server = Served(words)
        opened = server.cost("/runs?limit=200")
        listed = min(server.get("/runs?limit=200") for _ in range(ROUNDS))
        first = server.cost("/runs/0000999xx/progress")
        course = min(server.get("/runs/0000999xx/progress") for _ in range(ROUNDS))
        shown = min(server.get(f"/runs/0000888xx/laps/{lap}/activity?offset=-200000") for lap in (1, 2))
        followers = [server.connect("/runs/0000888xx/events") for _ in range(FOLLOWERS)]
        time.sleep(2)
        before = server.spent()
        time.sleep(IDLE_SECONDS)
        idle = (server.spent() - before) / IDLE_SECONDS
        megabytes = server.told.memory_info().rss / 1e6
        for each in followers:
            each.close()
        server.end()
    print(f"ready in {ready:.2f} s; a hello-world server (baseline) {hello:.2f} s: ratio {ready / hello:.2f}")
    print(
        f"200 of {RUNS} runs listed in {listed:.3f} s; a new server's first list {opened:.2f} s CPU time, "
        f"without a cache {cold:.2f} s CPU time"
    )
    print(f"progress of {LAPS:,} laps: first {first:.2f} s CPU time, again {course:.3f} s")
    print(f"{ACTIVITY / 1e6:.0f} MB of activity: its end in {shown:.3f} s")
    print(f"idle with {FOLLOWERS} followers: {idle:.1%} of a core, {megabytes:.0f} MB")
    bars = (ready / hello < READY_BAR, megabytes < MEGABYTES_BAR, idle < IDLE_BAR, opened < OPENED_BAR)
    return 0 if all(bars) and max(listed, course, shown) < ANSWER_BAR else 1


def _show(run: Path, size: int) -> None:
    """Write the activity of an agent with a lot of live output."""
    line = msgspec.json.encode(
        ShownActivity(at=1.0, lap=1, attempt=1, activity=Activity(kind="text", text="x" * 900))
    )
    (run / "activity").mkdir()
    for name in ("001", "002"):
        (run / "activity" / f"{name}.shown.jsonl").write_bytes(
            (line + b"\n") * (size // 2 // (len(line) + 1))
        )


def _ready(words: list[str]) -> float:
    server = Served(words)
    server.end()
    return server.ready_seconds


async def _events(laps: int) -> list[Event]:
    world = await World(
        "a", Fixed(iterations=laps), limits=Limits(iterations=laps, time="unlimited"), detectors=()
    ).start()
    await world.runner().drive()
    return list(await world.journal.events())


def _write(folder: Path, name: str, events: list[Event]) -> None:
    run = folder / "runs" / name
    run.mkdir(parents=True)
    meta = Meta(workspace=str(folder), title="make it green")
    (run / "meta.json").write_bytes(msgspec.json.encode(meta))
    first, *rest = events
    assert isinstance(first, RunStarted)
    end, lines = End(), []
    for event in (replace(first, run=name), *rest):
        line, end = encode(event, end)
        lines.append(line)
    (run / "journal.jsonl").write_bytes(b"".join(lines))


if __name__ == "__main__":
    sys.exit(main())
