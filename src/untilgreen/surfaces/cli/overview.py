"""What `untilgreen` prints without arguments: what it sees here, and the next command."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from untilgreen import __version__
from untilgreen.config.init.detect import TESTS, Detected, detect
from untilgreen.config.load import Loaded, Request, load
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.operations.apply import was_applied
from untilgreen.engine.store.catalog import is_driven
from untilgreen.engine.store.reading import status
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.workplace import in_worktree
from untilgreen.errors import JournalError, UserError
from untilgreen.surfaces.cli.installed_agents import installed
from untilgreen.surfaces.text.printing import columns_left
from untilgreen.surfaces.text.safe_text import folded, inert, short

TASK = "Make the tests pass"
MOST_GATES = 4
NAMES = 11
"""Columns for the names of the rows."""
MOST_COLUMNS = 10_000
"""Without a terminal, a row is one line."""


def overview(start: Path, store: Store) -> list[str]:
    """At most a dozen lines on a terminal that is wide enough; commands are never wrapped."""
    gates, _ = detect(start)
    agents = installed()
    try:
        spec: Loaded | UserError = load(Request(start=start, taskless=True))
    except UserError as error:
        spec = error
    last, runs = _runs(store, start)
    rows = [
        ("directory", inert(str(start))),
        ("spec", _spec(spec)),
        ("gates", _gates(spec, gates)),
        ("agents", _agents(spec, agents)),
        ("runs", runs),
    ]
    width = columns_left(0, MOST_COLUMNS)
    return [
        *folded(f"untilgreen {__version__} keeps a coding agent working until its gates are green.", width),
        "",
        *(line for name, text in rows for line in _row(name, text, width)),
        "",
        *(
            f"{'Next:' if not place else '  or:'} {command}"
            for place, command in enumerate(_next(spec, gates, agents, last))
        ),
        "Help: untilgreen --help",
    ]


def _row(name: str, text: str, width: int) -> list[str]:
    first, *rest = folded(text, width - NAMES)
    return [f"{name:{NAMES}}{first}", *(f"{'':{NAMES}}{each}" for each in rest)]


def _spec(spec: Loaded | UserError) -> str:
    if isinstance(spec, UserError):
        return short(f"broken: {spec}", 100)
    return "none" if spec.path is None else inert(str(spec.path))


def _gates(spec: Loaded | UserError, found: list[Detected]) -> str:
    if not isinstance(spec, UserError) and spec.path is not None:
        return ", ".join(inert(gate.name) for gate in spec.spec.gates) or "none in the spec"
    named = [f"{gate.name}: {inert(gate.run)}" for gate in found[:MOST_GATES]]
    return ", ".join(named) or "none found in the files; name one with --gate CMD"


def _agents(spec: Loaded | UserError, found: list[str]) -> str:
    """Those of the spec; without any, those that are installed."""
    named = () if isinstance(spec, UserError) else spec.spec.agents
    if named:
        return ", ".join(inert(agent.name) for agent in named)
    return ", ".join(found) or "none found; install one, or use --agent 'cmd:./fix.sh'"


class _Last(Struct, frozen=True, kw_only=True):
    """The last run here."""

    status: str = ""
    """Empty if there is none."""
    working: bool = False
    """Whether a process continues it without a person."""
    good: bool = False
    unapplied: bool = False
    """Whether its result is still in its worktree only."""


def _runs(store: Store, start: Path) -> tuple[_Last, str]:
    """The last run, and a line about all of them."""
    folders = store.runs(start)
    if not folders:
        return _Last(), "none yet"
    record = store.record(folders[0].id)
    try:
        state = record.read().state
    except (JournalError, UserError):
        return _Last(status="damaged"), f"{several(len(folders), 'run')}; the last one can't be read"
    ago = show_duration(max(0.0, time.time() - state.now))
    driven = is_driven(folders[0])
    now = status(state, driven=driven)
    last = _Last(
        status=now,
        working=driven and (state.pause is None or state.pause.until is not None),
        good=state.outcome is not None and state.outcome.good,
        unapplied=in_worktree(state.plan) and state.commit is not None and not was_applied(record),
    )
    return last, f"{several(len(folders), 'run')}; the last one: {now}, {ago} ago"


def _next(spec: Loaded | UserError, gates: list[Detected], agents: list[str], last: _Last) -> Iterator[str]:
    """The command that most people want here, and the ones after it."""
    if isinstance(spec, UserError):
        yield "untilgreen config show"
        return
    yield from _about(last)
    if spec.path is None:
        yield "untilgreen init"
        yield _at_once(gates, agents)
    else:
        yield "untilgreen run" if spec.spec.task else f'untilgreen run "{TASK}"'


def _about(last: _Last) -> Iterator[str]:
    """What the last run needs, or how to see what it did."""
    match last.status:
        case "":
            return
        case "waiting":
            yield "untilgreen answer, which shows the question"
        case _ if last.working:
            yield "untilgreen follow"
        case "open" | "paused" | "halted":
            yield "untilgreen why, then: untilgreen resume"
        case _ if last.good and last.unapplied:
            yield "untilgreen diff, then: untilgreen apply"
        case _:
            yield "untilgreen diff" if last.good else "untilgreen why"


def _at_once(gates: list[Detected], agents: list[str]) -> str:
    agent = agents[0] if agents else "AGENT"
    gate = next((each.run for each in gates if each.role == TESTS), gates[0].run if gates else "CMD")
    return f'untilgreen run "{TASK}" --agent {agent} --gate {shlex.quote(gate)}'
