"""From a spec to a plan, and from a plan to the objects that a runner works with.

A plan has all that is needed to make them again, so the same run can go on after a restart.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from untilgreen.config.layers import Layers
from untilgreen.config.load import Loaded
from untilgreen.config.parts import AGENT_FORMS, part_of
from untilgreen.config.schema import IntegrityTable, Spec
from untilgreen.core.decide import Policy
from untilgreen.core.defaults import promise_of, tuned, with_claim
from untilgreen.core.model import CLAIM_GATE, INTEGRITY_GATE, JUDGE_GATE, GateSpec, PartSpec, Plan
from untilgreen.core.rules import Detector
from untilgreen.core.secrets import unveil
from untilgreen.engine.veil import unveiled
from untilgreen.errors import ConfigError, JournalError, UserError
from untilgreen.gates.integrity import IntegrityGate
from untilgreen.gates.integrity.rerun import Make, repeated, seconds
from untilgreen.plugins import Created, Kind, is_place, registry, source_of
from untilgreen.ports import Agent, Gate, Notifier
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git import GitWorkspace

BASE = "base"
"""Key of the plan's workspace table: the directory that paths in the spec are relative to."""
START = "start"
"""Where the run was started, so where agents and gates run."""
LEVELS_GATE = "levels"
_MEASURES = ("equals_file", "json_schema")
"""Options of levels that name a file which the work is measured by."""


def plan_of(loaded: Loaded, start: Path, copies: Mapping[str, Path] | None = None) -> Plan:
    """Resolve every name once, so that a wrong one is said before anything starts.

    What another run has copies of is loaded from there: the files may have been changed since.
    """
    copies = copies or {}
    spec, base = loaded.spec, loaded.base.absolute()
    if not spec.agents:
        raise ConfigError(
            "There is no agent. Name one with --agent, for example --agent 'cmd:./fix.sh', "
            "or as `agent` in the spec."
        )
    places = _Places(loaded.layers)
    with places.of("strategy"):
        strategy = _made("strategy", spec.strategy, base, copies)
        promise = promise_of(_create("strategy", spec.strategy, base, copies), spec.file.promise)
    with places.of("agents", "agent"):
        agents = tuple(_made("agent", each, base, copies) for each in spec.agents)
    with places.of("detectors"):
        detectors = tuple(_made("detector", each, base, copies) for each in spec.detectors)
    with places.of("notify"):
        notifiers = tuple(_made("notifier", each, base, copies) for each in spec.notify)
    gates = []
    for gate in spec.gates:
        with places.of(("gates", gate.name)):
            gates.append(_known_gate(gate, base, copies))
    return Plan(
        task=spec.task,
        gates=with_claim(_with_integrity(gates, spec), promise),
        agents=agents,
        strategy=strategy,
        detectors=detectors,
        remedies=tuple(spec.file.remedies),
        notify=notifiers,
        limits=spec.limits,
        promise=promise,
        session=spec.session.mode,
        permissions=spec.file.permissions,
        leave=spec.file.leave,
        on_interrupt=spec.file.on_interrupt,
        baseline=spec.file.baseline,
        labels=spec.file.labels,
        sandbox=spec.sandbox,
        workspace={**spec.workspace, BASE: str(base), START: str(start)},
    )


def check_installed(loaded: Loaded) -> None:
    """Find wrong names and options of what is installed, without running any code of the workspace."""
    spec, base, places = loaded.spec, loaded.base.absolute(), _Places(loaded.layers)
    parts: tuple[tuple[Kind, str, tuple[PartSpec, ...]], ...] = (
        ("strategy", "strategy", (spec.strategy,)),
        ("agent", "agents", spec.agents),
        ("detector", "detectors", spec.detectors),
        ("notifier", "notify", spec.notify),
    )
    for kind, key, named in parts:
        for part in named:
            if not is_place(part.use or part.name):
                with places.of(key, kind):
                    _made(kind, part, base, {})
    for gate in spec.gates:
        if not is_place(gate.kind) and gate.kind != JUDGE_GATE:
            with places.of(("gates", gate.name)):
                _known_gate(gate, base, {})


class _Places:
    """Where in the spec a part is named, for errors about it."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    @contextmanager
    def of(self, *keys: str | tuple[str, ...]) -> Iterator[None]:
        """Errors inside begin with the place of the first of these keys that is set."""
        try:
            yield
        except UserError as error:
            for key in keys:
                path = (key,) if isinstance(key, str) else key
                source = self._layers.source(path)
                if source is not None:
                    raise type(error)(f"{source.place(path)}: {error}") from error
            raise


def policy_of(plan: Plan, copies: Mapping[str, Path]) -> Policy:
    """The strategy and the detectors that judge a run."""
    base = base_of(plan)
    strategy = _create("strategy", plan.strategy, base, copies)
    detectors: Sequence[Detector] = [_create("detector", each, base, copies) for each in plan.detectors]
    return Policy(strategy=strategy, detectors=tuned(detectors, strategy))


def agents_of(plan: Plan, copies: Mapping[str, Path]) -> dict[str, Agent]:
    """The agents by the names that the plan has for them."""
    return {each.name: _create("agent", each, base_of(plan), copies) for each in plan.agents}


def gates_of(plan: Plan, copies: Mapping[str, Path]) -> dict[str, Gate]:
    """The gates by name; the promise needs no object, and integrity needs a workspace."""
    return {
        gate.name: _made_gate(gate, base_of(plan), copies).object
        for gate in plan.gates
        if gate.kind not in (CLAIM_GATE, INTEGRITY_GATE)
    }


def gate_maker(plan: Plan, copies: Mapping[str, Path]) -> Make:
    """What makes a gate of the run from its spec, also for another place."""
    return lambda spec: _made_gate(spec, base_of(plan), copies).object


def integrity_of(
    plan: Plan, copies: Mapping[str, Path], workspace: GitWorkspace, scratch: Path
) -> dict[str, Gate]:
    """The gate that runs the others again, where the plan has it."""
    return {
        gate.name: IntegrityGate(
            kept=Exporter(workspace),
            gates=plan.gates,
            make=gate_maker(plan, copies),
            scratch=scratch,
            **gate.options,
        )
        for gate in plan.gates
        if gate.kind == INTEGRITY_GATE
    }


def notifiers_of(plan: Plan, copies: Mapping[str, Path]) -> list[Notifier]:
    """Whoever is told when nobody looks."""
    return [_create("notifier", each, base_of(plan), copies) for each in plan.notify]


def base_of(plan: Plan) -> Path:
    """The directory that paths in the spec are relative to."""
    return Path(plan.workspace[BASE])


def copy_code(plan: Plan, folder: Path, copies: Mapping[str, Path] | None = None) -> None:
    """Plugin files, and those that levels measure by, are copied at the start, out of the agent's reach."""
    there = {name: source for name, source in _level_files(plan).items() if source.is_file()}
    for name, source in {**there, **_code(plan)}.items():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile((copies or {}).get(name, source), _copy(folder, name))


def copies_in(plan: Plan, folder: Path) -> dict[str, Path]:
    """The copies by the names as they are written in the spec; without one the run can't be trusted."""
    copies = {name: _copy(folder, name) for name in _code(plan)}
    for name, copy in copies.items():
        if not copy.exists():
            raise JournalError(
                f"The run's own copy of {name!r} is gone from {folder}, so it can't go on as it began. "
                "Start a new run with `untilgreen run`."
            )
    files = {name: _copy(folder, name) for name in _level_files(plan)}
    return {**{name: copy for name, copy in files.items() if copy.exists()}, **copies}


def _level_files(plan: Plan) -> dict[str, Path]:
    """What the work is compared with, there or not; one that was not there is the agent's own work."""
    named = [name for gate in plan.gates if gate.kind == LEVELS_GATE for name in _measures(gate.options)]
    return {name: Path(plan.workspace[START], name) for name in named}


def _measures(options: Any) -> Iterator[str]:
    match options:
        case dict():
            yield from (options[key] for key in _MEASURES if isinstance(options.get(key), str))
            yield from (name for value in options.values() for name in _measures(value))
        case list() | tuple():
            yield from (name for value in options for name in _measures(value))


def _code(plan: Plan) -> dict[str, Path]:
    parts = (plan.strategy, *plan.detectors, *plan.agents, *plan.notify)
    judges = [_reviewer(gate) for gate in plan.gates if gate.kind == JUDGE_GATE]
    names = [each.use or each.name for each in (*parts, *judges)] + [gate.kind for gate in plan.gates]
    sources = {name: source_of(name, base_of(plan)) for name in names}
    return {name: source for name, source in sources.items() if source is not None}


def _copy(folder: Path, name: str) -> Path:
    mark = blake2b(name.encode(), digest_size=4).hexdigest()
    return folder / f"{mark}-{Path(name.rpartition(':')[0] or name).name}"


def _made(kind: Kind, each: PartSpec, base: Path, copies: Mapping[str, Path]) -> PartSpec:
    """The same part, with where it came from; making it once shows whether it can be made."""
    made = registry.create(kind, each.use or each.name, each.options, base=base, copies=copies)
    return replace(each, origin=made.spec.origin)


def _with_integrity(gates: list[GateSpec], spec: Spec) -> list[GateSpec]:
    """One more stage behind all gates that look at the work, where they look at files."""
    table = msgspec.convert(spec.file.integrity, IntegrityTable)
    if not table.enabled or not repeated(gates):
        return gates
    guard = GateSpec(
        name=INTEGRITY_GATE,
        kind=INTEGRITY_GATE,
        options={"protect": table.protect, "allow": table.allow},
        stage=max(gate.stage for gate in gates) + 1,
        on_fail="ask",
        timeout=seconds(gates),
    )
    return [*gates, guard]


def _known_gate(gate: GateSpec, base: Path, copies: Mapping[str, Path]) -> GateSpec:
    return replace(gate, origin=_made_gate(gate, base, copies).spec.origin)


def _made_gate(gate: GateSpec, base: Path, copies: Mapping[str, Path]) -> Created:
    """A gate of its kind; a judge gets its agent in place of the agent's name."""
    options = unveiled(gate.options)
    if gate.kind == JUDGE_GATE and "agent" in options:
        options["agent"] = _create("agent", _reviewer(gate), base, copies)
    return registry.create("gate", gate.kind, options, base=base, copies=copies)


def _reviewer(gate: GateSpec) -> PartSpec:
    return part_of(Layers(), ("gates", gate.name, "agent"), gate.options["agent"], AGENT_FORMS)


def _create(kind: Kind, each: PartSpec, base: Path, copies: Mapping[str, Path]) -> Any:
    use = unveil(each.use or each.name, os.environ)
    return registry.create(kind, use, unveiled(each.options), base=base, copies=copies).object
