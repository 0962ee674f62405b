"""Runs from Python: `await untilgreen.run(…)`, its synchronous twin, and a handle on a run in progress.

Names mean the same as in a spec. Instead of a name, a program can pass its own object: an agent, a gate, a
strategy, a detector, a workspace.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Required, TypeAlias, TypedDict, Unpack

import anyio
from msgspec.structs import asdict, replace

from untilgreen.config.load import Request, load
from untilgreen.config.sources.from_text import gates_from
from untilgreen.core.briefing.brief import Brief, compose
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.rules import Detector, Strategy
from untilgreen.core.values.state import RunState
from untilgreen.engine.driving.drive import DriveOptions
from untilgreen.engine.driving.handle import Handle, drive_in_background
from untilgreen.engine.driving.start import start
from untilgreen.engine.loop.bus import Listener
from untilgreen.engine.loop.seat import TERMINAL, UNATTENDED
from untilgreen.engine.store.artifacts import Watcher
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.worktree.place import Premises
from untilgreen.engine.worktree.premises import GivenWorkspace, LocalPremises, StartFacts, ignore
from untilgreen.errors import ConfigError
from untilgreen.plugins.kinds import CONTRACTS
from untilgreen.plugins.registry import Kind, registry
from untilgreen.ports import Agent, Gate, Notifier, Workspace

Table: TypeAlias = Mapping[str, Any]
"""A table as a spec has it, such as `{"use": "hybrid", "base": 3}`."""
BriefWriter: TypeAlias = Callable[[RunState, str], str]
"""Takes the state and the composed brief, and returns the brief for the agent."""


class Options(TypedDict, total=False):
    """What `running` takes, for the two functions that pass it on."""

    agent: Required[str | Table | Agent | Sequence[str | Table | Agent]]
    gates: Sequence[str | Gate] | Mapping[str, str | Table | Gate]
    strategy: str | Table | Strategy | None
    detectors: Sequence[str | Table | Detector] | None
    limits: Limits | Table | None
    workspace: str | Path | Table | Workspace | None
    brief: BriefWriter | None
    on_event: Listener | None
    on_activity: Watcher | None
    notify: Sequence[str | Table | Notifier]
    promise: str | None
    labels: Mapping[str, str] | None
    settings: Table | None
    spec: str | Path | None
    answers: bool
    state_dir: str | Path | None
    warn: Callable[[str], None]


UNGUARDED = "integrity needs a git repository, which a workspace object of your own may not have."


async def run(task: str, **options: Unpack[Options]) -> RunState:
    """Keep an agent working until its gates are green; the returned state says how it ended."""
    async with running(task, **options) as handle:
        return await handle.result()


def run_sync(task: str, **options: Unpack[Options]) -> RunState:
    """The same for programs without an event loop."""
    return anyio.run(partial(run, task, **options))


@asynccontextmanager
async def running(
    task: str,
    *,
    agent: str | Table | Agent | Sequence[str | Table | Agent],
    gates: Sequence[str | Gate] | Mapping[str, str | Table | Gate] = (),
    strategy: str | Table | Strategy | None = None,
    detectors: Sequence[str | Table | Detector] | None = None,
    limits: Limits | Table | None = None,
    workspace: str | Path | Table | Workspace | None = None,
    brief: BriefWriter | None = None,
    on_event: Listener | None = None,
    on_activity: Watcher | None = None,
    notify: Sequence[str | Table | Notifier] = (),
    promise: str | None = None,
    labels: Mapping[str, str] | None = None,
    settings: Table | None = None,
    spec: str | Path | None = None,
    answers: bool = False,
    state_dir: str | Path | None = None,
    warn: Callable[[str], None] = ignore,
) -> AsyncIterator[Handle]:
    """Drive a run while the body of the block runs; the block ends when both are done.

    `gates` are commands, `name=command`, or objects; a mapping names them. `workspace` is a directory, a
    table such as `{"mode": "worktree"}`, or an object. `brief` may rewrite what the agent is told. `settings`
    has any other key of a spec, and `spec` names a file to start from; without it only the arguments count.
    With `answers`, questions wait for `handle.answer`; otherwise their default is taken.
    """
    with ExitStack() as lent:
        flags: dict[str, Any] = {**(settings or {})}
        flags["agents"] = [_part(lent, "agent", each) for each in _several(agent)]
        flags["gates"] = {**flags.get("gates", {}), **_gates(lent, gates)}
        asked = {"promise": promise, "labels": labels, "limits": _limits(limits)}
        flags |= {key: value for key, value in asked.items() if value}
        if strategy is not None:
            flags["strategy"] = _part(lent, "strategy", strategy)
        if detectors is not None:
            flags["detectors"] = [_part(lent, "detector", each) for each in detectors]
        if notify:
            flags["notify"] = [_part(lent, "notifier", each) for each in notify]
        root = _place(flags, workspace, warn)
        store = Store(None if state_dir is None else Path(state_dir))
        named = None if spec is None else Path(spec)
        loaded = load(Request(start=root, config=named, flags=flags, task=task, search=False))
        known, own = StartFacts(objects=objects_for(loaded)), isinstance(workspace, Workspace)
        plan = plan_of(loaded, root, known.objects)
        record = await start(plan, store, known, warn=warn, given_workspace=own)
        options = _options(on_event, on_activity, brief, warn, known)
        premises, seat = _premises(store, workspace, options, known), TERMINAL if answers else UNATTENDED
        async with drive_in_background(record, premises, seat, options) as handle:
            yield handle


@asynccontextmanager
async def resuming(
    run: str,
    *,
    objects: Sequence[Agent | Gate | Strategy | Detector | Notifier] = (),
    workspace: str | Path | Workspace | None = None,
    brief: BriefWriter | None = None,
    on_event: Listener | None = None,
    on_activity: Watcher | None = None,
    answers: bool = False,
    state_dir: str | Path | None = None,
    warn: Callable[[str], None] = ignore,
) -> AsyncIterator[Handle]:
    """Continue an interrupted run from wherever it stopped; `run` is its id, a prefix of it, or `@last`.

    `objects` are those that it was started with, in the same order, since a journal can't hold them.
    """
    store = Store(None if state_dir is None else Path(state_dir))
    place = workspace.root if isinstance(workspace, Workspace) else Path(str(workspace or "."))
    with ExitStack() as lent:
        for thing in objects:
            _part(lent, _kind_of(thing), thing)
        known = StartFacts()
        options = _options(on_event, on_activity, brief, warn, known)
        premises, seat = _premises(store, workspace, options, known), TERMINAL if answers else UNATTENDED
        async with drive_in_background(store.find(run, place), premises, seat, options) as handle:
            yield handle


def _options(
    on_event: Listener | None,
    on_activity: Watcher | None,
    brief: BriefWriter | None,
    warn: Callable[[str], None],
    known: StartFacts,
) -> DriveOptions:
    return DriveOptions(
        listeners=() if on_event is None else (on_event,),
        watchers=() if on_activity is None else (on_activity,),
        compose=None if brief is None else partial(_rewritten, brief),
        warn=warn,
        objects=known.objects,
    )


def _premises(store: Store, workspace: object, options: DriveOptions, known: StartFacts) -> Premises:
    if isinstance(workspace, Workspace):
        return GivenWorkspace(workspace, store)
    watchers = tuple(options.watchers)
    return LocalPremises(store, known, warn=options.warn, watchers=watchers)


def _kind_of(thing: object) -> Kind:
    for kind, contract in CONTRACTS.items():
        if callable(getattr(thing, contract.method, None)):
            return kind
    methods = ", ".join(contract.method for contract in CONTRACTS.values())
    raise ConfigError(f"{thing!r} is not a part of a run. It needs one of these methods: {methods}.")


def _rewritten(write: BriefWriter, state: RunState) -> Brief:
    usual = compose(state)
    return replace(usual, text=write(state, usual.text))


def _part(lent: ExitStack, kind: Kind, given: object) -> str | Table:
    """A name or a table unchanged; an object gets a name while the run is driven."""
    if isinstance(given, str | Mapping):
        return given
    return lent.enter_context(registry.temporary_name(kind, given))


def _several(agent: object) -> list[object]:
    given: list[object] = [agent] if not isinstance(agent, list | tuple) else list(agent)
    if not given:
        raise ConfigError("There is no agent. Give one, for example agent='cmd:./fix.sh'.")
    return given


def _gates(lent: ExitStack, given: Sequence[str | Gate] | Mapping[str, str | Table | Gate]) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {name: _gate(lent, gate) for name, gate in given.items()}
    if isinstance(given, str):
        raise ConfigError(f"gates = {given!r} is a single string. Write a list: gates=[{given!r}].")
    found = gates_from([each for each in given if isinstance(each, str)])
    for gate in (each for each in given if not isinstance(each, str)):
        table = _gate(lent, gate)
        found[str(table["use"])] = table
    return found


def _gate(lent: ExitStack, gate: str | Table | Gate) -> dict[str, Any]:
    if isinstance(gate, str):
        return {"run": gate}
    return dict(gate) if isinstance(gate, Mapping) else {"use": _part(lent, "gate", gate)}


def _limits(limits: Limits | Table | None) -> dict[str, Any]:
    """The limits that were set; a field with its default is left to the base spec."""
    if limits is None or isinstance(limits, Mapping):
        return dict(limits or {})
    usual = asdict(Limits())
    changed = {key: value for key, value in asdict(limits).items() if value != usual[key]}
    return {key: "unlimited" if value is None else value for key, value in changed.items()}


def _place(
    flags: dict[str, Any],
    workspace: str | Path | Table | Workspace | None,
    warn: Callable[[str], None],
) -> Path:
    """The directory to start in; a table, or what an object can't do, is put into the flags."""
    if isinstance(workspace, Mapping):
        flags["workspace"] = {key: value for key, value in workspace.items() if key != "root"}
        return Path(workspace.get("root", ".")).resolve()
    if isinstance(workspace, str | Path) or workspace is None:
        return Path(workspace or ".").resolve()
    asked = flags.get("integrity")
    if asked is not None and asked.get("enabled", True):
        raise ConfigError(f"integrity is not available here: {UNGUARDED} Remove it from the settings.")
    if asked is None:
        warn(f"Weakened tests are not detected in this run: {UNGUARDED}")
    flags["integrity"] = flags["clean_room"] = {"enabled": False}
    return workspace.root.resolve()
