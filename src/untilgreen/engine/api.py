"""Runs from Python: `await untilgreen.run(…)`, its synchronous twin, and a handle on a run under way.

Names mean what they mean in a spec. Where a program has an object of its own it gives that instead: an agent,
a gate, a strategy, a detector, a workspace.
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
from untilgreen.config.written import gates_from
from untilgreen.core.brief import Brief, compose
from untilgreen.core.limits import Limits
from untilgreen.core.rules import Detector, Strategy
from untilgreen.core.state import RunState
from untilgreen.engine.bus import Listener
from untilgreen.engine.drive import Own, start
from untilgreen.engine.files import Watcher
from untilgreen.engine.handle import Handle, Ride, driven
from untilgreen.engine.seat import TERMINAL, UNATTENDED
from untilgreen.engine.store import Store
from untilgreen.engine.wiring import plan_of
from untilgreen.errors import ConfigError
from untilgreen.plugins import Kind, registry
from untilgreen.plugins.kinds import CONTRACTS
from untilgreen.ports import Agent, Gate, Notifier, Workspace

Table: TypeAlias = Mapping[str, Any]
"""A table as a spec has it, such as `{"use": "hybrid", "base": 3}`."""
BriefWriter: TypeAlias = Callable[[RunState, str], str]
"""Gets the state and what the agent would be told, and gives what it is told."""


class Options(TypedDict, total=False):
    """What `running` takes, for the two that hand it on."""

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


UNGUARDED = (
    "integrity copies trees out of a git repository, which a workspace object of your own need not have."
)


async def run(task: str, **options: Unpack[Options]) -> RunState:
    """Keep an agent working until its gates are green; the state tells how it ended."""
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
    warn: Callable[[str], None] = lambda sentence: None,
) -> AsyncIterator[Handle]:
    """A run beside the body of the block, which is left when both are done.

    `gates` are commands, `name=command`, or objects; a mapping names them. `workspace` is a directory, a
    table such as `{"mode": "worktree"}`, or an object. `brief` may rewrite what the agent is told. `settings`
    has any other key of a spec, and `spec` names a file to build upon; without it only the arguments count.
    With `answers`, questions wait for `handle.answer`; otherwise their default happens.
    """
    with ExitStack() as lent:
        flags: dict[str, Any] = {**(settings or {})}
        flags["agents"] = [_part(lent, "agent", each) for each in _several(agent)]
        flags["gates"] = {**flags.get("gates", {}), **_gates(lent, gates)}
        for key, value in (("promise", promise), ("labels", labels), ("limits", _limits(limits))):
            if value:
                flags[key] = value
        if strategy is not None:
            flags["strategy"] = _part(lent, "strategy", strategy)
        if detectors is not None:
            flags["detectors"] = [_part(lent, "detector", each) for each in detectors]
        if notify:
            flags["notify"] = [_part(lent, "notifier", each) for each in notify]
        root = _place(flags, workspace, warn)
        own = Own(
            workspace=workspace if isinstance(workspace, Workspace) else None,
            compose=None if brief is None else partial(_rewritten, brief),
        )
        named = None if spec is None else Path(spec)
        request = Request(start=root, config=named, flags=flags, task=task, search=False)
        store = Store(None if state_dir is None else Path(state_dir))
        folder = await start(plan_of(load(request), root), store, warn=warn, own=own)
        ride = Ride(
            seat=TERMINAL if answers else UNATTENDED,
            listeners=() if on_event is None else (on_event,),
            watchers=() if on_activity is None else (on_activity,),
            warn=warn,
            own=own,
        )
        async with driven(folder, store, ride) as handle:
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
    warn: Callable[[str], None] = lambda sentence: None,
) -> AsyncIterator[Handle]:
    """Go on with a run that was left, wherever it stands; `run` is its id, the beginning of it, or `@last`.

    `objects` are those that it was started with, in the same order, since a journal can't hold them.
    """
    store = Store(None if state_dir is None else Path(state_dir))
    own_place = workspace if isinstance(workspace, Workspace) else None
    place = own_place.root if own_place else Path(str(workspace or "."))
    with ExitStack() as lent:
        for thing in objects:
            _part(lent, _kind_of(thing), thing)
        ride = Ride(
            seat=TERMINAL if answers else UNATTENDED,
            listeners=() if on_event is None else (on_event,),
            watchers=() if on_activity is None else (on_activity,),
            warn=warn,
            own=Own(workspace=own_place, compose=None if brief is None else partial(_rewritten, brief)),
        )
        async with driven(store.find(run, place), store, ride) as handle:
            yield handle


def _kind_of(thing: object) -> Kind:
    for kind, contract in CONTRACTS.items():
        if callable(getattr(thing, contract.method, None)):
            return kind
    methods = ", ".join(contract.method for contract in CONTRACTS.values())
    raise ConfigError(f"{thing!r} is no part of a run. It needs one of these methods: {methods}.")


def _rewritten(write: BriefWriter, state: RunState) -> Brief:
    usual = compose(state)
    return replace(usual, text=write(state, usual.text))


def _part(lent: ExitStack, kind: Kind, given: object) -> str | Table:
    """A name or a table as it is; an object gets a name for as long as the run is driven."""
    if isinstance(given, str | Mapping):
        return given
    return lent.enter_context(registry.lent(kind, given))


def _several(agent: object) -> list[object]:
    given: list[object] = [agent] if not isinstance(agent, list | tuple) else list(agent)
    if not given:
        raise ConfigError("There is no agent. Give one, for example agent='cmd:./fix.sh'.")
    return given


def _gates(lent: ExitStack, given: Sequence[str | Gate] | Mapping[str, str | Table | Gate]) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return {name: _gate(lent, gate) for name, gate in given.items()}
    if isinstance(given, str):
        raise ConfigError(f"gates = {given!r} is one text. Write a list: gates=[{given!r}].")
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
    """What was set; a field that is as usual is left to the spec that is built upon."""
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
    """Where the run begins; the spec's workspace table where one is given."""
    if isinstance(workspace, Mapping):
        flags["workspace"] = {key: value for key, value in workspace.items() if key != "root"}
        return Path(workspace.get("root", ".")).resolve()
    if isinstance(workspace, str | Path) or workspace is None:
        return Path(workspace or ".").resolve()
    asked = flags.get("integrity")
    if asked is not None and asked.get("enabled", True):
        raise ConfigError(f"integrity can't be had here: {UNGUARDED} Leave it out of the settings.")
    if asked is None:
        warn(f"Weakened tests are not found out in this run: {UNGUARDED}")
    flags["integrity"] = {"enabled": False}
    return workspace.root.resolve()
