"""What each tool takes; the schemas that clients see are made from these."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

LONGEST_WAIT = 50
"""Seconds; most clients give up on a tool after a minute."""
Schema = dict[str, Any]
_Run = Annotated[str, Meta(description="A run id, a prefix of one, or @last.")]


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool."""


class StartArguments(Arguments, frozen=True, kw_only=True):
    """Start a run: an agent works on a task until its gates are green. Returns at once; then use run_wait."""

    task: Annotated[str, Meta(description="What to do.", min_length=1)]
    directory: Annotated[str, Meta(description="The project; default: where the server was started.")] = ""
    agent: Annotated[str, Meta(description="claude, codex, 'cmd:./fix.sh', …; default: the spec's.")] = ""
    gates: Annotated[
        tuple[str, ...], Meta(description="Commands, or NAME=COMMAND; added to the gates of the spec.")
    ] = ()
    max_iterations: Annotated[
        int | None, Meta(description="Maximum number of laps; default: the spec's, or 20.")
    ] = None
    max_cost: Annotated[str, Meta(description="Maximum cost, for example $5.")] = ""


class WaitArguments(Arguments, frozen=True, kw_only=True):
    """Wait until a run has ended or needs a person, and report each lap meanwhile."""

    run: _Run = "@last"
    seconds: Annotated[
        float, Meta(description="Maximum time to wait, in seconds.", gt=0, le=LONGEST_WAIT)
    ] = 30.0


class RunArguments(Arguments, frozen=True, kw_only=True):
    """Show a run: outcome, laps, gates, what it used."""

    run: _Run = "@last"


class WhyArguments(Arguments, frozen=True, kw_only=True):
    """Explain a run's outcome: what was seen, what was tried, what has to change."""

    run: _Run = "@last"


class DiffArguments(Arguments, frozen=True, kw_only=True):
    """Show what one lap of a run changed, as a unified diff."""

    run: _Run = "@last"
    lap: Annotated[int, Meta(description="The lap; default: the last one.", ge=0)] = 0


class SteerArguments(Arguments, frozen=True, kw_only=True):
    """Send a note to the agent of a run; it arrives with the next brief."""

    note: Annotated[str, Meta(min_length=1)]
    run: _Run = "@last"


class StopArguments(Arguments, frozen=True, kw_only=True):
    """Stop a run after the current lap."""

    run: _Run = "@last"
    reason: str = "stopped by an MCP client"


class CheckArguments(Arguments, frozen=True, kw_only=True):
    """Run the gates of a project once, without an agent."""

    directory: Annotated[str, Meta(description="The project; default: where the server was started.")] = ""
    gates: Annotated[
        tuple[str, ...], Meta(description="Commands, or NAME=COMMAND; added to the gates of the spec.")
    ] = ()


class BacktestArguments(Arguments, frozen=True, kw_only=True):
    """Replay the finished runs with other strategies: laps and money saved, successes lost. No agent runs."""

    strategies: Annotated[
        tuple[str, ...], Meta(description="fixed, hybrid, ralph, manual, adaptive; default: the usual ones.")
    ] = ()
    everywhere: Annotated[bool, Meta(description="Also the runs of other directories.")] = False


def schema_of(kind: type[Struct]) -> Schema:
    """The schema with an object at its root, as the protocol wants it; msgspec puts a reference there."""
    whole: Schema = msgspec.json.schema(kind)
    root = str(whole.pop("$ref", "")).rpartition("/")[2]
    if not root:
        return whole
    parts = {name: part for name, part in whole["$defs"].items() if name != root}
    return {**whole["$defs"][root], **({"$defs": parts} if parts else {})}
