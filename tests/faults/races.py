"""Processes that all want to go on with the same run, at the same time."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from tests.faults.stage import Act, Stage, Story
from tests.faults.stories import COUNTING, RUN
from tests.surfaces.cli.helpers import COMMAND
from untilgreen.core.events import Attached, RunFinished

BEGUN = "append:after:RunStarted#1"


def race(folder: Path, *, times: int, at_once: int) -> list[str]:
    """All that went wrong: two that drove, a run that did not end, a refusal that does not say why."""
    stage = Stage(folder / "stage", Story(name="races", agent=f"sleep 0.1\n{COUNTING}", acts=()))
    faults = list[str]()
    for turn in range(times):
        (stage.work / "counter.txt").write_text("0\n")
        if stage.play(Act(words=RUN), BEGUN).code != -signal.SIGKILL:
            faults.append(f"race {turn}: the run did not begin")
        faults += [f"race {turn}: {fault}" for fault in _raced(stage, at_once)]
    return [*faults, *stage.trouble, *(f"{each} still runs" for each in stage.alive())]


def _raced(stage: Stage, at_once: int) -> list[str]:
    run = stage.runs[-1]
    racers = [
        subprocess.Popen(
            [*COMMAND, "resume", run.name],
            cwd=stage.work,
            env=stage.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(at_once)
    ]
    said = [(racer.communicate(timeout=100)[1], racer.returncode) for racer in racers]
    events = stage.events(run)
    drove = sum(isinstance(event, Attached) for event in events)
    return [
        *([f"{drove} drove"] if drove != 1 else []),
        *([] if isinstance(events[-1], RunFinished) else ["the run is not over"]),
        *([] if any(code == 0 for _, code in said) else ["nobody came to its end"]),
        *(f"exit code {code}: {words}" for words, code in said if code not in (0, 2)),
        *(words for words, code in said if code == 2 and f"Run {run.name} is being driven by" not in words),
    ]
