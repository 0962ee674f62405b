"""What a spec may say: every key and its type."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from untilgreen.core.defaults import DETECTORS
from untilgreen.core.limits import Limits
from untilgreen.core.model import (
    IN_PLACE,
    NO_SANDBOX,
    WORKTREE,
    GateSpec,
    OnFail,
    PartSpec,
    Permissions,
    Sandbox,
    When,
)
from untilgreen.core.remedies import RUNGS, Rung

Part = str | dict[str, Any]
STRATEGY = "hybrid"
MODES = (IN_PLACE, WORKTREE)
FRESH, CONTINUE = "fresh", "continue"
GATE_TIMEOUT = 600.0


class SpecFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The spec as it is written; the published schema is made from this."""

    task: str | None = None
    task_file: str | None = None
    agent: Part | None = None
    agents: list[Part] = field(default_factory=list)
    strategy: Part = STRATEGY
    detectors: list[Part] = field(default_factory=lambda: list[Part](DETECTORS))
    remedies: list[Rung] = field(default_factory=lambda: list(RUNGS))
    session: str | dict[str, Any] = FRESH
    permissions: Permissions = "gates"
    workspace: Part = IN_PLACE
    sandbox: str | dict[str, Any] = NO_SANDBOX
    leave: Literal["best", "last"] = "best"
    on_interrupt: Literal["keep", "rewind"] = "keep"
    promise: str | None = None
    baseline: bool = True
    notify: list[Part] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    gates: dict[str, dict[str, Any]] = field(default_factory=dict)
    integrity: dict[str, Any] = field(default_factory=dict)


class GateRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every gate has, whatever it checks."""

    kind: str | None = None
    use: str | None = None
    required: bool = True
    stage: int = 1
    on_fail: OnFail = "iterate"
    when: When = "always"
    timeout: float | str = GATE_TIMEOUT
    retries: int = 0
    max_attempts: int | None = None


class CommandTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a command gate has beside that."""

    run: str
    report: str | None = None
    expect: int = 0
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None


class WorkspaceTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a run works; `setup` and `copy` make a worktree ready for the gates."""

    mode: Literal["in-place", "worktree"] = "in-place"
    setup: str | list[str] = field(default_factory=list)
    copy: list[str] = field(default_factory=list)


class SandboxTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What agents and gates are kept from, and what is let through."""

    mode: Literal["none", "bwrap"] = "none"
    network: Literal["all", "agents", "none"] = "all"
    env: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    write: list[str] = field(default_factory=list)


class SessionTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a conversation goes on from lap to lap, and what holds for loops inside an agent's session."""

    mode: Literal["fresh", "continue"] = "fresh"
    enabled: bool = True
    max_iterations: int | str | None = None
    promise: str | None = None
    brief: str | None = None


class IntegrityTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files the agent may not make easier, beside tests and the tools' configuration."""

    enabled: bool = True
    protect: list[str] = field(default_factory=list)
    allow: list[str] = field(default_factory=list)


class Spec(Struct, frozen=True, kw_only=True):
    """A spec that was read and makes sense by itself; names are not resolved yet."""

    task: str
    agents: tuple[PartSpec, ...]
    strategy: PartSpec
    detectors: tuple[PartSpec, ...]
    notify: tuple[PartSpec, ...]
    gates: tuple[GateSpec, ...]
    limits: Limits
    workspace: dict[str, Any]
    session: SessionTable
    sandbox: Sandbox
    file: SpecFile


@cache
def kinds_of(table: type[Struct]) -> dict[str, Any]:
    """The keys of a table, each with its type."""
    return {each.name: each.type for each in msgspec.structs.fields(table)}


def defaults_of(table: type[Struct]) -> dict[str, Any]:
    """The keys of a table, each with what it is when nobody says anything."""
    made = {}
    for each in msgspec.structs.fields(table):
        factory = each.default_factory
        made[each.name] = each.default if factory is msgspec.NODEFAULT else factory()
    return made


def wants_text(path: tuple[str, ...]) -> bool:
    """Whether a key takes text and nothing else, so that a version number is one, too."""
    match path:
        case (key,):
            kind = kinds_of(SpecFile).get(key)
        case ("gates", _, key):
            kind = {**kinds_of(GateRules), **kinds_of(CommandTable)}.get(key)
        case ("session", key):
            kind = kinds_of(SessionTable).get(key)
        case ("labels", _) | ("gates", _, "env", _):
            kind = str
        case _:
            kind = None
    return kind in (str, str | None)
