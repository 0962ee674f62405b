"""verify: the verb that looks whether a run's result still holds."""

from __future__ import annotations

import signal
from typing import Annotated

import anyio
from cyclopts import Parameter
from msgspec.structs import asdict

from untilgreen.core.exits import GATE, NOT_GREEN, OK
from untilgreen.engine.verifying import Compared, Verified
from untilgreen.engine.verifying import verify as look_again
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import ascii_only, complain, out, out_json, version_line
from untilgreen.surfaces.render import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text import inert, short
from untilgreen.surfaces.verified import ComparedLine, VerifiedLine

_CODES = {"confirmed": OK, "differs": NOT_GREEN, "unknown": GATE}


def verify(
    run: Run = "@last",
    /,
    *,
    head: Annotated[
        str, Parameter(help="The journal's head as a report or the run itself printed it; must be the same.")
    ] = "",
    place: Place = HERE,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")] = False,
) -> int:
    """Check a run's journal line by line, and run its final gates once more on a copy of its final tree.

    Your own files are not touched. Exits with 0 when everything is as the run says, 1 when something
    differs, 6 when a gate can't be run again.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
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
    for word, ids in (("not any more", row.gone), ("not in the journal", row.new)):
        if ids:
            out(f"    {word}: {', '.join(short(each, 100) for each in ids[:10])}")


def _conclude(found: Verified) -> None:
    if found.left_out:
        out(f"Not asked again: {inert(', '.join(found.left_out))}")
    if found.events:
        out(f"{found.events} events, journal head {found.head}")
    if found.tree:
        out(f"final tree {found.tree[:12]}, of lap {found.lap}")
    if found.signal:
        complain(f"interrupted by {signal.Signals(found.signal).name}")
    out(f"{found.answer}: {inert(found.reason)}")
