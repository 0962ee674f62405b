"""Kill every act of a story at every point that it passes, and compare with the same story undisturbed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.stage import Stage, Story

AT_ONCE = 2
LOOKS = frozenset(
    {
        "cat-file",
        "check-ignore",
        "diff-files",
        "diff-tree",
        "for-each-ref",
        "ls-files",
        "ls-tree",
        "rev-parse",
    }
    | {"status", "var"}
)
"""Git commands that only read: being killed before or after them is the same as at the points around them."""


@dataclass(frozen=True)
class Unharmed:
    """A story that was played undisturbed."""

    ending: dict[str, Any]
    points: tuple[tuple[int, str], ...]
    """The points that the story passes, each with the number of its act."""
    faults: list[str]


def unharmed(folder: Path, story: Story) -> Unharmed:
    """Play the story once, undisturbed."""
    stage, points = Stage(folder, story), list[tuple[int, str]]()
    for number, act in enumerate(story.acts):
        points += [(number, point) for point in stage.points(act, number)]
    ending = stage.ending()
    effects = [(number, point) for number, point in points if _verb(point) not in LOOKS]
    return Unharmed(ending, tuple(effects), stage.faults(ending))


def _verb(point: str) -> str:
    what, _, name = point.partition("#")[0].split(":", 2)
    return name if what == "git" else ""


def killed(
    folder: Path, story: Story, known: Unharmed, number: int, *points: str
) -> tuple[list[str], list[str]]:
    """Play the story and kill one act at these points; return the points where it died, and all faults."""
    stage, died = Stage(folder, story), list[str]()
    for each, act in enumerate(story.acts):
        died += stage.finish(act, *(points if each == number else ()))
    faults = [
        f"{story.name}, {' '.join(story.acts[number].words[:2])}, {points}: {fault}"
        for fault in stage.faults(known.ending)
    ]
    if not faults:
        shutil.rmtree(folder)
    return died, faults


def everywhere(
    folder: Path, story: Story, points: Iterable[tuple[int, str]], known: Unharmed
) -> tuple[int, list[str]]:
    """Kill at each of these points, each on a new stage; return how many acts died, and all faults."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tries = [
            pool.submit(killed, folder / f"{turn:04d}", story, known, number, point)
            for turn, (number, point) in enumerate(points)
        ]
        ends = [each.result() for each in tries]
    return sum(len(died) for died, _ in ends), [fault for _, faults in ends for fault in faults]
