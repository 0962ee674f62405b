"""Every key of the spec: its type, its default, its bounds and what it is for.

A new key needs a field here and, if a run uses it, a field of the same name in `Plan`. Checks, the JSON
Schema, the reference, `help spec` and `config show` read these fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, field

from untilgreen.core.defaults import DETECTORS
from untilgreen.core.loop.remedies import RUNGS, Rung
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import (
    IN_PLACE,
    NO_SANDBOX,
    GateSpec,
    OnFail,
    PartSpec,
    Permissions,
    Plan,
    SandboxSpec,
    Wait,
    When,
)
from untilgreen.core.values.option_checks import (
    COUNT,
    DURATION,
    FromOne,
    FromZero,
    about,
    description_of,
    kinds_of,
)

Part = str | dict[str, Any]
STRATEGY = "hybrid"
FRESH = "fresh"
GATE_TIMEOUT = 600.0


class SpecFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The spec as it is written."""

    task: Annotated[str | None, about("What you want done.")] = None
    task_file: Annotated[
        str | None, about("A file with the task, relative to the spec; instead of `task`.")
    ] = None
    agent: Annotated[
        Part | None, about('The agent: a name, "cmd:COMMAND", or a table with `use` and options.')
    ] = None
    agents: Annotated[
        list[Part],
        about("Several agents: when one can't continue, the next one takes over. Instead of `agent`."),
    ] = field(default_factory=list)
    strategy: Annotated[
        Part, about("Decides after each lap whether to continue: a name, or a table with `use` and options.")
    ] = STRATEGY
    detectors: Annotated[
        list[Part], about("Patterns of a stuck run to look for: names, or tables with `use` and options.")
    ] = field(default_factory=lambda: list[Part](DETECTORS))
    remedies: Annotated[
        list[Rung], about("What to try when a run is stuck, one lap each, in this order.")
    ] = field(default_factory=lambda: list(RUNGS))
    session: Annotated[
        str | dict[str, Any],
        about("Whether the agent's conversation starts fresh in each lap or continues: a mode, or a table."),
    ] = FRESH
    permissions: Annotated[
        Permissions,
        about("What the agent may do without asking: edit files and run the gates, or everything."),
    ] = "gates"
    workspace: Annotated[
        Part, about("Where the agent works: a mode, or a table with `mode` and its options.")
    ] = IN_PLACE
    sandbox: Annotated[
        str | dict[str, Any],
        about("How agents and gates are isolated: a mode, or a table with `mode` and its options."),
    ] = NO_SANDBOX
    leave: Annotated[
        Literal["best", "last"], about("Which lap's files to leave when a run ends without being green.")
    ] = "best"
    on_interrupt: Annotated[
        Literal["keep", "rewind"], about("What to do with the files of a turn that a crash interrupted.")
    ] = "keep"
    wait: Annotated[
        Wait, about("How long a question waits: 15 minutes, then its default is taken; or forever.")
    ] = "default"
    promise: Annotated[str | None, about("The text with which the agent claims to be done.")] = None
    baseline: Annotated[bool, about("Whether to run the gates once before the first lap.")] = True
    notify: Annotated[list[Part], about('Notifications: "bell", "command:…", "webhook:…", or a plugin.')] = (
        field(default_factory=list)
    )
    labels: Annotated[
        dict[str, str],
        about("Your own names and values; in a fleet, an empty value asks for a worker with that label."),
    ] = field(default_factory=dict)
    limits: Annotated[dict[str, Any], about("Hard limits of a run.")] = field(default_factory=dict)
    gates: Annotated[dict[str, dict[str, Any]], about("The checks, by name.")] = field(default_factory=dict)
    integrity: Annotated[
        dict[str, Any], about("How tests and their configuration are protected from the agent.")
    ] = field(default_factory=dict)
    clean_room: Annotated[
        dict[str, Any],
        about("The fresh directory in which gates run once more before a run may end green."),
    ] = field(default_factory=dict)


class GateRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every gate has, no matter what it checks."""

    kind: Annotated[str | None, about("The kind of gate; default: a command.")] = None
    use: Annotated[
        str | None, about("The same as `kind`; reads better for a plugin such as './checks.py:NoTodos'.")
    ] = None
    required: Annotated[bool, about("Whether the gate must be green for the run to be green.")] = True
    stage: Annotated[FromOne, about("Its place in the order; if a stage fails, later ones are skipped.")] = 1
    on_fail: Annotated[
        OnFail, about("What a failure leads to: another lap, the end of the run, or a question to you.")
    ] = "iterate"
    when: Annotated[
        When, about("Whether it runs in every lap, only after changes, or only after a claim.")
    ] = "always"
    timeout: Annotated[
        float | str, about("How long it may take before it is killed with everything it started.", DURATION)
    ] = GATE_TIMEOUT
    retries: Annotated[
        FromZero, about("How often to retry when it is red; if it then passes, it is flaky.")
    ] = 0
    max_attempts: Annotated[FromOne | None, about("Ask a person after this many red laps.")] = None


class CommandTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a command gate has in addition."""

    run: Annotated[str, about("The command, for /bin/sh.")]
    report: Annotated[
        str | None, about("A report that the command writes: JUnit XML, CTRF, SARIF or TAP.")
    ] = None
    expect: Annotated[Annotated[int, Meta(ge=0, le=255)], about("The exit code that means green.")] = 0
    env: Annotated[dict[str, str], about("Environment variables for the command.")] = field(
        default_factory=dict
    )
    cwd: Annotated[
        str | None, about("The directory to run it in, relative to where the run was started.")
    ] = None
    believe: Annotated[
        Literal["output", "exit-code"],
        about('"output" also fails on failures printed with exit code 0; "exit-code" ignores them.'),
    ] = "output"
    allow_skipped: Annotated[bool, about("Whether it may be green even if every test was skipped.")] = False


class WorkspaceTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a run works; `setup` and `copy` prepare a worktree for the gates."""

    mode: Annotated[
        Literal["in-place", "worktree"], about("In your directory, or in a git worktree of its own.")
    ] = "in-place"
    setup: Annotated[str | list[str], about("Commands that prepare a worktree for the gates.")] = field(
        default_factory=list
    )
    copy: Annotated[
        list[str],
        about("Ignored files that a worktree needs, such as .env; paths and patterns, relative to the spec."),
    ] = field(default_factory=list)
    max_file: Annotated[
        int | str | None,
        about("Leave new files above this size, such as 100M, out of snapshots and restores."),
    ] = None


class SandboxTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What agents and gates can't reach, and the exceptions."""

    mode: Annotated[
        Literal["none", "bwrap", "docker", "podman"],
        about("Whether agents and gates run under bubblewrap, or in containers made from `image`."),
    ] = "none"
    image: Annotated[str, about("The image for docker or podman; agents and tools have to be in it.")] = ""
    network: Annotated[
        Literal["all", "agents", "none"], about("Who may use the network: everyone, only agents, or no one.")
    ] = "all"
    env: Annotated[
        list[str], about("Names of more variables to pass in; a `*` at the end matches any suffix.")
    ] = field(default_factory=list)
    read: Annotated[list[str], about("Hidden paths to make readable, such as ~/.npmrc.")] = field(
        default_factory=list
    )
    write: Annotated[list[str], about("Paths to make writable besides the workspace.")] = field(
        default_factory=list
    )
    disk: Annotated[
        int | str | None,
        about(
            "Bytes that an agent or a gate may write, such as 10G. Without it, /tmp and the like hold 4 GB."
        ),
    ] = None
    memory: Annotated[
        int | str | None, about("Bytes of memory that an agent or a gate may use, such as 8G.")
    ] = None
    processes: Annotated[
        Annotated[int, Meta(ge=1)], about("Processes and threads that an agent or a gate may have at a time.")
    ] = 8192
    as_root: Annotated[
        bool,
        about("Whether root may use the sandbox; it protects less from root, so root is refused by default."),
    ] = False


class SessionTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a conversation continues from lap to lap, and the defaults of loops in an agent's session."""

    mode: Annotated[
        Literal["fresh", "continue"],
        about("Whether the agent's conversation starts fresh in each lap or continues."),
    ] = "fresh"
    enabled: Annotated[bool, about("Whether a loop may be started in an agent's own session.")] = True
    max_iterations: Annotated[
        int | str | None,
        about("Maximum number of laps of a loop in a session, unless its start sets one.", COUNT),
    ] = None
    promise: Annotated[str | None, about("The text with which the agent of a session claims to be done.")] = (
        None
    )
    brief: Annotated[
        str | None, about("A file with your own template for the briefs of a session, relative to the spec.")
    ] = None


class IntegrityTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files are protected from the agent, besides tests and the tools' configuration."""

    enabled: Annotated[
        bool, about("Whether changed tests are put back and run again before a run may end green.")
    ] = True
    protect: Annotated[list[str], about("Patterns of further files to protect.")] = field(
        default_factory=list
    )
    allow: Annotated[list[str], about("Patterns of protected files that the agent may change.")] = field(
        default_factory=list
    )
    editable: Annotated[
        list[str],
        about("Patterns of the only files to edit; everything else is put back before the last verdict."),
    ] = field(default_factory=list)


class CleanRoomTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The clean room in which gates must be green before a run may end green."""

    enabled: Annotated[
        bool, about("Whether gates run once more on the snapshot alone before a run may end green.")
    ] = True
    keep: Annotated[list[str], about("Patterns of ignored files that gates need there as they are now.")] = (
        field(default_factory=list)
    )
    setup: Annotated[
        str | list[str],
        about("Commands that install what gates need, run there after a lock or manifest file changed."),
    ] = field(default_factory=list)
    unproven: Annotated[
        Literal["ask", "accept"],
        about("What to do when a gate can't work there: ask a person, or accept it with a warning."),
    ] = "ask"


TABLES: dict[str, type[Struct]] = {
    "limits": Limits,
    "session": SessionTable,
    "workspace": WorkspaceTable,
    "sandbox": SandboxTable,
    "integrity": IntegrityTable,
    "clean_room": CleanRoomTable,
}
"""The tables of a spec whose keys are fixed."""
MODES = tuple(name for name, table in TABLES.items() if "mode" in table.__struct_fields__)
"""Tables that can be written as one word, their mode."""
EXTENDS = "The profile that this one builds on."
PROFILES = "Sets of values by name, applied with `--profile NAME`."


class Spec(Struct, frozen=True, kw_only=True):
    """A spec that is valid by itself; its names are not resolved yet."""

    task: str
    agents: tuple[PartSpec, ...]
    strategy: PartSpec
    detectors: tuple[PartSpec, ...]
    notify: tuple[PartSpec, ...]
    gates: tuple[GateSpec, ...]
    limits: Limits
    workspace: dict[str, Any]
    session: SessionTable
    sandbox: SandboxSpec
    file: SpecFile


TAKEN_OVER = tuple(
    name
    for name in SpecFile.__struct_fields__
    if name in Plan.__struct_fields__ and name not in (*Spec.__struct_fields__, "promise")
)
"""Keys that a plan takes over from the spec unchanged."""


def defaults_of(table: type[Struct]) -> dict[str, Any]:
    """The keys of a table, each with its default."""
    made = {}
    for each in msgspec.structs.fields(table):
        factory = each.default_factory
        made[each.name] = each.default if factory is msgspec.NODEFAULT else factory()
    return made


def described_keys() -> Iterator[tuple[str, str]]:
    """Every key of a spec file as people write it, and what it is for."""
    tables: tuple[tuple[str, type[Struct]], ...] = (
        ("", SpecFile),
        *((f"{name}.", table) for name, table in TABLES.items()),
        ("gates.NAME.", GateRules),
        ("gates.NAME.", CommandTable),
    )
    for start, table in tables:
        yield from ((start + key, description_of(kind)) for key, kind in kinds_of(table).items())
    yield "profiles", PROFILES
    yield "profiles.NAME.extends", EXTENDS


def members(kind: Any) -> tuple[Any, ...]:
    """The types that a value may have, without their annotations."""
    if get_origin(kind) is Annotated:
        return members(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return tuple(inner for each in get_args(kind) for inner in members(each))
    return (kind,)


def wants_text(path: tuple[str, ...]) -> bool:
    """Whether a key takes only text, so that a version number is text, too."""
    match path:
        case (key,):
            kind = kinds_of(SpecFile).get(key)
        case ("gates", _, key):
            kind = {**kinds_of(GateRules), **kinds_of(CommandTable)}.get(key)
        case (table, key) if table in TABLES and table != "limits":
            kind = kinds_of(TABLES[table]).get(key)
        case ("labels", _) | ("gates", _, "env", _):
            kind = str
        case _:
            kind = None
    return {each for each in members(kind) if each is not type(None)} == {str}
