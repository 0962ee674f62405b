"""help: what is no verb and still wants explaining."""

from __future__ import annotations

import sys

from cyclopts import App

from untilgreen.core.exits import MEANINGS
from untilgreen.surfaces import streams
from untilgreen.surfaces.cli.say import out

app = App(name="help", help="Explain exit codes, variables, values and keys; print the manual.")

UNITS = (
    ("durations", "90s  30m  4h  1h30m  500ms  2d  or a number of seconds"),
    ("counts", "20  200k  2M"),
    ("money", "$5  2.50usd  or a number of dollars"),
    ("no limit", 'the word "unlimited"; 0 is an error'),
)
VARIABLES = (
    ("UNTILGREEN_STATE_DIR", "where runs are kept; like --state-dir"),
    ("UNTILGREEN_CONFIG", "the spec file; like --config"),
    ("UNTILGREEN_PROFILE", "the profile of the spec; like --profile"),
    ("UNTILGREEN_ASCII", "set it for plain characters only"),
    ("UNTILGREEN_PLAIN", "set it for lines in place of the live view, as screen readers want; like --plain"),
    ("UNTILGREEN_DEBUG", "set it to see where a defect happened"),
    ("UNTILGREEN_<KEY>", "any key of the spec, two underscores for a dot: UNTILGREEN_LIMITS__COST=5"),
    ("UNTILGREEN_AGENTS_DIR", "where the tests of real agents look for them"),
    ("NO_COLOR, FORCE_COLOR", "colours off, colours on, as everywhere"),
    (
        "UNTILGREEN_INSIDE",
        "set for agents and gates of a run; there answer, trust, restore, apply and prune are refused",
    ),
)


@app.command(name="exit-codes")
def exit_codes() -> int:
    """What each exit code means."""
    for code, meaning in MEANINGS.items():
        out(f"{code:4}  {meaning}")
    return 0


@app.command
def environment() -> int:
    """Which variables of the environment are looked at."""
    return _table(VARIABLES)


@app.command
def units() -> int:
    """How durations, counts and money are written."""
    return _table(UNITS)


@app.command
def spec() -> int:
    """Which keys `untilgreen.toml` has."""
    from untilgreen.config import words

    tables = (
        ("", words.SPEC),
        ("limits.", words.LIMITS),
        ("gates.NAME.", {**words.GATE, **words.COMMAND}),
        ("integrity.", words.INTEGRITY),
    )
    return _table([(start + key, said) for start, table in tables for key, said in table.items()])


@app.command
def manual() -> int:
    """Print the manual page; read it with: untilgreen help manual | man -l -."""
    from untilgreen.surfaces.cli import manual as page
    from untilgreen.surfaces.cli.main import reference

    streams.write(sys.stdout, page.manual(reference()))
    return 0


def _table(rows: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> int:
    width = max(len(name) for name, _ in rows)
    for name, said in rows:
        out(f"{name:{width}}  {said}")
    return 0
