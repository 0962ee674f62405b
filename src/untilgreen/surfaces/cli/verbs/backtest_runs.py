"""backtest --runs: replay your own runs with other strategies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from untilgreen.core.values.units import several
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import LocalPlace
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.backtest.own_runs import Found
    from untilgreen.backtest.strategies import Replayed, Row
    from untilgreen.core.values.model import PartSpec


def own_runs(
    place: LocalPlace,
    strategies: tuple[PartSpec, ...],
    detectors: tuple[PartSpec, ...],
    svg: Path | None,
    *,
    all_: bool,
    learn: bool,
    json: bool,
) -> int:
    """Replay every run that is over with every strategy, and show what differs."""
    from untilgreen.backtest.learning import replay_learning
    from untilgreen.backtest.own_runs import candidates, find
    from untilgreen.backtest.parallel import make_detectors
    from untilgreen.backtest.strategies import replay, row
    from untilgreen.core.strategies.adaptive import Adaptive

    make_detectors(detectors, Path.cwd())  # a wrong name is reported once, not for each run
    found = find(place.store().runs(None if all_ else place.start), detectors)
    chosen = candidates(strategies, found.runs)
    replayed = {
        each.name: replay_learning(found.runs, each, each.strategy)
        if learn and isinstance(each.strategy, Adaptive)
        else [replay(run, each) for run in found.runs]
        for each in chosen
    }
    rows = [row(name, found.runs, each) for name, each in replayed.items()]
    if svg is not None:
        _draw(svg, rows)
    for trouble in found.trouble:
        tell(f"skipped: {trouble}")
    if json:
        _as_json(rows, replayed)
    else:
        _as_text(found, rows, replayed, all_=all_)
    return 0


def _as_text(found: Found, rows: list[Row], replayed: dict[str, list[Replayed]], *, all_: bool) -> None:
    from untilgreen.surfaces.backtest import strategy_tables

    if not found.runs:
        where, more = ("anywhere", "") if all_ else ("here", " Include other directories with --all.")
        out(f"No run {where} is over and has a lap, so there is nothing to replay.{more}")
        return
    parts = [
        strategy_tables.rows(rows),
        [strategy_tables.sentence(row) for row in rows],
        strategy_tables.picture(rows),
    ]
    differing = strategy_tables.differences(found.runs, replayed)
    parts.append(["Runs that would have ended differently:", *differing] if differing else [])
    for place, lines in enumerate(part for part in parts if part):
        if place:
            out()
        for line in lines:
            out(line)
    if found.open:
        out(f"\nLeft out: {several(found.open, 'run')} not over yet, or without a lap.")


def _as_json(rows: list[Row], replayed: dict[str, list[Replayed]]) -> None:
    from untilgreen.surfaces.backtest.strategy_tables import ReplayLine, StrategyLine

    version_line()
    for row in rows:
        out_json(StrategyLine(**msgspec.structs.asdict(row)))
    for name, all_ in replayed.items():
        for each in all_:
            out_json(ReplayLine(strategy=name, **msgspec.structs.asdict(each)))


def _draw(path: Path, rows: list[Row]) -> None:
    from untilgreen.surfaces.backtest.strategy_tables import svg

    try:
        path.write_text(svg(rows), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}. Name another file.") from error
