"""From a plan to the objects that a runner works with: each plugin object is made once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from untilgreen.core.defaults import tuned_for
from untilgreen.core.loop.decide import Policy
from untilgreen.core.values.model import CLAIM_GATE, INTEGRITY_GATE, JUDGE_GATE, GateSpec, PartSpec, Plan
from untilgreen.core.values.rules import Detector
from untilgreen.core.values.secrets import reinsert
from untilgreen.core.values.state import RunState
from untilgreen.engine.wiring.redaction import with_secrets
from untilgreen.engine.wiring.workplace import base_of
from untilgreen.gates.integrity.gate import IntegrityGate
from untilgreen.plugins.registry import Created, Kind, registry
from untilgreen.ports import Agent, Gate, HandsToTurns, Notifier
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

if TYPE_CHECKING:  # loaded when gates run again
    from untilgreen.gates.integrity.trial_rooms.trials import Make


class _Key(NamedTuple):
    """What tells one plugin object of a run from another."""

    kind: Kind
    name: str
    use: str
    options: bytes


class Objects:
    """Makes the plugin objects of a run, each of them once, however often they are requested.

    Secrets that the spec names are filled in. `copies` has, by name as written, the files that are loaded
    in place of those in the workspace.
    """

    def __init__(self, base: Path, copies: Mapping[str, Path] | None = None) -> None:
        self._base = base
        self._copies = copies or {}
        self._made: dict[_Key, Created] = {}

    def part(self, kind: Kind, spec: PartSpec) -> Created:
        """A strategy, detector, agent or notifier."""
        use = reinsert(spec.use or spec.name, os.environ)
        given = with_secrets(spec.options)
        key = _Key(kind, spec.name, use, _encoded(given))
        return self._once(key, lambda: self._create(kind, use, given))

    def gate(self, spec: GateSpec) -> Created:
        """A gate of its kind; a judge gets its agent in place of the agent's name."""
        options = with_secrets(spec.options)
        key = _Key("gate", spec.name, spec.kind, _encoded(options))
        return self._once(key, lambda: self._create_gate(spec, options))

    def from_copies(self, copies: Mapping[str, Path]) -> Objects:
        """The same objects, but those of files in the workspace are made again from the run's own copies."""
        again = Objects(self._base, copies)
        again._made = {key: made for key, made in self._made.items() if not _is_file(key, copies)}
        return again

    def _once(self, key: _Key, make: Callable[[], Created]) -> Created:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _create_gate(self, spec: GateSpec, options: dict[str, Any]) -> Created:
        if spec.kind == JUDGE_GATE and "agent" in options:
            options["agent"] = self.part("agent", reviewer(spec)).object
        return self._create("gate", spec.kind, options)

    def _create(self, kind: Kind, use: str, options: dict[str, Any]) -> Created:
        return registry.create(kind, use, options, base=self._base, copies=self._copies)


def objects_of(plan: Plan, copies: Mapping[str, Path] | None = None) -> Objects:
    """Makes the objects of a plan, from the run's own copies if it has any."""
    return Objects(base_of(plan), copies)


def policy_of(plan: Plan, objects: Objects) -> Policy:
    """The strategy and the detectors that judge a run."""
    strategy = objects.part("strategy", plan.strategy).object
    detectors: Sequence[Detector] = [objects.part("detector", each).object for each in plan.detectors]
    return Policy(strategy=strategy, detectors=tuned_for(detectors, strategy))


def agents_of(plan: Plan, objects: Objects) -> dict[str, Agent]:
    """The agents by the names that the plan has for them."""
    return {each.name: objects.part("agent", each).object for each in plan.agents}


def gates_of(plan: Plan, objects: Objects) -> dict[str, Gate]:
    """The gates by name; the promise needs no object, and integrity needs a workspace."""
    return {
        gate.name: objects.gate(gate).object
        for gate in plan.gates
        if gate.kind not in (CLAIM_GATE, INTEGRITY_GATE)
    }


def gate_maker(objects: Objects) -> Make:
    """A function that makes a gate of the run from its spec, to run it somewhere else."""
    return lambda spec: objects.gate(spec).object


def integrity_of(
    plan: Plan, objects: Objects, workspace: GitWorkspace, scratch: Path
) -> dict[str, IntegrityGate]:
    """The integrity gate, which runs the others again, if the plan has it."""
    return {
        gate.name: IntegrityGate(
            trees=Exporter(workspace),
            gates=plan.gates,
            make=gate_maker(objects),
            scratch=scratch,
            memory=scratch.with_name("unkept"),
            **gate.options,
        )
        for gate in plan.gates
        if gate.kind == INTEGRITY_GATE
    }


def notifiers_of(plan: Plan, objects: Objects) -> list[Notifier]:
    """The objects that send messages about the run."""
    return [objects.part("notifier", each).object for each in plan.notify]


def env_of_turns(notifiers: Sequence[Notifier]) -> Callable[[RunState], Mapping[str, str]]:
    """The variables that notifiers pass to each turn."""
    giving = [each for each in notifiers if isinstance(each, HandsToTurns)]
    return lambda state: {name: value for each in giving for name, value in each.turn_env(state).items()}


def reviewer(gate: GateSpec) -> PartSpec:
    """The agent that a judge asks, as the gate names it."""
    from untilgreen.config.checks.plugin_refs import AGENT_FORMS, part_of  # noqa: PLC0415 - few plans have a judge
    from untilgreen.config.sources.layers import Layers  # noqa: PLC0415 - the same

    return part_of(Layers(), ("gates", gate.name, "agent"), gate.options["agent"], AGENT_FORMS)


def _encoded(options: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(options, enc_hook=repr, order="deterministic")


def _is_file(key: _Key, copies: Mapping[str, Path]) -> bool:
    """Whether an object may hold code of a file that the run has a copy of; a judge holds an agent."""
    return key.use in copies or (key.use == JUDGE_GATE and bool(copies))
