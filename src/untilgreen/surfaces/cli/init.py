"""init: a first spec for a project, from what its own files say."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.config.detect import detect
from untilgreen.config.draft import draft
from untilgreen.config.find import SPEC, find
from untilgreen.config.load import Request, load
from untilgreen.config.trust import demand_of
from untilgreen.core.exits import OK
from untilgreen.engine.trust import TrustBook
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.agents import installed
from untilgreen.surfaces.cli.ask import can_ask, yes
from untilgreen.surfaces.cli.look import agent_mark
from untilgreen.surfaces.cli.options import HERE, Place
from untilgreen.surfaces.cli.say import out, tell
from untilgreen.surfaces.text import inert

BACKUP = f"{SPEC}.bak"


def init(
    *,
    place: Place = HERE,
    yes_: Annotated[bool, Parameter(name=["--yes", "-y"], help="Write the file without a question.")] = False,
    force: Annotated[
        bool, Parameter(help=f"Replace a spec that is there; the old one is kept as {BACKUP}.")
    ] = False,
) -> int:
    """Write a spec for this directory: gates that its files show, agents that are installed.

    Looks for pytest, unittest, ruff, mypy, npm scripts, vitest, TypeScript, cargo, go, and targets of make
    and just. Nothing is run. The file is shown first, and written only when you say so.
    """
    path = place.start / SPEC
    old = _old(place.start, path, force=force)
    gates, others = detect(place.start)
    text = draft(gates, others, installed())
    tell(f"{'This would replace' if old else 'This would be'} {inert(str(path))}:\n")
    out(text)
    if not yes_:
        if not can_ask():
            raise UserError("Nothing was written. Write it with: untilgreen init --yes")
        if not yes("Write it?"):
            raise UserError("Nothing was written. Save the text above yourself, or try again.")
    _write(path, text, old=old)
    _trust(place)
    tell(f"Wrote {inert(str(path))}." + (f" The old one is {BACKUP}." if old else ""))
    tell("Next: untilgreen check" if gates else f"Next: add a gate to {SPEC}, then: untilgreen check")
    return OK


def _old(start: Path, path: Path, *, force: bool) -> bool:
    """Whether there is a spec to replace; one that is found elsewhere would be hidden, which is said."""
    if path.exists() or path.is_symlink():
        if not force:
            raise UserError(
                f"{path} is there already, and nothing was changed. Look at what holds with "
                "`untilgreen config show`, or replace it with: untilgreen init --force"
            )
        return True
    other = find(start)
    if other is not None and not force:
        raise UserError(
            f"{other} is the spec here, and {path} would take its place for this directory. "
            "Add to it, or write another one all the same with: untilgreen init --force"
        )
    return False


def _write(path: Path, text: str, *, old: bool) -> None:
    """Never over a file that came meanwhile."""
    try:
        if old:
            shutil.copyfile(path, path.with_name(BACKUP))
            path.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(
            f"{path} can't be written: {error.strerror}. Make it writable, or name another with -C."
        ) from error


def _trust(place: Place) -> None:
    """Whoever was shown the file and had it written has looked at it; an agent is nobody in this."""
    if agent_mark() is not None:
        return
    demand = demand_of(load(Request(start=place.start, taskless=True)))
    if demand is not None:
        TrustBook(place.store()).remember(demand, time.time())
