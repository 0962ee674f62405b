"""Short recorded runs: each letter is one step, and the same letter means the same action and output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from untilgreen.backtest.trajectories import Trajectory, parse

_SYLLABLES = ("bar", "den", "fil", "gon", "kul", "lam", "mes", "nit", "pol", "rus", "sak", "tev")


def steps(letters: str, **more: Any) -> list[dict[str, Any]]:
    """The action and output of each letter, with enough words to be compared."""
    return [
        {
            "action": " ".join(f"{letter}{each}" for each in _SYLLABLES),
            "observation": "\n".join(f"{each} {letter}{each} failed" for each in _SYLLABLES * 4),
            "reward": 0.0,
            **more,
        }
        for letter in letters
    ]


def record(source: str = "here", name: str = "one", **labels: Any) -> dict[str, Any]:
    """One line of a file of recorded runs."""
    return {"source": source, "id": name, **labels}


def run(letters: str, **labels: Any) -> Trajectory:
    """A recorded run, parsed."""
    return parse(json.dumps(record(steps=steps(letters), **labels)).encode(), 1, "test")


def write(path: Path, *records: dict[str, Any]) -> Path:
    """Write a file of recorded runs."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path
