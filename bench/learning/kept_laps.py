"""Recorded runs with their laps measured, cached in the temporary directory: parsing outputs takes minutes.

The cache is rebuilt when the data, the parsers or the comparison of laps change. With it, detectors can be
tried one after another in seconds.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

import untilgreen
from untilgreen.backtest.parallel import cores
from untilgreen.backtest.replay import beginning, lap_of
from untilgreen.backtest.trajectories import lines, parse
from untilgreen.core.scoring.measure import close_lap
from untilgreen.core.values.state import Lap, Open

LAPS = (
    "aider-swebench-lite",
    "autoverus",
    "gates-gemini3",
    "gates-kernel",
    "intercode-bash",
    "intercode-ctf",
    "intercode-python",
    "intercode-sql",
)
"""Sources whose steps are laps: a reply and the output of a gate. In the others a step is a tool call."""
_INTERCODE = re.compile(r"ic_[a-z]+_(?:multiturn_)?(?P<model>.+?)_\d+_turns.*__(?P<task>\w+)")
_REPEATED = re.compile(r"(?:run\d+__|\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d__|\d{8}_SWE-agent_.+?__)(?P<task>.+)")


class KeptRun(Struct, frozen=True, kw_only=True):
    """One run: its model and task, how it ended, and its laps."""

    source: str
    id: str
    model: str
    task: str
    success: bool
    onset: int | None
    """The first step of the loop in which the run failed, if it did."""
    laps: tuple[Lap, ...]
    attempts: tuple[tuple[Lap, ...], ...]
    """The laps of each new attempt, measured separately; empty if the source doesn't number them."""


def kept_runs(paths: Sequence[Path]) -> Iterator[KeptRun]:
    """The runs of these files, in order; where steps are tool calls, only the successes."""
    decoder = msgspec.json.Decoder(KeptRun)
    for path in paths:
        with _cache(path).open("rb") as file:
            yield from map(decoder.decode, file)


def names(run: str, line: dict[str, object]) -> tuple[str, str]:
    """Model and task, from the id or else from the line; the model is empty if the source names none."""
    if found := _INTERCODE.fullmatch(run):
        return found["model"], found["task"]
    same = _REPEATED.fullmatch(run)
    return str(line.get("model") or ""), str(line.get("task") or (same["task"] if same else run))


def mark(path: Path, places: Sequence[str]) -> str:
    """A hash that changes with the data and with the code in these packages and modules."""
    found = sha256(f"{path.stat().st_size}".encode())
    root = Path(untilgreen.__file__).parent
    for name in places:
        place = root / name
        for module in [place] if place.suffix else sorted(place.rglob("*.py")):
            found.update(module.read_bytes())
    return found.hexdigest()[:12]


def _cache(path: Path) -> Path:
    made_by = mark(path, ("core/values", "core/scoring/measure.py", "gates/output", "backtest/replay.py"))
    cache = Path(tempfile.gettempdir()) / f"untilgreen-laps-{path.stem}-{made_by}.jsonl"
    if cache.exists():
        return cache
    draft = cache.with_suffix(".draft")
    texts = [(line.text, line.number, str(path)) for line in lines(path)]
    with draft.open("wb") as file, ProcessPoolExecutor(cores()) as pool:
        for made in filter(None, pool.map(_kept, texts, chunksize=20)):
            file.write(made + b"\n")
    return draft.replace(cache)


def _kept(line: tuple[bytes, int, str]) -> bytes:
    """The run in this line, encoded; empty for a run that no comparison uses."""
    run = parse(*line)
    if not run.success and run.source not in LAPS:
        return b""
    laps = [lap_of(step, place + 1) for place, step in enumerate(run.steps)]
    model, task = names(run.id, json.loads(line[0]))
    return msgspec.json.encode(
        KeptRun(
            source=run.source,
            id=run.id,
            model=f"{run.source} {model}".strip(),
            task=task,
            success=bool(run.success),
            onset=run.terminal_loop_onset if run.terminal_loop else None,
            laps=_measured(laps),
            attempts=tuple(_measured(laps[begin:end]) for _, begin, end in run.attempts),
        ),
        enc_hook=dict,  # verdicts are a read-only mapping
    )


def _measured(laps: Sequence[Open]) -> tuple[Lap, ...]:
    state = beginning("kept")
    for lap in laps:
        state = close_lap(state, lap)
    return state.laps
