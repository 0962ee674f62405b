"""What `untilgreen` alone prints: what it sees here, and the next command."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

from untilgreen import __version__
from untilgreen.config.init.detect import TESTS, Detected, detect
from untilgreen.config.load import Loaded, Request, load
from untilgreen.core.values.units import several, show_duration
from untilgreen.engine.store.catalog import is_driven
from untilgreen.engine.store.reading import status
from untilgreen.engine.store.runs import Store
from untilgreen.errors import JournalError, UserError
from untilgreen.surfaces.cli.installed_agents import installed
from untilgreen.surfaces.text.safe_text import inert, short

TASK = "Make the tests pass"
MOST_GATES = 4


def overview(start: Path, store: Store) -> list[str]:
    """At most a dozen lines."""
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
    return [
        f"untilgreen {__version__} keeps a coding agent working until its gates are green.",
        "",
        *(f"{name:10} {text}" for name, text in rows),
        "",
        *(
            f"{'Next:' if not place else '  or:'} {command}"
            for place, command in enumerate(_next(spec, gates, agents, last))
        ),
        "Help: untilgreen --help",
    ]


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


def _runs(store: Store, start: Path) -> tuple[str, str]:
    """The status of the last run, and a line about all of them."""
    folders = store.runs(start)
    if not folders:
        return "", "none yet"
    try:
        state = store.record(folders[0].id).read().state
    except (JournalError, UserError):
        return "damaged", f"{several(len(folders), 'run')}; the last one can't be read"
    ago = show_duration(max(0.0, time.time() - state.now))
    now = status(state, driven=is_driven(folders[0]))
    return now, f"{several(len(folders), 'run')}; the last one: {now}, {ago} ago"


def _next(spec: Loaded | UserError, gates: list[Detected], agents: list[str], last: str) -> Iterator[str]:
    """The command that most people want here, and the one after it."""
    if isinstance(spec, UserError):
        yield "untilgreen config show"
        return
    if last == "waiting":
        yield "untilgreen answer, which shows the question"
    elif last == "running":
        yield "untilgreen follow"
    elif last in ("open", "paused", "halted"):
        yield "untilgreen why, then: untilgreen resume"
    if spec.path is None:
        yield "untilgreen init"
        yield _at_once(gates, agents)
        return
    yield "untilgreen run" if spec.spec.task else f'untilgreen run "{TASK}"'
    if last:
        yield "untilgreen why"


def _at_once(gates: list[Detected], agents: list[str]) -> str:
    agent = agents[0] if agents else "AGENT"
    gate = next((each.run for each in gates if each.role == TESTS), gates[0].run if gates else "CMD")
    return f'untilgreen run "{TASK}" --agent {agent} --gate {shlex.quote(gate)}'
