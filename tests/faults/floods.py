"""An agent and a gate that print endless, unreadable output."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.faults.stage import Stage, Story
from tests.faults.stories import COUNTING, RUN
from tests.surfaces.cli.helpers import COMMAND

NOISE = (
    r"printf 'caf\351 \377\376 \033]0;owned\007\033[2J\033[31mred\n'; head -c {size} /dev/zero | tr '\0' x"
)
ROOM = 64_000
"""Kilobytes of memory that a flood may cost; far less than the gigabyte that `make soak` prints."""
LONGEST_FILE = 70_000_000
LONGEST_LINE = 65_536 + 2_000
"""The longest event, and room for its seal."""


def flooded(folder: Path, size: int) -> list[str]:
    """Print this many bytes on one line in an agent and in a gate, and return all faults."""
    _, quiet = _peak(Stage(folder / "quiet", _story(0)), 0)
    stage = Stage(folder / "loud", _story(size))
    code, loud = _peak(stage, size)
    (run,) = stage.runs
    lines = (run / "journal.jsonl").read_bytes().splitlines()
    shown = [stage.say(*words).out for words in (("show", "@last"), ("why", "@last"), ("report", "@last"))]
    return [
        *([f"exit code {code}"] if code else []),
        *([f"{loud:,} KB instead of {quiet:,} KB"] if loud > quiet + ROOM else []),
        *(f"a line of {len(line):,} bytes in the journal" for line in lines if len(line) > LONGEST_LINE),
        *(f"{path.name} is too large" for path in run.rglob("*") if path.stat().st_size > LONGEST_FILE),
        *("an escape sequence was shown" for text in shown if "\x1b" in text),
        *stage.faults({}),
    ]


def _story(size: int) -> Story:
    return Story(name="floods", agent=f"{COUNTING}\n{NOISE.format(size=size)}\n", acts=())


def _peak(stage: Stage, size: int) -> tuple[int, int]:
    """The exit code of a run, and the peak memory, in kilobytes, of its largest process."""
    words = [word.replace("{agent}", f"cmd:{stage.folder / 'agent'}") for word in RUN]
    flood = ("--gate", f"noise={NOISE.format(size=size)}")
    process = subprocess.Popen(
        [*COMMAND, *words, *flood],
        cwd=stage.work,
        env=stage.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_maxrss
