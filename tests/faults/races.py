"""Processes that race each other: for driving a run, for its result, or for its end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.faults.stage import Act, Stage, Story
from tests.faults.stories import COUNTING, RUN
from tests.surfaces.cli.helpers import COMMAND, Done
from untilgreen.core.values.events import Attached, RunFinished

BEGUN = "append:after:RunStarted#1"
MEETINGS: tuple[tuple[str, ...], ...] = (
    ("apply {run}", "apply {run}", "diff {run}", "show {run}"),
    ("apply {run} --undo", "apply {run} --undo", "steer {run} Mind", "list"),
    ("fork {run}@1 --worktree", "fork {run}@1 --worktree", "follow {run}"),
    ("fork {run}@1 --in-place", "fork {run}@1 --in-place", "why {run}"),
    ("prune --keep 0d", "prune --keep 0d", "list", "show {run}", "follow {run}", "list", "apply {run}"),
)
"""Commands to run at the same time, group by group; at least one of each group's first kind must succeed."""


def race(folder: Path, *, times: int, at_once: int) -> list[str]:
    """Race `resume` and return all faults: two drivers, a run without an end, a refusal without a reason."""
    stage = Stage(folder / "stage", Story(name="races", agent=f"sleep 0.1\n{COUNTING}", acts=()))
    faults = list[str]()
    for turn in range(times):
        (stage.work / "counter.txt").write_text("0\n")
        if stage.play(Act(words=RUN), BEGUN).code != -signal.SIGKILL:
            faults.append(f"race {turn}: the run did not begin")
        faults += [f"race {turn}: {fault}" for fault in _raced(stage, at_once)]
    return [*faults, *stage.trouble, *(f"{each} still runs" for each in stage.alive())]


def meet(folder: Path, *, times: int) -> list[str]:
    """Run several commands about a run's result at the same time, and return all faults."""
    return [fault for turn in range(times) for fault in _met(folder / str(turn))]


def _met(folder: Path) -> list[str]:
    stage = Stage(folder, Story(name="meetings", agent=COUNTING, acts=()))
    stage.play(Act(words=(*RUN, "--worktree")))
    run, faults = stage.runs[0].name, list[str]()
    for lines in MEETINGS:
        ends = _said(stage, [line.format(run=run).split() for line in lines])
        same = [end for line, end in zip(lines, ends, strict=True) if line == lines[0]]
        faults += [f"no {lines[0]} succeeded: {same}"] if all(end.code for end in same) else []
        faults += [
            f"{line}: {end}"
            for line, end in zip(lines, ends, strict=True)
            if end.code not in (0, 2) or "Traceback" in end.err or "damaged" in end.out
        ]
    return [*faults, *(f"{each.name} was not pruned" for each in stage.runs), *stage.faults({})]


def _said(stage: Stage, commands: Sequence[Sequence[str]]) -> list[Done]:
    """Start these commands together, and return how each ended."""
    racers = [
        subprocess.Popen(
            [*COMMAND, *words],
            cwd=stage.work,
            env=stage.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in commands
    ]
    printed = [racer.communicate(timeout=100) for racer in racers]
    return [Done(racer.returncode, *texts) for racer, texts in zip(racers, printed, strict=True)]


def _raced(stage: Stage, at_once: int) -> list[str]:
    run = stage.runs[-1]
    said = _said(stage, [("resume", run.name)] * at_once)
    events = stage.events(run)
    drove = sum(isinstance(event, Attached) for event in events)
    driven = f"Run {run.name} is being driven by"
    return [
        *([f"{drove} processes drove it"] if drove != 1 else []),
        *([] if isinstance(events[-1], RunFinished) else ["the run has not ended"]),
        *([] if any(end.code == 0 for end in said) else ["no process ended with exit code 0"]),
        *(f"exit code {end.code}: {end.err}" for end in said if end.code not in (0, 2)),
        *(end.err for end in said if end.code == 2 and driven not in end.err),
    ]
