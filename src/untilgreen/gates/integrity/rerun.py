"""The gates of a run once more, in a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import anyio
from msgspec.structs import replace as with_fields

from untilgreen.core.model import (
    APPROVAL_GATE,
    CLAIM_GATE,
    INTEGRITY_GATE,
    GateSpec,
    Verdict,
)
from untilgreen.core.standing import out_of_time
from untilgreen.gates.integrity.copies import Copy
from untilgreen.ports import Gate, Mount, Site, allowance

Make: TypeAlias = Callable[[GateSpec], Gate]
Verdicts: TypeAlias = dict[str, Verdict]

_NOT_IN_A_COPY = frozenset({CLAIM_GATE, INTEGRITY_GATE, APPROVAL_GATE, "judge", "ci"})
_SLACK_SECONDS = 120.0
_RUNS = 3
"""The originals alone, with the new tests beside them, and the tree as it is."""


def repeated(gates: Sequence[GateSpec]) -> tuple[GateSpec, ...]:
    """The gates that say something about files wherever they lie, cheap stages first."""
    fitting = [gate for gate in gates if gate.required and gate.kind not in _NOT_IN_A_COPY]
    return tuple(sorted(fitting, key=lambda gate: gate.stage))


def seconds(gates: Sequence[GateSpec]) -> float | None:
    """How long all of it may take, when every gate takes as long as it may."""
    total = _SLACK_SECONDS
    for gate in repeated(gates):
        if gate.timeout is None:
            return None
        total += _RUNS * (1 + gate.retries) * gate.timeout
    return total


async def rerun(gates: Sequence[GateSpec], make: Make, copy: Copy, below: str, site: Site) -> Verdicts:
    """One after the other, all of them: what is red early must not hide what is red later."""
    walls = site.walls and site.walls.opened(Mount(path=copy.path, way="write"))
    env = {**copy.env(), **site.env}
    place = replace(site, root=copy.path / below, output=None, env=env, walls=walls)
    found: Verdicts = {}
    for spec in gates:
        gate = make(with_fields(spec, options=copy.relocated(spec.options)))
        for _ in range(1 + spec.retries):
            said = await _checked(gate, spec, place)
            found[spec.name] = with_fields(said, excerpt=said.excerpt.replace(f"{copy.path}/", ""))
            if found[spec.name].status == "pass":
                break
    return found


async def _checked(gate: Gate, spec: GateSpec, site: Site) -> Verdict:
    with anyio.move_on_after(allowance(gate, spec.timeout)):
        return await gate.check(replace(site, seconds=spec.timeout))
    return Verdict(status="error", findings=(out_of_time(spec.timeout or 0),))


def write_down(output: Path | None, title: str, verdicts: Verdicts) -> None:
    """What the gates said in a copy, for people."""
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a", encoding="utf-8", errors="replace") as file:
        for name, verdict in verdicts.items():
            file.write(f"== {name}, {title}: {verdict.status}\n{verdict.excerpt}\n")
