"""The operations that start runs: plan first, trust by digest, and never more than the server was given."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from untilgreen.config.load import Loaded, Request, load
from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import NO_SANDBOX, WORKTREE, Plan
from untilgreen.engine.driving.launch import launch
from untilgreen.engine.driving.start import start
from untilgreen.engine.operations.fork import fork as make_fork
from untilgreen.engine.operations.fork import spec_of, start_of
from untilgreen.engine.operations.worst_case import worst_case
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.wiring.clock import SystemClock
from untilgreen.engine.wiring.plan import check_installed, plan_of
from untilgreen.surfaces.web.api.requests import Done, ForkRun, NewRun, Place
from untilgreen.surfaces.web.api.values import Planned, PlannedGate, SpecForm, TrustNeeded
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import STARTS_A_MINUTE, Call
from untilgreen.surfaces.web.known_runs import ListedRun


async def spec_form(call: Call) -> SpecForm:
    """The schema, and which keys the spec of a directory sets; none of its values, which may be secret."""
    query: Place = call.query
    return await to_thread.run_sync(_spec_form, workspace(call, query.workspace))


def _spec_form(place: Path) -> SpecForm:
    from untilgreen.config.spec.json_schema import spec_schema

    found = load(Request(start=place, taskless=True, env=os.environ))
    own = {key: value for key, value in found.written.items() if key != "profiles"}
    profiles = tuple(map(str, found.written.get("profiles", {})))
    return SpecForm(schema=spec_schema(), given=tuple(_keys(own)), profiles=profiles)


def _keys(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


async def plan(call: Call) -> Planned:
    """What a run would do and could cost, and what has to be trusted first; nothing is run."""
    loaded, needed = await to_thread.run_sync(_loaded, call, call.body)
    return await to_thread.run_sync(_planned, call, loaded, needed)


async def start_run(call: Call) -> Done:
    """Start a run in its own process; its questions are answered on the page."""
    body: NewRun = call.body
    loaded, needed = await to_thread.run_sync(_loaded, call, body)
    if needed is not None:
        if body.trust != needed.digest:
            raise Refusal(
                409, "Not trusted", f"{needed.path} is not trusted. Review the plan, then trust it."
            )
        await to_thread.run_sync(_remember, call, loaded)
    made = await to_thread.run_sync(plan_of, loaded, workspace(call, body.workspace))
    check_allowed(call, made)
    await check_room(call)
    record = await start(made, call.service.runs.store)
    await launch(record)
    return Done(run=record.id, status="running")


async def fork(call: Call) -> Done:
    """Start another run from the files of a lap, in its own worktree."""
    body: ForkRun = call.body
    run = await call.run()
    folder = run.here("fork")
    snapshot = run.state.snapshot_of(body.lap) if 0 <= body.lap <= len(run.state.laps) else None
    if snapshot is None:
        raise Refusal(404, "Not found", f"Run {run.id} has no lap {body.lap}.")
    workspace(call, str(start_of(run.state)))
    flags = {"workspace": {"mode": WORKTREE}}
    more = str(body.more) if body.more else None
    request = Request(start=start_of(run.state), given=spec_of(run.state), flags=flags, max_iterations=more)
    loaded = await to_thread.run_sync(load, request)
    await check_room(call)
    now = SystemClock().now()
    note = Steer(at=now, by=call.person.name, id=secrets.token_hex(8), note=body.note) if body.note else None
    store = call.service.runs.store
    made = await make_fork(
        run.state, folder, store, loaded, lap=body.lap, snapshot=snapshot, note=note, warn=_ignore
    )
    check_allowed(call, (await made.load()).state.plan)
    await launch(made)
    return Done(run=made.id, status="running")


def _ignore(sentence: str) -> None:
    """Ignore it: the run's own page shows it."""


def workspace(call: Call, text: str) -> Path:
    """A directory within the roots, links resolved."""
    roots = call.service.start.roots
    if not roots:
        raise Refusal(
            403, "Refused", "This server doesn't start runs. Start it with --root DIR to allow that."
        )
    path = Path(text).expanduser().resolve() if text else roots[0]
    if not any(path == root or root in path.parents for root in roots):
        raise Refusal(403, "Refused", f"Runs may be started in {', '.join(map(str, roots))} only.")
    if not path.is_dir():
        raise Refusal(404, "Not found", f"There is no directory {text[:200]!r}.")
    return path


def _loaded(call: Call, body: NewRun) -> tuple[Loaded, TrustNeeded | None]:
    """The spec with what was typed laid over it; no code of the workspace has run yet."""
    loaded = load(
        Request(
            start=workspace(call, body.workspace),
            profile=body.profile or None,
            flags=_flags(call, body.spec),
            max_iterations=body.max_iterations or None,
            env=os.environ,
        )
    )
    check_installed(loaded)
    try:
        TrustBook(call.service.runs.store).require(loaded)
    except Untrusted as unknown:
        request = unknown.request
        return loaded, TrustNeeded(path=request.path, digest=request.digest, lines=request.lines)
    return loaded, None


def _flags(call: Call, spec: dict[str, Any]) -> dict[str, Any]:
    """What was filled in, if a request may set it; one agent is a list of one, as on the command line."""
    if "task_file" in spec:
        raise Refusal(403, "Refused", "No request names a file. Send the task itself.")
    if "sandbox" in spec and call.service.start.sandboxed:
        raise Refusal(
            403, "Refused", "This server starts runs in the sandbox that the directory's spec sets."
        )
    if "agent" not in spec:
        return spec
    rest = {key: value for key, value in spec.items() if key != "agent"}
    return {"agents": [spec["agent"]], **rest}


def _remember(call: Call, loaded: Loaded) -> None:
    book = TrustBook(call.service.runs.store)
    try:
        book.require(loaded)
    except Untrusted as unknown:
        book.remember(unknown.request, SystemClock().now())


def _planned(call: Call, loaded: Loaded, needed: TrustNeeded | None) -> Planned:
    """For an untrusted spec, only what its file says; its plugins are not loaded."""
    if needed is not None:
        return Planned(workspace=str(loaded.base), task=loaded.spec.task, trust=needed)
    made = plan_of(loaded, workspace(call, call.body.workspace))
    check_allowed(call, made)
    worst = worst_case(made)
    return Planned(
        workspace=str(loaded.base),
        task=made.task,
        agents=made.agent_names(),
        strategy=made.strategy.name,
        gates=tuple(PlannedGate(name=gate.name, shown_as=gate.shown_as or gate.kind) for gate in made.gates),
        permissions=made.permissions,
        sandbox=made.sandbox.mode,
        laps=worst.laps,
        seconds=worst.seconds,
        cost=worst.cost,
        tokens=worst.tokens,
    )


def check_allowed(call: Call, made: Plan) -> None:
    """Nobody gets more rights through the page than the server was started with."""
    limits = call.service.start
    if made.permissions == "all" and limits.permissions != "all":
        raise Refusal(403, "Refused", "This server doesn't start runs whose agent may do everything.")
    if limits.sandboxed and made.sandbox.mode == NO_SANDBOX:
        raise Refusal(403, "Refused", "This server starts runs only in a sandbox. Set sandbox in the spec.")


async def check_room(call: Call) -> None:
    """Refuse one run too many, at a time or within a minute."""
    now, recent = anyio.current_time(), call.service.starts
    while recent and now - recent[0] > 60:
        recent.popleft()
    if len(recent) >= STARTS_A_MINUTE:
        raise Refusal(
            429, "Too many starts", f"{len(recent)} runs were started within a minute. Try again later."
        )
    most = call.service.start.most_runs
    local = call.service.runs.local
    rows = await local.listed_all(await local.names())
    running = sum(isinstance(each, ListedRun) and each.running for each in rows)
    if running >= most:
        raise Refusal(
            429, "Too many runs", f"{running} runs are running, and the limit is {most}. Try again later."
        )
    recent.append(now)
