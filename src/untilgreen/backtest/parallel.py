"""Many recorded runs on all cores; the result does not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from anyio import CapacityLimiter, create_task_group, to_process

from untilgreen.backtest.replay import decide
from untilgreen.backtest.score import Played, played
from untilgreen.backtest.trajectories import Line, lines, parse
from untilgreen.core.defaults import tuned_for
from untilgreen.core.values.model import PartSpec
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.errors import UserError
from untilgreen.plugins.registry import registry

CHUNK = 1_000_000
"""Bytes of input that a process gets at once; enough to be worth handing over."""
Read = Callable[[int], None]
"""Called with how many bytes of the file have been read."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def play(
    path: Path, detectors: tuple[PartSpec, ...], strategy: PartSpec | None, jobs: int, read: Read
) -> list[Played]:
    """Every run of the file in the order of the file, with what is decided about it."""
    base, name = str(Path.cwd()), str(path)
    if jobs == 1:
        seen: list[Played] = []
        for chunk in _chunks(path):
            seen += _play(chunk, detectors, strategy, base, name)
            read(chunk[-1].read)
        return seen
    limiter = CapacityLimiter(jobs)
    parts: dict[int, list[Played]] = {}

    async def one(number: int, chunk: list[Line]) -> None:
        try:
            parts[number] = await to_process.run_sync(
                _play, chunk, detectors, strategy, base, name, cancellable=True, limiter=limiter
            )
            read(chunk[-1].read)
        finally:
            waiting.release_on_behalf_of(number)

    waiting = CapacityLimiter(2 * jobs)  # so that a large file is not read into memory as a whole
    try:
        async with create_task_group() as tasks:
            for number, chunk in enumerate(_chunks(path)):
                await waiting.acquire_on_behalf_of(number)
                tasks.start_soon(one, number, chunk)
    except* UserError as group:
        raise _first(group) from None
    return [run for number in sorted(parts) for run in parts[number]]


def _first(group: BaseExceptionGroup[UserError]) -> UserError:
    """Reporting one wrong line is enough; the others were cancelled."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


def make_detectors(
    detectors: tuple[PartSpec, ...], base: Path, copies: Mapping[str, Path] | None = None
) -> tuple[Detector, ...]:
    """The detectors behind the names; `copies` has a run's own copies of their code."""
    return tuple(
        registry.create("detector", part.use or part.name, part.options, base=base, copies=copies).object
        for part in detectors
    )


def make_strategy(part: PartSpec, base: Path) -> Strategy:
    """The strategy behind a name."""
    strategy: Strategy = registry.create("strategy", part.use or part.name, part.options, base=base).object
    return strategy


def _chunks(path: Path) -> Iterator[list[Line]]:
    chunk: list[Line] = []
    size = 0
    for line in lines(path):
        chunk.append(line)
        size += len(line.text)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _play(
    chunk: list[Line], detectors: tuple[PartSpec, ...], strategy: PartSpec | None, base: str, path: str
) -> list[Played]:
    watching = make_detectors(detectors, Path(base))
    deciding = make_strategy(strategy, Path(base)) if strategy is not None else None
    runs = (parse(line.text, line.number, path) for line in chunk)
    return [played(run, decide(run, tuned_for(watching, deciding), deciding)) for run in runs]
