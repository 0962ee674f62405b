"""Shared by the benchmarks of processes: the CPU time and wall time of a command, and of one lap.

Costs are compared only within one run of a benchmark. Ours and the baseline take turns, and the fastest round
counts, because another program on the machine can only make a round slower.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROUNDS = int(os.environ.get("ROUNDS", "5"))


class Cost(NamedTuple):
    """Seconds of CPU time, including all child processes, and of wall time."""

    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.cpu * 1e3:.1f} ms CPU time, {self.wall * 1e3:.1f} ms wall time"


class Ratio(NamedTuple):
    """Our cost divided by the baseline's."""

    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"ratio {self.cpu:.2f} in CPU time, {self.wall:.2f} in wall time"


class Bar(NamedTuple):
    """The target for a ratio, and a second limit for a target that is known to be missed.

    Without the second limit, a benchmark that fails for a known reason would hide a new one.
    """

    most: float
    allowed: float | None = None

    def passes(self, found: float) -> bool:
        """Whether the benchmark passes with this ratio."""
        return found <= (self.most if self.allowed is None else self.allowed)

    def describe(self, found: float) -> str:
        """The bar in words, and whether this ratio misses it."""
        missed = found > self.most
        until = "" if self.allowed is None else f"; fails above {self.allowed:.2f}"
        return f"bar {self.most:.2f}{', missed' if missed else ''}{until}"


ENDLESS = Cost(float("inf"), float("inf"))


def used() -> float:
    """Seconds of CPU time used by child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(
    words: Sequence[str],
    place: Path,
    variables: Mapping[str, str] | None = None,
    *,
    expected: Collection[int] = (0,),
    given: bytes = b"",
) -> Cost:
    """Run one command and measure it."""
    environ = {**os.environ, **(variables or {})}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed, with cached bytecode
    before, started = used(), perf_counter()
    done = subprocess.run(words, cwd=place, env=environ, input=given, capture_output=True, check=False)
    taken = Cost(used() - before, perf_counter() - started)
    assert done.returncode in expected, (words, done.returncode, done.stderr.decode())
    return taken


def interleaved(measures: Mapping[str, Callable[[int], Cost]], rounds: int = ROUNDS) -> dict[str, Cost]:
    """The least cost of each over several rounds; each measure is called with the round's number."""
    best = dict.fromkeys(measures, ENDLESS)
    for number in range(rounds):
        for name, measure in measures.items():
            best[name] = least(best[name], measure(number))
    return best


def each_lap(
    measures: Mapping[str, Callable[[int], Cost]], short: int, long: int, rounds: int = ROUNDS
) -> dict[str, Cost]:
    """The cost of one lap of each: its fastest long run minus its fastest short run, by the extra laps.

    Not the smallest difference: a slow short run would make a lap look cheap. Called with the number of laps.
    """
    best = {(name, laps): ENDLESS for name in measures for laps in (long, short)}
    for _ in range(rounds):
        for (name, laps), so_far in best.items():
            best[name, laps] = least(so_far, measures[name](laps))
    return {name: _per_lap(best[name, long], best[name, short], long - short) for name in measures}


def _per_lap(long: Cost, short: Cost, laps: int) -> Cost:
    return Cost((long.cpu - short.cpu) / laps, (long.wall - short.wall) / laps)


def least(one: Cost, other: Cost) -> Cost:
    """The lower CPU time and the lower wall time, even if they come from different rounds."""
    return Cost(min(one.cpu, other.cpu), min(one.wall, other.wall))


def ratio(ours: Cost, baseline: Cost) -> Ratio:
    """Our cost divided by the baseline's."""
    return Ratio(ours.cpu / baseline.cpu, ours.wall / baseline.wall)


def repository(work: Path, files: Mapping[str, str]) -> Path:
    """A repository with these files in one commit, where git never packs in the background."""
    work.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    settings = ("user.name N", "user.email n@example.org", "gc.auto 0")
    for words in ("init --quiet", *(f"config {setting}" for setting in settings), "add --all"):
        subprocess.run(["git", *words.split()], cwd=work, check=True)
    command = ["git", "commit", "--quiet", "--allow-empty", "--message=start"]
    subprocess.run(command, cwd=work, check=True)
    return work


def script(path: Path, body: str) -> Path:
    """An executable shell script, such as an agent or a gate."""
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path
