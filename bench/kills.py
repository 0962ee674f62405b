"""Kill the driver of a real run at random moments with SIGKILL, resume, compare with an undisturbed run.

Real git, real processes: a script increments a number each turn and leaves a process behind in a session of
its own, and a gate is green when the number is high enough. Each run is killed once or several times, also
while it resumes; one kill in four also kills everything that the driver started, as when a container stops.
Baseline: the same run, undisturbed. Bars, for each run: the same outcome, final tree and files; no turn
started before the gates judged the result of the one before; no process still running; every snapshot kept
under its ref; the repository intact, its index and branches unchanged; the journal readable after every kill.

`python bench/kills.py [KILLS [SEED]]`
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from untilgreen.core.values.events import BriefOffered, Event, GateChecked, RunFinished, SnapshotTaken
from untilgreen.errors import JournalError
from untilgreen.journal.codec import decode

KILLS, SEED = 100, 1
AT_ONCE = 2
"""Runs side by side."""
ENOUGH = 3
"""The number that turns the gate green."""
MARK = "KILLS_BENCH_RUN"
"""A variable in the environment of every process that belongs to one of these runs."""
PATIENCE = 60.0
"""Seconds after which something hangs."""
CONTAINER_ENDS = 0.25

# The draft is outside the workspace, so that a turn that is cut short has either counted or not.
AGENT = """\
#!/bin/sh
number=$(cat counter.txt)
echo "begin $number" >> "$OUTSIDE/log"
if command -v setsid > /dev/null; then setsid sleep 600; else sleep 600; fi < /dev/null > /dev/null 2>&1 &
sleep 0.05
echo $((number + 1)) > "$OUTSIDE/draft"
mv "$OUTSIDE/draft" counter.txt
sleep 0.05
echo "done $((number + 1))" >> "$OUTSIDE/log"
"""
RUN = (
    *("run", "Count up.", "--gate", f'enough=test "$(cat counter.txt)" -ge {ENOUGH}'),
    *("--set", "strategy={use = 'fixed', iterations = 50}", "--set", "detectors=[]"),
    *("--set", "limits.errors=1000"),
)


def main() -> int:
    """Print the figures, and fail when a bar is missed."""
    given = [int(word) for word in sys.argv[1:]]
    kills, seed = (*given, *(KILLS, SEED)[len(given) :])
    started = time.monotonic()
    with TemporaryDirectory() as folder:
        unbroken, broken = play(Path(folder), kills, seed)
        outcome = unbroken.outcome
        print(f"undisturbed run (baseline): {outcome}, tree {unbroken.tree}, {unbroken.seconds:.1f} s")
        faults = [f"{run.folder.name}: {fault}" for run in broken for fault in faults_of(run, unbroken)]
    died = Counter(event for run in broken for event in run.died_after)
    print(f"{died.total()} kills in {len(broken)} runs, seed {seed}, {time.monotonic() - started:.0f} s")
    print("killed after: " + ", ".join(f"{event} {times}" for event, times in died.most_common()))
    print(f"faults: {len(faults)}, bar 0", *faults, sep="\n  ")
    return int(bool(faults) or died.total() < kills or outcome != "converged")


def play(folder: Path, kills: int, seed: int) -> tuple[Played, list[Played]]:
    """One undisturbed run, and as many others as that number of kills takes."""
    unbroken, dice, broken = Played(folder / "unbroken"), random.Random(seed), list[Played]()
    unbroken.finish()
    while not any(run.trouble for run in (unbroken, *broken)):
        left = kills - sum(len(run.died_after) for run in broken)
        if left <= 0:
            break
        suffering = list[Future[None]]()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for times in _shares(dice, left):
                run = Played(folder / f"broken-{len(broken):03d}")
                broken.append(run)
                dies = random.Random(dice.random())
                suffering.append(pool.submit(run.suffer, times, unbroken.seconds, dies))
        for each in suffering:
            each.result()
    return unbroken, broken


def _shares(dice: random.Random, kills: int) -> Iterator[int]:
    """How often to kill each run; one that ends earlier is killed less often."""
    while kills > 0:
        times = min(kills, dice.choice((1, 1, 2, 3, 5)))
        kills -= times
        yield times


@dataclass
class Played:
    """One run in its own repository, and what happened to it."""

    folder: Path
    seconds: float = 0.0
    """How long the last driver took, from the moment it had the run's lock."""
    died_after: list[str] = field(default_factory=list)
    """The last event in the journal at each kill."""
    trouble: list[str] = field(default_factory=list)
    """Errors while playing it."""

    def __post_init__(self) -> None:
        self.work = self.folder / "work"
        self.work.mkdir(parents=True)
        (self.folder / "log").touch()
        (self.folder / "agent").write_text(AGENT)
        (self.folder / "agent").chmod(0o755)
        (self.work / "counter.txt").write_text("0\n")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "--quiet", "--message=zero")
        self.belongings = self.of_the_user()

    @property
    def journal(self) -> Path | None:
        """The journal; None before there is one."""
        return next(self.folder.glob("state/runs/*/journal.jsonl"), None)

    @property
    def outcome(self) -> str:
        """How the run ended; `open` if it has not."""
        return str(self._end.outcome) if self._end else "open"

    @property
    def tree(self) -> str | None:
        """The final tree, according to the journal."""
        return self._end.final_snapshot if self._end else None

    @property
    def _end(self) -> RunFinished | None:
        last = self.events()[-1:]
        return last[0] if last and isinstance(last[0], RunFinished) else None

    def events(self) -> list[Event]:
        """The journal; reading it checks every line."""
        return decode(self.journal.read_bytes())[0] if self.journal else []

    def finish(self) -> None:
        """Start or resume the run and drive it to its end."""
        with self._driver() as driver:
            since = self._wait_until_it_drives(driver)
            self._see_out(driver, PATIENCE)
            self.seconds = time.monotonic() - since
            if driver.returncode is None:
                driver.kill()
                self.trouble.append(f"no end after {PATIENCE:.0f} seconds")

    def suffer(self, times: int, seconds: float, dice: random.Random) -> None:
        """Kill the run this many times, at moments spread over its whole length, then drive it to its end."""
        while len(self.died_after) < times and self.outcome == "open" and not self.trouble:
            left = seconds * (1 - int((self.work / "counter.txt").read_text()) / (ENOUGH + 1))
            self._kill(dice.uniform(0.0, left), everything=dice.random() < CONTAINER_ENDS)
        self.finish()

    def _kill(self, after: float, *, everything: bool) -> None:
        with self._driver() as driver:
            self._wait_until_it_drives(driver)
            self._see_out(driver, after)
            if driver.returncode is not None:
                return
            driver.kill()
            for process in self.alive() if everything else ():
                with suppress(psutil.NoSuchProcess):  # it ended on its own
                    process.kill()
        try:
            self.died_after.append(type(self.events()[-1]).__name__)
        except JournalError as error:
            self.trouble.append(f"after a kill the journal could not be read: {error}")

    def _driver(self) -> subprocess.Popen[bytes]:
        verb = ["resume"] if self.journal else [*RUN, "--agent", f"cmd:{self.folder / 'agent'}"]
        return subprocess.Popen(
            [sys.executable, "-m", "untilgreen", *verb, "--json", "--state-dir", str(self.folder / "state")],
            cwd=self.work,
            env={**os.environ, MARK: str(self.folder), "OUTSIDE": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def _wait_until_it_drives(self, driver: subprocess.Popen[bytes]) -> float:
        """Wait until the run exists, or has this driver: before that, Python is only starting."""
        resumed, mine = self.journal is not None, f'"pid":{driver.pid},'
        while driver.poll() is None:
            if self.journal and (not resumed or mine in self.journal.with_name("lock").read_text()):
                break
            time.sleep(0.001)
        return time.monotonic()

    def _see_out(self, driver: subprocess.Popen[bytes], seconds: float) -> None:
        """Wait this long for it to end; an exit code other than 0 is an error."""
        try:
            said = driver.communicate(timeout=seconds)[1].decode().strip()
        except subprocess.TimeoutExpired:
            return
        if driver.returncode:
            self.trouble.append(f"exit code {driver.returncode}: {said}")

    def alive(self) -> list[psutil.Process]:
        """Every process of this run, including those that left the driver's session."""
        return [process for process in psutil.process_iter() if _mark_of(process) == str(self.folder)]

    def git(self, *arguments: str) -> str:
        """The output of a git command in this repository."""
        done = subprocess.run(["git", *arguments], cwd=self.work, capture_output=True, check=True, text=True)
        return done.stdout

    def of_the_user(self) -> tuple[bytes, bytes, str]:
        """What a run must not touch: the user's index, HEAD, branches and stash."""
        inside = self.work / ".git"
        refs = self.git("for-each-ref", "refs/heads", "refs/stash")
        return (inside / "index").read_bytes(), (inside / "HEAD").read_bytes(), refs

    def files(self) -> dict[str, str]:
        """The files in the workspace, with their text."""
        found = {path.relative_to(self.work): path for path in self.work.rglob("*") if path.is_file()}
        return {str(name): path.read_text() for name, path in found.items() if name.parts[0] != ".git"}


def faults_of(run: Played, unbroken: Played) -> list[str]:
    """Everything that differs from the undisturbed run or is otherwise wrong."""
    same: list[tuple[str, object, object]] = [
        ("outcome", run.outcome, unbroken.outcome),
        ("final tree", run.tree, unbroken.tree),
        ("files", run.files(), unbroken.files()),
        ("index, HEAD and branches", run.of_the_user(), run.belongings),
        ("running processes", [process.pid for process in run.alive()], []),
    ]
    unlike = [f"{what}: {mine!r} instead of {wanted!r}" for what, mine, wanted in same if mine != wanted]
    return [*run.trouble, *unlike, *blind_turns(run), *lost_trees(run), *damage(run)]


def blind_turns(run: Played) -> list[str]:
    """Turns that were done twice, or started before the gates judged the result of the one before."""
    log = [line.split() for line in (run.folder / "log").read_text().splitlines()]
    begun = [int(number) for word, number in log if word == "begin"]
    reached = Counter(int(number) for word, number in log if word == "done")
    events = run.events()
    offers = [place for place, event in enumerate(events) if isinstance(event, BriefOffered)]
    return [
        *(
            f"turn {number} started before the gates judged the result of the one before"
            for number, (one, other) in enumerate(pairwise(offers), 2)
            if not any(isinstance(event, GateChecked) for event in events[one:other])
        ),
        *(f"{number} was reached {times} times" for number, times in reached.items() if times > 1),
        *(
            f"a turn started at {later} after one at {number}"
            for number, later in pairwise(begun)
            if later < number
        ),
        *([f"{len(begun)} turns started, {len(offers)} recorded"] if len(begun) > len(offers) else []),
    ]


def lost_trees(run: Played) -> list[str]:
    """Snapshots in the journal that no ref keeps, and laps without a ref for their number."""
    prefix = f"refs/untilgreen/{run.journal.parent.name if run.journal else ''}/"
    listed = run.git("for-each-ref", "--format=%(refname) %(objectname)", prefix)
    refs = {name: tree for name, tree in map(str.split, listed.splitlines())}
    taken = [event for event in run.events() if isinstance(event, SnapshotTaken)]
    laps = {f"{prefix}{event.lap}" for event in taken if event.phase == "turn"}
    return [
        *(f"no ref has {event.snapshot}" for event in taken if event.snapshot not in refs.values()),
        *(f"there is no {ref}" for ref in sorted(laps - refs.keys())),
    ]


def damage(run: Played) -> list[str]:
    """Errors that `git fsck` reports."""
    command = ["git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"]
    checked = subprocess.run(command, cwd=run.work, capture_output=True, text=True, check=False)
    said = (checked.stdout + checked.stderr).strip()
    return [f"git fsck: {said}"] if checked.returncode or said else []


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(MARK)
    except psutil.Error:
        return None


if __name__ == "__main__":
    sys.exit(main())
