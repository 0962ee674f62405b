"""init: write a first spec for a project, from what its files show and its gates say."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple

import anyio
from cyclopts import Parameter

from untilgreen.config.init.detect import OTHER, Detected, detect
from untilgreen.config.init.draft import draft
from untilgreen.config.init.presets import PRESETS, propose
from untilgreen.config.load import Given, Request, load
from untilgreen.config.sources.find import SPEC, find
from untilgreen.config.trust_request import trust_request_of
from untilgreen.core.exit_codes import OK
from untilgreen.core.values.model import Verdict
from untilgreen.engine.operations.try_gates import Tried, try_gates
from untilgreen.engine.store.notes.trust_book import TrustBook
from untilgreen.errors import UserError
from untilgreen.plugins.registry import registry
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.cli.caller import agent_mark
from untilgreen.surfaces.cli.confirm import ask, can_ask
from untilgreen.surfaces.cli.installed_agents import installed
from untilgreen.surfaces.cli.options import HERE, LocalPlace
from untilgreen.surfaces.text.event_lines import ASCII_MARKS, MARKS, verdict_words
from untilgreen.surfaces.text.printing import ascii_only, out, print_problem, tell
from untilgreen.surfaces.text.safe_text import inert, short

BACKUP = f"{SPEC}.bak"
_WIDTH = 150
TASK = "Make the failing tests pass"


class Wanted(NamedTuple):
    """What goes into the file."""

    task: str
    agents: list[str]
    gates: list[Detected]


class Found(NamedTuple):
    """The gates to propose, and what is known about them."""

    gates: list[Detected]
    others: list[Detected]
    """Other commands for the same checks."""
    remarks: Mapping[str, str] = MappingProxyType({})
    """What is wrong with a gate, by its name."""
    signal: int = 0
    """The signal that interrupted the trial of the gates."""


def init(
    *,
    preset: Annotated[
        str | None,
        Parameter(
            completer=completers.presets, metavar="NAME", help=f"Start from a preset: {', '.join(PRESETS)}."
        ),
    ] = None,
    place: LocalPlace = HERE,
    yes_: Annotated[bool, Parameter(name=["--yes", "-y"], help="Don't ask: take every default.")] = False,
    dry_run: Annotated[bool, Parameter(help="Only show the spec: run and write nothing.")] = False,
    no_try: Annotated[bool, Parameter(help="Don't run each gate once before it is proposed.")] = False,
    force: Annotated[bool, Parameter(help=f"Replace an existing spec; it is saved as {BACKUP}.")] = False,
) -> int:
    """Write a spec for this project.

    Finds gates from the project's files, such as pytest, npm, cargo, go or make, and the agents that are
    installed. At a terminal it asks for task, agent and gates, each with a default. Then it runs each gate
    once: where one runs no tests and another command for them does, that one is proposed.
    """
    path = place.start / SPEC
    old = not dry_run and _old(place.start, path, force=force)
    gates, others = detect(place.start)
    proposal = propose(preset, place.start, gates) if preset is not None else None
    wanted = Wanted(
        task=proposal.task if proposal else "",
        agents=installed(),
        gates=list(proposal.gates) if proposal else gates,
    )
    if not yes_ and not dry_run and can_ask():
        wanted = _asked(wanted, place.start)
    found = Found(gates=wanted.gates, others=others)
    if not (no_try or dry_run) and (yes_ or can_ask()):
        found = _tried(found, place)
    if found.signal:
        print_problem(f"interrupted by {signal.Signals(found.signal).name}; nothing was written")
        return 128 + found.signal
    wanted = wanted._replace(gates=found.gates)
    text = draft(wanted.gates, found.others, wanted.agents, wanted.task, found.remarks)
    tell(f"{inert(str(path))}:\n")
    out(text)
    if dry_run:
        return OK
    if not yes_ and not can_ask():
        chosen = f" --preset {preset}" if preset else ""
        raise UserError(f"Nothing was run or written. Write it with: untilgreen init{chosen} --yes")
    _write(path, text, old=old)
    tell(f"Wrote {inert(str(path))}." + (f" The old one is {BACKUP}." if old else ""))
    _trust(place)
    tell(f"Next: {_next(wanted)}")
    return OK


def _tried(found: Found, place: LocalPlace) -> Found:
    """What is proposed once each gate has run; an agent must not make us run untrusted commands."""
    if not found.gates or agent_mark() is not None:
        return found
    marks = ASCII_MARKS if ascii_only() else MARKS

    def said(gate: Detected, verdict: Verdict) -> None:
        tell(f"  {marks[verdict.status]} {inert(gate.run)} {verdict_words(verdict)}")

    async def look() -> list[Tried]:
        state_dir = place.store().state_dir
        return await try_gates(found.gates, found.others, place.start, state_dir=state_dir, said=said)

    tell("Trying each gate once; skip this with --no-try.")
    tried = anyio.run(look)
    if stopped := next((each.signal for each in tried if each.signal), 0):
        return found._replace(signal=stopped)
    for each in tried:
        for over in each.passed_over:
            tell(f"{inert(each.gate.run)!r} runs the tests, and {inert(over.run)!r} showed none.")
        if each.remark:
            tell(f"Look at {inert(each.gate.run)!r} ({inert(each.gate.name)}): {_remark(each)}.")
    chosen = [each.gate for each in tried]
    seen = {each.run: each for each in (*found.gates, *found.others)}
    return Found(
        gates=chosen,
        others=[each for run, each in seen.items() if run not in {gate.run for gate in chosen}],
        remarks={each.gate.name: _remark(each) for each in tried if each.remark},
    )


def _remark(tried: Tried) -> str:
    """What is wrong with a gate, without the end of its sentence."""
    return short(tried.remark, _WIDTH).rstrip(".")


def _asked(wanted: Wanted, start: Path) -> Wanted:
    """Three questions, each with a default; Ctrl-C or the end of input leaves everything as it is."""
    task = ask("What should the agent do?", wanted.task or TASK)
    agent = _agent(wanted.agents, start)
    for gate in wanted.gates:
        tell(f"  {inert(gate.name)}: {inert(gate.run)}")
    names = ", ".join(gate.name for gate in wanted.gates)
    gates = ask(f"Which gates? {'Names from above, or a' if names else 'A'} command of your own:", names)
    rest = [name for name in wanted.agents if name != agent]
    return Wanted(task=task, agents=[agent, *rest] if agent else [], gates=_chosen(gates, wanted.gates))


def _agent(agents: list[str], start: Path) -> str:
    """Asks until the answer is an agent, or empty if none is installed."""
    if agents:
        tell(f"  installed: {', '.join(agents)}; your own command is written cmd:./fix.sh")
    else:
        tell("  no agent is installed; your own command is written cmd:./fix.sh")
    while answer := ask("Which agent?", agents[0] if agents else ""):
        try:
            values = Given(values={"agent": answer}, name="", base=start)
            for part in load(Request(start=start, given=values, taskless=True)).spec.agents:
                registry.check_name("agent", part.use or part.name)
        except UserError as error:
            tell(f"  {error}")
        else:
            return answer
    return ""


def _chosen(answer: str, found: list[Detected]) -> list[Detected]:
    """The named gates, in their order; anything else is a command."""
    by_name = {gate.name: gate for gate in found}
    words = [word.strip() for word in answer.split(",") if word.strip()]
    if words and all(word in by_name for word in words):
        return [gate for gate in found if gate.name in words]
    if not answer.strip():
        return []
    return [Detected(name="check", run=answer.strip(), role=OTHER, seen="")]


def _next(wanted: Wanted) -> str:
    if not wanted.gates:
        return f"add a gate to {SPEC}, then: untilgreen check"
    if not wanted.agents:
        return f"untilgreen check, then name an agent in {SPEC}"
    return "untilgreen run" if wanted.task else f'untilgreen check, then: untilgreen run "{TASK}"'


def _old(start: Path, path: Path, *, force: bool) -> bool:
    """Whether there is a spec to replace; hiding one further up needs --force, too."""
    if path.exists() or path.is_symlink():
        if not force:
            raise UserError(
                f"{path} already exists; nothing was changed. See what it says with "
                "`untilgreen config show`, or replace it with: untilgreen init --force"
            )
        return True
    other = find(start)
    if other is not None and not force:
        raise UserError(
            f"{other} is the spec here, and {path} would replace it for this directory. "
            "Edit it, or write another one anyway with: untilgreen init --force"
        )
    return False


def _write(path: Path, text: str, *, old: bool) -> None:
    """Never overwrite a file that has appeared since."""
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


def _trust(place: LocalPlace) -> None:
    """Trust the new spec: the person who asked for it has seen it; an agent can't trust anything."""
    if agent_mark() is not None:
        return
    request = trust_request_of(load(Request(start=place.start, taskless=True)))
    if request is not None:
        TrustBook(place.store()).remember(request, time.time())
