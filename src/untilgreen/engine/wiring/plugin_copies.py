"""The run's own copies of plugin files and level files, out of the agent's reach."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from untilgreen.core.values.model import JUDGE_GATE, Plan
from untilgreen.engine.wiring.objects import reviewer
from untilgreen.engine.wiring.workplace import base_of, start_of
from untilgreen.errors import JournalError
from untilgreen.plugins.registry import source_of

LEVELS_GATE = "levels"
_MEASURES = ("equals_file", "json_schema")
"""Options of levels that name a reference file."""


def files_to_copy(plan: Plan, copies: Mapping[str, Path] | None = None) -> dict[str, Path]:
    """Plugin files and the reference files of levels: where each is now, by the name of its copy.

    Files that another run has `copies` of are taken from there.
    """
    there = {name: source for name, source in _level_files(plan).items() if source.is_file()}
    wanted = {**there, **_code(plan)}
    return {_copy_name(name): (copies or {}).get(name, source) for name, source in wanted.items()}


def copy_files(files: Mapping[str, Path], folder: Path) -> None:
    """Copy them out of the agent's reach."""
    for name, source in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)


def copies_in(plan: Plan, folder: Path) -> dict[str, Path]:
    """The copies, by their names in the spec; a plugin file without one is an error."""
    copies = {name: folder / _copy_name(name) for name in _code(plan)}
    for name, copy in copies.items():
        if not copy.exists():
            raise JournalError(
                f"The run's own copy of {name!r} is gone from {folder}, so it can't continue as it began. "
                "Start a new run with `untilgreen run`."
            )
    files = {name: folder / _copy_name(name) for name in _level_files(plan)}
    return {**{name: copy for name, copy in files.items() if copy.exists()}, **copies}


def _level_files(plan: Plan) -> dict[str, Path]:
    """The files that the work is compared with; a file missing at the start is the agent's own work."""
    named = [name for gate in plan.gates if gate.kind == LEVELS_GATE for name in _measures(gate.options)]
    return {name: start_of(plan) / name for name in named}


def _measures(options: Any) -> Iterator[str]:
    match options:
        case dict():
            yield from (options[key] for key in _MEASURES if isinstance(options.get(key), str))
            yield from (name for value in options.values() for name in _measures(value))
        case list() | tuple():
            yield from (name for value in options for name in _measures(value))


def _code(plan: Plan) -> dict[str, Path]:
    parts = (plan.strategy, *plan.detectors, *plan.agents, *plan.notify)
    judges = [reviewer(gate) for gate in plan.gates if gate.kind == JUDGE_GATE]
    names = [each.use or each.name for each in (*parts, *judges)] + [gate.kind for gate in plan.gates]
    sources = {name: source_of(name, base_of(plan)) for name in names}
    return {name: source for name, source in sources.items() if source is not None}


def _copy_name(name: str) -> str:
    mark = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{mark}-{Path(name.rpartition(':')[0] or name).name}"
