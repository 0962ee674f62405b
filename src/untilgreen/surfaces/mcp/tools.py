"""The tools: start a run, wait for it, look at it, steer it, stop it, check the gates."""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import time
from typing import Any, Literal

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct

from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.sources.from_text import gates_from
from untilgreen.core.exit_codes import GATE, NOT_GREEN, OK
from untilgreen.core.loop.receive import Arrival, Cancel, Steer, Stop
from untilgreen.core.values.model import PartSpec, Plan, Verdict
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.end_undriven import end_undriven
from untilgreen.engine.driving.launch import launch
from untilgreen.engine.driving.sending import deliver
from untilgreen.engine.driving.start import start
from untilgreen.engine.operations.check import check_gates
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.store.reading import status
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import check_installed, plan_of
from untilgreen.engine.worktree.premises import LocalPremises
from untilgreen.engine.worktree.snapshots import lap_diff
from untilgreen.errors import UserError, nearest
from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.surfaces.backtest.strategy_tables import StrategyLine
from untilgreen.surfaces.json.lines import CheckResult, Result
from untilgreen.surfaces.mcp.arguments import (
    Arguments,
    BacktestArguments,
    CheckArguments,
    DiffArguments,
    RunArguments,
    StartArguments,
    SteerArguments,
    StopArguments,
    WaitArguments,
    WhyArguments,
)
from untilgreen.surfaces.mcp.question_forms import run_around
from untilgreen.surfaces.mcp_answers import LapDiff, Replayed, RunStatus
from untilgreen.surfaces.text.summary import as_json
from untilgreen.surfaces.why.evidence import Reasons, reasons

LOOK_SECONDS = 0.5
BY = "an MCP client"
Tell = Callable[[int, str], Awaitable[None]]
"""Reports a lap, and a sentence about it."""
Power = Literal["look", "steer", "start"]
POWERS: tuple[Power, ...] = ("look", "steer", "start")
"""Each includes those before it."""
Admit = Callable[[Path, Plan | None], Awaitable[None]]
"""Refuses a directory to work in, or a plan to start there; a check has no plan."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool: what it takes, what it returns, and what it does."""

    takes: type[Arguments]
    gives: type[Struct]
    does: Callable[[Runs, Any, Tell], Awaitable[Struct]]
    power: Power = "look"
    """The permission that it needs."""


async def _anything(directory: Path, plan: Plan | None) -> None:
    """The client may do what the person who started this server may do."""


class Runs:
    """The runs of a state directory, for a client that works in a directory."""

    def __init__(
        self, store: Store, start: Path, *, admit: Admit = _anything, power: Power = "start"
    ) -> None:
        self.store = store
        self.start = start
        self.admit = admit
        self.power = power
        self.tools = {name: tool for name, tool in TOOLS.items() if self.may(tool.power)}

    def may(self, needed: Power) -> bool:
        """Whether the client may do such things."""
        return POWERS.index(needed) <= POWERS.index(self.power)

    def find(self, run: str) -> FolderRecord:
        """A run by id, unique prefix or `@last`."""
        return self.store.find(run, self.start)

    def directory(self, name: str) -> Path:
        """A directory that exists."""
        path = (self.start / Path(name).expanduser()).resolve() if name else self.start
        if not path.is_dir():
            raise UserError(f"There is no directory {name!r}.")
        return path


async def _start(runs: Runs, given: StartArguments, tell: Tell) -> RunStatus:
    """Start a run in its own process; an agent of a run can't start another one, nor trust a spec."""
    if inside := await to_thread.run_sync(run_around, runs.store):
        raise UserError(
            f"This server runs inside a run ({inside}), and a run's agent can't start another run."
        )
    directory = runs.directory(given.directory)
    flags: dict[str, Any] = {"agents": [given.agent]} if given.agent else {}
    if given.gates:
        flags["gates"] = gates_from(given.gates)
    if given.max_cost:
        flags["limits"] = {"cost": given.max_cost}
    laps = None if given.max_iterations is None else str(given.max_iterations)
    request = Request(start=directory, task=given.task, flags=flags, max_iterations=laps, env=os.environ)
    await runs.admit(directory, None)
    loaded = await to_thread.run_sync(_trusted, runs, request)
    plan = await to_thread.run_sync(plan_of, loaded, directory)
    await runs.admit(directory, plan)
    record = await start(plan, runs.store)
    await launch(record)
    return RunStatus(run=record.id, status="running", laps=0)


async def _wait(runs: Runs, given: WaitArguments, tell: Tell) -> RunStatus:
    record, told = runs.find(given.run), 0
    with anyio.move_on_after(given.seconds):
        while True:
            state = (await record.load()).state
            for lap in state.laps[told:]:
                await tell(lap.number, f"lap {lap.number}: {lap.decision.reason if lap.decision else ''}")
            told = len(state.laps)
            if state.outcome is not None or _question(state) or await record.driver() is None:
                break
            await anyio.sleep(LOOK_SECONDS)
    return status_line((await record.load()).state)


async def _show(runs: Runs, given: RunArguments, tell: Tell) -> Result:
    loaded = await runs.find(given.run).load()
    return as_json(loaded.state, loaded.head)


async def _why(runs: Runs, given: WhyArguments, tell: Tell) -> Reasons:
    return reasons((await runs.find(given.run).load()).state)


async def _diff(runs: Runs, given: DiffArguments, tell: Tell) -> LapDiff:
    record = runs.find(given.run)
    state = (await record.load()).state
    number = given.lap or len(state.laps)
    if not 1 <= number <= len(state.laps):
        raise UserError(f"Run {state.run} has no lap {number}; it has {len(state.laps)}.")
    diff = await lap_diff(state, record.scratch, state.laps[number - 1])
    return LapDiff(run=state.run, lap=number, diff=diff)


async def _steer(runs: Runs, given: SteerArguments, tell: Tell) -> RunStatus:
    note = Steer(at=time(), by=BY, id=secrets.token_hex(8), note=given.note)
    return await _send(runs, given.run, note)


async def _stop(runs: Runs, given: StopArguments, tell: Tell) -> RunStatus:
    return await _send(runs, given.run, Stop(at=time(), by=BY, reason=given.reason))


async def _check(runs: Runs, given: CheckArguments, tell: Tell) -> CheckResult:
    directory = runs.directory(given.directory)
    flags = {"gates": gates_from(given.gates)} if given.gates else {}
    await runs.admit(directory, None)
    request = Request(start=directory, task="check", flags=flags, env=os.environ)
    loaded = await to_thread.run_sync(_trusted, runs, request)

    def said(number: int, name: str, verdict: Verdict) -> None:
        """The result has every verdict."""

    checked = await check_gates(loaded, directory, said, state_dir=runs.store.state_dir)
    code = GATE if checked.broken else OK if checked.green else NOT_GREEN
    return CheckResult(green=checked.green, exit_code=code, gates=checked.gates)


async def _backtest(runs: Runs, given: BacktestArguments, tell: Tell) -> Replayed:
    return await to_thread.run_sync(_replayed, runs, given)


def _replayed(runs: Runs, given: BacktestArguments) -> Replayed:
    """Built-in strategies only: otherwise a request could run a file of the workspace."""
    from untilgreen.backtest.own_runs import candidates, find
    from untilgreen.backtest.strategies import replay, row

    for name in given.strategies:
        if name not in STRATEGIES:
            raise UserError(f"There is no strategy {name!r}. {nearest(name, STRATEGIES)}")
    found = find(runs.store.runs(None if given.everywhere else runs.start), ())
    chosen = candidates(tuple(PartSpec(name=name) for name in given.strategies), found.runs)
    rows = [row(each.name, found.runs, [replay(run, each) for run in found.runs]) for each in chosen]
    lines = tuple(StrategyLine(**msgspec.structs.asdict(each)) for each in rows)
    return Replayed(runs=len(found.runs), strategies=lines, skipped=tuple(found.trouble))


async def cancel_run(runs: Runs, run: str) -> None:
    """End a run now, for a client that cancels its task."""
    await _send(runs, run, Cancel(at=time(), by=BY, reason="cancelled by an MCP client"))


STRATEGIES = tuple(BUILT_IN["strategy"])
TOOLS: dict[str, Tool] = {
    "run_start": Tool(takes=StartArguments, gives=RunStatus, does=_start, power="start"),
    "run_wait": Tool(takes=WaitArguments, gives=RunStatus, does=_wait),
    "run_status": Tool(takes=RunArguments, gives=Result, does=_show),
    "run_why": Tool(takes=WhyArguments, gives=Reasons, does=_why),
    "run_diff": Tool(takes=DiffArguments, gives=LapDiff, does=_diff),
    "run_steer": Tool(takes=SteerArguments, gives=RunStatus, does=_steer, power="steer"),
    "run_stop": Tool(takes=StopArguments, gives=RunStatus, does=_stop, power="steer"),
    "check": Tool(takes=CheckArguments, gives=CheckResult, does=_check, power="start"),
    "backtest": Tool(takes=BacktestArguments, gives=Replayed, does=_backtest),
}


def _trusted(runs: Runs, request: Request) -> Loaded:
    loaded = load(request)
    check_installed(loaded)
    try:
        TrustBook(runs.store).require(loaded)
    except Untrusted as unknown:
        raise UserError(f"{unknown} A person has to review it with `untilgreen trust`.") from unknown
    return loaded


async def _send(runs: Runs, run: str, arrival: Arrival) -> RunStatus:
    record = runs.find(run)
    if refused := await deliver(record, arrival):
        raise UserError(refused)
    await end_undriven(record, LocalPremises(runs.store))
    return status_line((await record.load()).state)


def status_line(state: RunState) -> RunStatus:
    """The status of a run, in one line."""
    return RunStatus(
        run=state.run,
        status=status(state),
        laps=len(state.laps),
        reason=state.reason,
        question=_question(state),
    )


def _question(state: RunState) -> str:
    return state.open_question.question if state.open_question else ""
