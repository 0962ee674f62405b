"""From a spec to a plan: every name is resolved once, so that a wrong one is reported before anything starts.

A plan has everything needed to make the objects again, so a run can continue after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from untilgreen.config.checks.every_error import raise_all
from untilgreen.config.load import Loaded
from untilgreen.config.max_iterations import LIMIT
from untilgreen.config.sources.layers import Layers
from untilgreen.config.spec.schema import TAKEN_OVER, CleanRoomTable, IntegrityTable, Spec
from untilgreen.core.defaults import promise_of, with_claim
from untilgreen.core.values.limits import Limits, ceiling
from untilgreen.core.values.model import INTEGRITY_GATE, JUDGE_GATE, GateSpec, PartSpec, Plan
from untilgreen.core.values.rules import most_laps
from untilgreen.engine.wiring.objects import Objects
from untilgreen.errors import ConfigError, UserError
from untilgreen.gates.integrity.trial_rooms.trials import repeatable, seconds
from untilgreen.plugins.registry import Kind, is_place


def plan_of(loaded: Loaded, start: Path, objects: Objects | None = None) -> Plan:
    """Resolve every name once, so that a wrong one is reported before anything starts.

    `objects` are those that the run is driven with, if this process drives it.
    """
    objects = objects or objects_for(loaded)
    spec = loaded.spec
    if not spec.agents:
        raise ConfigError(
            "There is no agent. Name one with --agent, for example --agent 'cmd:./fix.sh', "
            "or as `agent` in the spec."
        )
    raise_all(_wrong(loaded, objects))
    strategy = objects.part("strategy", spec.strategy).object
    promise, most = promise_of(strategy, spec.file.promise), most_laps(strategy)
    gates = [_known_gate(objects, gate) for gate in spec.gates]
    return Plan(
        task=spec.task,
        gates=with_claim(_with_integrity(gates, spec), promise),
        agents=tuple(_made(objects, "agent", each) for each in spec.agents),
        strategy=_made(objects, "strategy", spec.strategy),
        strategy_laps=most,
        detectors=tuple(_made(objects, "detector", each) for each in spec.detectors),
        notify=tuple(_made(objects, "notifier", each) for each in spec.notify),
        limits=_raised(loaded, most),
        promise=promise,
        session=spec.session.mode,
        sandbox=spec.sandbox,
        workspace={**spec.workspace, "base": str(loaded.base.absolute()), "start": str(start)},
        **_taken_over(spec),
    )


def _taken_over(spec: Spec) -> dict[str, Any]:
    """The keys that a plan takes from the spec unchanged."""
    values = {key: getattr(spec.file, key) for key in TAKEN_OVER}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _raised(loaded: Loaded, most: int | None) -> Limits:
    """A strategy that needs more laps than the default limit raises it; an explicit limit stays."""
    limits = loaded.spec.limits
    if LIMIT in loaded.layers.sources or most is None or most <= ceiling(limits.iterations):
        return limits
    return replace(limits, iterations=most)


def objects_for(loaded: Loaded) -> Objects:
    """Makes the objects that a spec names."""
    return Objects(loaded.base.absolute())


def check_installed(loaded: Loaded, objects: Objects | None = None) -> None:
    """Find wrong names and options of what is installed, without running any code of the workspace."""
    raise_all(_wrong(loaded, objects or objects_for(loaded), installed=True))


def _wrong(loaded: Loaded, objects: Objects, *, installed: bool = False) -> list[UserError]:
    """Everything that can't be made, each with its place in the spec; with `installed` no file is loaded."""
    spec = loaded.spec
    parts: tuple[tuple[Kind, tuple[str, ...], tuple[PartSpec, ...]], ...] = (
        ("strategy", ("strategy",), (spec.strategy,)),
        ("agent", ("agents", "agent"), spec.agents),
        ("detector", ("detectors",), spec.detectors),
        ("notifier", ("notify",), spec.notify),
    )
    found: list[UserError] = []
    for kind, keys, named in parts:
        for part in named:
            if not (installed and is_place(part.use or part.name)):
                with _noted(found, loaded.layers, *((key,) for key in keys)):
                    _made(objects, kind, part)
    for gate in spec.gates:
        if not (installed and (is_place(gate.kind) or gate.kind == JUDGE_GATE)):
            with _noted(found, loaded.layers, ("gates", gate.name)):
                _known_gate(objects, gate)
    return found


@contextmanager
def _noted(found: list[UserError], layers: Layers, *paths: tuple[str, ...]) -> Iterator[None]:
    """Collect an error, at the place of the first of these keys that is set."""
    try:
        yield
    except UserError as error:
        path = next((path for path in paths if layers.source(path) is not None), None)
        if path is not None:
            placed = layers.error(path, str(error))
            error = type(error)(str(placed), key=path, line=placed.line)
        found.append(error)


def _made(objects: Objects, kind: Kind, each: PartSpec) -> PartSpec:
    """The same part with its origin; fails if the object can't be made."""
    return replace(each, origin=objects.part(kind, each).spec.origin)


def _with_integrity(gates: list[GateSpec], spec: Spec) -> list[GateSpec]:
    """Add the integrity gate in a last stage, if any gate looks at files."""
    table = msgspec.convert(spec.file.integrity, IntegrityTable)
    room = msgspec.convert(spec.file.clean_room, CleanRoomTable)
    if not (table.enabled or room.enabled) or not repeatable(gates):
        return gates
    guard = GateSpec(
        name=INTEGRITY_GATE,
        kind=INTEGRITY_GATE,
        options={
            "protect": table.protect,
            "allow": table.allow,
            "editable": table.editable,
            "originals": table.enabled,
            "clean_room": room.enabled,
            "keep": room.keep,
            "setup": [room.setup] if isinstance(room.setup, str) else room.setup,
            "unproven": room.unproven,
        },
        stage=max(gate.stage for gate in gates) + 1,
        on_fail="ask",
        timeout=seconds(gates),
    )
    return [*gates, guard]


def _known_gate(objects: Objects, gate: GateSpec) -> GateSpec:
    return replace(gate, origin=objects.gate(gate).spec.origin)
