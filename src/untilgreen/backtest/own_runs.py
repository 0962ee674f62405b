"""Your own runs, read from their journals, and the strategies to compare them with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from untilgreen.backtest.parallel import make_detectors
from untilgreen.backtest.strategies import Candidate, PastRun, name_of, past_run
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.model import PartSpec
from untilgreen.core.values.rules import Detector
from untilgreen.engine.store.run_folder import RunFolder
from untilgreen.engine.wiring.plugin_copies import copies_in
from untilgreen.engine.wiring.workplace import base_of
from untilgreen.errors import JournalError, UserError
from untilgreen.journal.reader import read
from untilgreen.plugins.registry import registry

USUAL = (
    PartSpec(name="fixed", options={"iterations": 3}),
    PartSpec(name="fixed", options={"iterations": 5}),
    PartSpec(name="hybrid", options={"base": 3, "bonus": 2}),
    PartSpec(name="hybrid", options={"base": 4}),
    PartSpec(name="hybrid"),
    PartSpec(name="adaptive"),
)
"""What runs are compared with by default."""
_PROMISED = PartSpec(name="ralph")


class Found(Struct, frozen=True, kw_only=True):
    """The runs that can be replayed, and why others can't."""

    runs: tuple[PastRun, ...]
    open: int
    """Runs that are not over, or have no lap."""
    trouble: tuple[str, ...]


def find(folders: Sequence[RunFolder], detectors: tuple[PartSpec, ...]) -> Found:
    """Every run that is over, the oldest first, with these detectors or the run's own."""
    runs: list[PastRun] = []
    trouble: list[str] = []
    unfit = 0
    for folder in reversed(folders):
        try:
            run = _read(folder, detectors)
        except (JournalError, UserError) as error:
            trouble.append(f"{folder.id}: {error}")
            continue
        unfit += run is None
        runs += [run] if run is not None else []
    return Found(runs=tuple(runs), open=unfit, trouble=tuple(trouble))


def candidates(strategies: tuple[PartSpec, ...], runs: Sequence[PastRun]) -> list[Candidate]:
    """The strategies by name; ralph is among the usual ones only if some run had a promise."""
    promised = any(run.state.plan.promise is not None for run in runs)
    chosen = strategies or (*USUAL, *((_PROMISED,) if promised else ()))
    return [
        Candidate(
            name=name_of(part),
            strategy=registry.create("strategy", part.use or part.name, part.options, base=Path.cwd()).object,
        )
        for part in chosen
    ]


def _read(folder: RunFolder, detectors: tuple[PartSpec, ...]) -> PastRun | None:
    events, _ = read(folder.journal)
    first = events[0] if events else None
    if not isinstance(first, RunStarted):
        return None
    watching: tuple[Detector, ...]
    if detectors:
        watching = make_detectors(detectors, Path.cwd())
    else:
        watching = make_detectors(
            first.plan.detectors, base_of(first.plan), copies_in(first.plan, folder.code)
        )
    return past_run(events, watching)
