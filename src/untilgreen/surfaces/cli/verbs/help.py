"""help: topics that are not commands."""

from __future__ import annotations

import sys

from cyclopts import App

from untilgreen.core.exit_codes import MEANINGS
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.printing import out

app = App(name="help", help="Explain exit codes, variables, units and spec keys.")

UNITS = (
    ("durations", "90s  30m  4h  1h30m  500ms  2d  or a number of seconds"),
    ("counts", "20  200k  2M"),
    ("money", "$5  2.50usd  or a number of dollars"),
    ("no limit", 'the word "unlimited"; 0 is an error'),
)
VARIABLES = (
    ("UNTILGREEN_STATE_DIR", "where runs are stored; like --state-dir"),
    ("UNTILGREEN_CONFIG", "the spec file; like --config"),
    ("UNTILGREEN_PROFILE", "the profile of the spec; like --profile"),
    ("UNTILGREEN_FLEET", "the database of a fleet: postgresql://USER@HOST/NAME"),
    ("UNTILGREEN_SERVER_TOKEN", "the token of the server that --server names, if it is not on this machine"),
    ("UNTILGREEN_ASCII", "set to 1: plain characters only"),
    ("UNTILGREEN_PLAIN", "set to 1: one line per event instead of the live view; like --plain"),
    ("UNTILGREEN_DEBUG", "set to 1: print a traceback when untilgreen fails"),
    ("UNTILGREEN_<KEY>", "any spec key, with two underscores for a dot: UNTILGREEN_LIMITS__COST=5"),
    ("UNTILGREEN_AGENTS_DIR", "where untilgreen's own tests look for real agents"),
    ("NO_COLOR, FORCE_COLOR", "colors off, colors on"),
    (
        "UNTILGREEN_INSIDE",
        "set by untilgreen for agents and gates; answer, trust, restore, apply and prune are refused there",
    ),
)


@app.command(name="exit-codes")
def exit_codes() -> int:
    """List the exit codes."""
    for code, meaning in MEANINGS.items():
        out(f"{code:4}  {meaning}")
    return 0


@app.command
def environment() -> int:
    """List the environment variables."""
    return _table(VARIABLES)


@app.command
def units() -> int:
    """Explain how durations, counts and money are written."""
    return _table(UNITS)


@app.command
def spec() -> int:
    """List the keys of untilgreen.toml."""
    from untilgreen.config.spec.schema import described_keys

    return _table(list(described_keys()))


@app.command
def manual() -> int:
    """Print the manual page; read it with `untilgreen help manual | man -l -`."""
    from untilgreen.surfaces.cli import manpage as page
    from untilgreen.surfaces.cli.main import reference

    streams.write(sys.stdout, page.manual(reference()))
    return 0


def _table(rows: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> int:
    width = max(len(name) for name, _ in rows)
    for name, said in rows:
        out(f"{name:{width}}  {said}")
    return 0
