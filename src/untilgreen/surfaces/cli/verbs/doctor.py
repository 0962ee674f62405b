"""doctor: check that everything a run needs is installed, and say how to fix what isn't."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio

from untilgreen.agents.kit.readiness import logged_out
from untilgreen.config.load import Loaded
from untilgreen.core.exit_codes import NOT_GREEN, OK
from untilgreen.core.values.model import CONTAINERS, NO_SANDBOX, GateSpec, SandboxSpec
from untilgreen.engine.operations.doctor import Row, ask, containers, machine, sandbox, version_in
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.wiring.plan import check_installed
from untilgreen.errors import UserError
from untilgreen.regex import regex
from untilgreen.surfaces.cli.caller import agent_mark
from untilgreen.surfaces.cli.installed_agents import AgentProgram, agent_programs
from untilgreen.surfaces.cli.options import HERE, NO_FLAGS, Json, LocalPlace, SpecFlags
from untilgreen.surfaces.cli.verbs.install import DEADLINE, program
from untilgreen.surfaces.install.hook_health import Programs, hook_rows
from untilgreen.surfaces.json.lines import DoctorResult, HealthLine
from untilgreen.surfaces.text.printing import ascii_only, out, out_json, version_line
from untilgreen.surfaces.text.safe_text import inert

_MARKS = {"ok": "✓", "absent": "·", "warn": "!", "fail": "✕"}
_ASCII_MARKS = {"ok": "ok", "absent": "-", "warn": "!", "fail": "x"}
_PLAIN = regex(r"[\w./+-]+")
_IN_THE_SHELL = frozenset(
    {"cd", "test", "true", "false", "echo", "exit", "set", "export", "if", "for", "while", "exec"}
)


def doctor(*, spec: SpecFlags = NO_FLAGS, place: LocalPlace = HERE, json: Json = False) -> int:
    """Check that everything a run needs is installed, and say how to fix what isn't.

    Checks git, disk, permissions, agents, their hooks and the spec. Takes the options of `run`. Starts git,
    bwrap, and the agents for their version and login only: no gates, no turn. Exits with 0 if all is well, 1
    if a check fails.
    """
    if json:
        version_line()

    async def look() -> bool:
        failed = False
        async for row in _rows(spec, place):
            failed = failed or row.status == "fail"
            _say(row, json=json)
        return failed

    code = NOT_GREEN if anyio.run(look) else OK
    if json:
        out_json(DoctorResult(exit_code=code))
    return code


async def _rows(spec: SpecFlags, place: LocalPlace) -> AsyncIterator[Row]:
    start = place.start
    async for row in machine(place.store(), start):
        yield row
    loaded: Loaded | None = None
    try:
        loaded = spec.load(start, None, taskless=True)
        check_installed(loaded)
        yield _spec(loaded, place)
    except UserError as error:
        yield Row(
            name="spec",
            status="fail",
            detail=str(error),
            fix="fix it; untilgreen config show prints the settings",
        )
    asked = SandboxSpec() if loaded is None else loaded.spec.sandbox
    if asked.mode in CONTAINERS:
        yield await containers(asked.mode, asked.image)
    else:
        yield await sandbox(needed=asked.mode != NO_SANDBOX)
    wanted = [agent.use or agent.name for agent in loaded.spec.agents] if loaded else []
    async for row in _agents(wanted, start):
        yield row
    for row in hook_rows(start, Programs(own=program(shared=False), shared=program(shared=True)), DEADLINE):
        yield row
    for gate in loaded.spec.gates if loaded else ():
        if (problem := _gate(gate, start)) is not None:
            yield problem
    yield _terminal()


def _spec(loaded: Loaded, place: LocalPlace) -> Row:
    if loaded.path is None:
        return Row(
            name="spec", status="absent", detail="none here; only options apply", fix="untilgreen init"
        )
    try:
        TrustBook(place.store()).require(loaded)
    except Untrusted as unknown:
        return Row(name="spec", status="warn", detail=str(unknown), fix="untilgreen trust")
    return Row(name="spec", detail=str(loaded.path))


async def _agents(wanted: list[str], start: Path) -> AsyncIterator[Row]:
    found = list(agent_programs())
    for each in found:
        yield await _agent(each, start, needed=each.name in wanted)
    if not any(each.path for each in found) and not wanted:
        names = " or ".join(each.name for each in found)
        detail = "no known agent is installed, and the spec names none"
        yield Row(name="agents", status="warn", detail=detail, fix=f"install {names}, or use --agent 'cmd:…'")


async def _agent(each: AgentProgram, start: Path, *, needed: bool) -> Row:
    name = f"agent {each.name}"
    if each.path is None:
        detail = f"command not found: {each.program}" + (", and the spec names it" if needed else "")
        return Row(name=name, status="fail" if needed else "absent", detail=detail, fix=each.install)
    ran = await ask([each.path, *each.version], start)
    if ran is None or not ran.ok:
        detail = f"{each.path} doesn't print its version"
        return Row(name=name, status="fail" if needed else "warn", detail=detail, fix=each.install)
    version = version_in(ran.stdout + ran.stderr)
    missing = await _missing_flags(each, start)
    if missing:
        detail = f"{version} doesn't support {', '.join(missing)}, which untilgreen uses"
        return Row(name=name, status="fail" if needed else "warn", detail=detail, fix=each.install)
    if each.about.status and await logged_out(each.about, each.path, start):
        detail = f"{version} ({each.path}) is not logged in"
        return Row(name=name, status="fail" if needed else "warn", detail=detail, fix=each.about.login)
    return Row(name=name, detail=f"{version} ({each.path})")


async def _missing_flags(each: AgentProgram, start: Path) -> list[str]:
    if each.path is None or not each.flags:
        return []
    ran = await ask([each.path, *each.help], start)
    text = f"{ran.stdout}\n{ran.stderr}" if ran is not None else ""
    return [flag for flag in each.flags if flag not in text]


def _gate(gate: GateSpec, start: Path) -> Row | None:
    """Only what is certainly wrong: a plain first word that is not a program."""
    command = gate.options.get("run")
    if not isinstance(command, str) or gate.options.get("cwd"):
        return None
    try:
        word = next(iter(shlex.split(command)), "")
    except ValueError:
        return None
    if not _PLAIN.fullmatch(word) or word in _IN_THE_SHELL:
        return None
    if shutil.which(str(start / word) if "/" in word else word) is not None:
        return None
    detail = f"command not found: {word}"
    return Row(
        name=f"gate {gate.name}",
        status="fail",
        detail=detail,
        fix=f"install {word}, or fix the gate's command",
    )


def _terminal() -> Row:
    if (mark := agent_mark()) is not None:
        detail = f"{mark} is set: an agent started this, so answer, trust and restore are refused"
        return Row(name="terminal", detail=detail)
    people = (
        "interactive"
        if sys.stdin.isatty() and sys.stderr.isatty()
        else "not interactive; runs never wait for a person"
    )
    plain = ", plain characters" if ascii_only() else ""
    return Row(name="terminal", detail=f"{people}{plain}")


def _say(row: Row, *, json: bool) -> None:
    if json:
        out_json(HealthLine(name=row.name, status=row.status, detail=row.detail, fix=row.fix))
        return
    mark = (_ASCII_MARKS if ascii_only() else _MARKS)[row.status]
    first, *more = row.detail.splitlines() or [""]
    out(f"{mark} {inert(row.name)}: {inert(first)}")
    for each in more:
        out(f"    {inert(each.strip())}")
    if row.fix:
        out(f"    {inert(row.fix)}")
