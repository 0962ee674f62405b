"""backtest --runs: one's own runs with other strategies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import Place
from untilgreen.surfaces.cli.say import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.backtest.pasts import Found
    from untilgreen.backtest.whatif import Replayed, Row
    from untilgreen.core.model import PartSpec


def own_runs(
    place: Place,
    strategies: tuple[PartSpec, ...],
    detectors: tuple[PartSpec, ...],
    svg: Path | None,
    *,
    all_: bool,
    json: bool,
) -> int:
    """Replay every run that is over with every strategy, and tell what differs."""
    from untilgreen.backtest.pasts import candidates, find
    from untilgreen.backtest.spread import made
    from untilgreen.backtest.whatif import replay, row

    made(detectors, Path.cwd())  # a wrong name is said once, and not for each run
    found = find(place.store().runs(None if all_ else place.start), detectors)
    chosen = candidates(strategies, found.runs)
    replayed = {each.name: [replay(run, each) for run in found.runs] for each in chosen}
    rows = [row(name, found.runs, each) for name, each in replayed.items()]
    if svg is not None:
        _draw(svg, rows)
    for trouble in found.trouble:
        tell(f"left out: {trouble}")
    if json:
        _as_json(rows, replayed)
    else:
        _as_text(found, rows, replayed, all_=all_)
    return 0


def _as_text(found: Found, rows: list[Row], replayed: dict[str, list[Replayed]], *, all_: bool) -> None:
    from untilgreen.surfaces import whatif

    if not found.runs:
        where, more = ("anywhere", "") if all_ else ("here", " Look at those of every directory with --all.")
        out(f"No run {where} is over and had a lap, so there is nothing to replay.{more}")
        return
    parts = [whatif.rows(rows), [whatif.sentence(row) for row in rows], whatif.picture(rows)]
    differing = whatif.differences(found.runs, replayed)
    parts.append(["Runs that would have gone otherwise:", *differing] if differing else [])
    for place, lines in enumerate(part for part in parts if part):
        if place:
            out()
        for line in lines:
            out(line)
    if found.open:
        out(f"\n{found.open:,} more are not over, or were over before their first lap.")


def _as_json(rows: list[Row], replayed: dict[str, list[Replayed]]) -> None:
    from untilgreen.surfaces.whatif import ReplayLine, StrategyLine

    version_line()
    for row in rows:
        out_json(StrategyLine(**msgspec.structs.asdict(row)))
    for name, all_ in replayed.items():
        for each in all_:
            out_json(ReplayLine(strategy=name, **msgspec.structs.asdict(each)))


def _draw(path: Path, rows: list[Row]) -> None:
    from untilgreen.surfaces.whatif import svg

    try:
        path.write_text(svg(rows), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}. Name another file.") from error
