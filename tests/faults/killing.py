"""Killing every act of a story at every point that it passes, against the same story, unharmed."""

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
"""A git command that only reads is not an effect: its moments are those of its neighbors."""


@dataclass(frozen=True)
class Unharmed:
    """How a story goes when nothing happens to it."""

    ending: dict[str, Any]
    points: tuple[tuple[int, str], ...]
    """The number of each act, and a point that it passes."""
    faults: list[str]


def unharmed(folder: Path, story: Story) -> Unharmed:
    """Play it once."""
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
    """Play it with one act that dies there; the points that it died at, and all that is wrong afterwards."""
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
    """Kill at each of these points, in a new place each; how many died, and all that was wrong."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tries = [
            pool.submit(killed, folder / f"{turn:04d}", story, known, number, point)
            for turn, (number, point) in enumerate(points)
        ]
        ends = [each.result() for each in tries]
    return sum(len(died) for died, _ in ends), [fault for _, faults in ends for fault in faults]
