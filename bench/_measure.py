"""What the benchmarks of processes share: the cost of a command by processor and by clock, and of one lap.

Costs are compared within one run of a benchmark only, as the least of rounds in which ours and the baseline
take turns: another program on the machine can only make a round slower.
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
    """The processor's seconds, of everything that was started, and the clock's."""

    processor: float
    clock: float

    def __str__(self) -> str:
        return f"{self.processor * 1e3:.1f} ms of the processor, {self.clock * 1e3:.1f} ms"


class Ratio(NamedTuple):
    """Ours by the baseline."""

    processor: float
    clock: float

    def __str__(self) -> str:
        return f"ratio {self.processor:.2f} by the processor, {self.clock:.2f} by the clock"


class Bar(NamedTuple):
    """The most that a ratio should be; for one that is still above it, also the most that is allowed so far.

    A benchmark that always fails for a reason that is known would not show a new one.
    """

    most: float
    allowed: float | None = None

    def holds(self, found: float) -> bool:
        """Whether the benchmark passes."""
        return found <= (self.most if self.allowed is None else self.allowed)

    def beside(self, found: float) -> str:
        """The bar in words, and whether this reaches it."""
        missed = found > self.most
        until = "" if self.allowed is None else f"; fails above {self.allowed:.2f}"
        return f"bar {self.most:.2f}{' missed' if missed else ''}{until}"


ENDLESS = Cost(float("inf"), float("inf"))


def used() -> float:
    """What children that have ended have used of the processor."""
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
    """What one command costs."""
    environ = {**os.environ, **(variables or {})}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    before, started = used(), perf_counter()
    done = subprocess.run(words, cwd=place, env=environ, input=given, capture_output=True, check=False)
    taken = Cost(used() - before, perf_counter() - started)
    assert done.returncode in expected, (words, done.returncode, done.stderr.decode())
    return taken


def interleaved(measures: Mapping[str, Callable[[int], Cost]], rounds: int = ROUNDS) -> dict[str, Cost]:
    """The least cost of each, in rounds in which all take their turn; each is told the round's number."""
    best = dict.fromkeys(measures, ENDLESS)
    for number in range(rounds):
        for name, measure in measures.items():
            best[name] = least(best[name], measure(number))
    return best


def each_lap(
    measures: Mapping[str, Callable[[int], Cost]], short: int, long: int, rounds: int = ROUNDS
) -> dict[str, Cost]:
    """The cost of one lap of each, which is told how many to do: its least long run less its least short one.

    Not the least difference: a short run that something else made slow would make a lap look cheap.
    """
    best = {(name, laps): ENDLESS for name in measures for laps in (long, short)}
    for _ in range(rounds):
        for (name, laps), so_far in best.items():
            best[name, laps] = least(so_far, measures[name](laps))
    return {name: _less(best[name, long], best[name, short], long - short) for name in measures}


def _less(long: Cost, short: Cost, laps: int) -> Cost:
    return Cost((long.processor - short.processor) / laps, (long.clock - short.clock) / laps)


def least(one: Cost, other: Cost) -> Cost:
    """The lesser of each, as they need not come from the same round."""
    return Cost(min(one.processor, other.processor), min(one.clock, other.clock))


def ratio(ours: Cost, baseline: Cost) -> Ratio:
    """How many times the baseline ours costs."""
    return Ratio(ours.processor / baseline.processor, ours.clock / baseline.clock)


def repository(work: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files, in which git packs nothing in the background."""
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
    """An agent of a few lines of shell."""
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return path
