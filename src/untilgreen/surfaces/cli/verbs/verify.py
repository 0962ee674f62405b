"""verify: check that a run's result still holds."""

from __future__ import annotations

import signal
from typing import Annotated

import anyio
from cyclopts import Parameter
from msgspec.structs import asdict

from untilgreen.core.exit_codes import GATE, NOT_GREEN, OK
from untilgreen.engine.operations.verify import Compared, Verified
from untilgreen.engine.operations.verify import verify as look_again
from untilgreen.surfaces.cli.options import HERE, FleetPlace, Json, Run
from untilgreen.surfaces.json.verify_lines import ComparedLine, VerifiedLine
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, print_problem, version_line
from untilgreen.surfaces.text.safe_text import inert, short

_CODES = {"confirmed": OK, "differs": NOT_GREEN, "unknown": GATE}


def verify(
    run: Run = "@last",
    /,
    *,
    head: Annotated[
        str,
        Parameter(metavar="HASH", help="Also require this journal head, as a report or the run printed it."),
    ] = "",
    place: FleetPlace = HERE,
    json: Json = False,
) -> int:
    """Check a run's journal, and run its final gates again.

    The gates run on a copy of the final files; your own are not touched. Exits with 0 if everything is as
    recorded, 1 if something differs, 6 if a gate can't run again.
    """
    folder = place.find(run)

    def said(row: Compared) -> None:
        if json:
            out_json(ComparedLine(**asdict(row)))
        else:
            _say(row)

    async def look() -> Verified:
        return await look_again(folder, head=head, said=said, signals=True)

    if json:
        version_line()
    found = anyio.run(look)
    code = 128 + found.signal if found.signal else _CODES[found.answer]
    if json:
        out_json(VerifiedLine(exit_code=code, **asdict(found)))
    else:
        _conclude(found)
    return code


def _say(row: Compared) -> None:
    marks = ASCII_MARKS if ascii_only() else MARKS
    sameness = "as recorded" if row.same else f"recorded: {row.recorded}"
    out(f"{marks[row.verdict.status]} {inert(row.gate)} {verdict_words(row.verdict)} ({sameness})")
    for word, ids in (("gone", row.gone), ("new", row.new)):
        if ids:
            out(f"    {word}: {', '.join(short(each, 100) for each in ids[:10])}")


def _conclude(found: Verified) -> None:
    if found.left_out:
        out(f"Not run again: {inert(', '.join(found.left_out))}")
    if found.events:
        out(f"{found.events} events, journal head {found.head}")
    if found.tree:
        out(f"final tree {found.tree[:12]}, of lap {found.lap}")
    if found.signal:
        print_problem(f"interrupted by {signal.Signals(found.signal).name}")
    out(f"{found.answer}: {inert(found.reason)}")
