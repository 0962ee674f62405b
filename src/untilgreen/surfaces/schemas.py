"""What programs read of us, as JSON Schemas: the spec, the events of a journal, the lines of `--json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from untilgreen.config.published import DIALECT, Schema, spec_schema
from untilgreen.core.events import Event
from untilgreen.surfaces import output
from untilgreen.surfaces.backtest import SourceLine
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.verified import ComparedLine, VerifiedLine
from untilgreen.surfaces.whatif import ReplayLine, StrategyLine
from untilgreen.surfaces.why.reasons import Reasons

LINES: tuple[type[output.Line], ...] = (
    output.Version,
    output.DetachedLine,
    output.EventLine,
    output.Result,
    output.RunLine,
    output.AppliedLine,
    output.PrunedLine,
    output.VerdictLine,
    output.CheckResult,
    output.PluginLine,
    output.FingerprintLine,
    output.TrustedLine,
    output.Setting,
    output.AgentLine,
    output.PlanResult,
    output.SessionLine,
    output.HealthLine,
    output.DoctorResult,
    Reasons,
    ComparedLine,
    VerifiedLine,
    SourceLine,
    Report,
    StrategyLine,
    ReplayLine,
)
"""Everything that `--json` prints; a new kind of line takes its place here."""


def schema_of(name: str) -> Schema:
    """One of `SCHEMAS`."""
    return SCHEMAS[name]()


def _events() -> Schema:
    return _any_of("An event of a run, as it stands in its journal under `event`", Event)


def _output() -> Schema:
    return _any_of("A line that a command prints with --json", *LINES)


def _result() -> Schema:
    return _any_of("How a run ended, or where it stands", output.Result)


def _report() -> Schema:
    return _any_of("A run written down for others: `report --format json`", Report)


def _any_of(title: str, *types: Any) -> Schema:
    shapes, parts = msgspec.json.schema_components(types)
    whole = shapes[0] if len(shapes) == 1 else {"anyOf": list(shapes)}
    return {"$schema": DIALECT, "title": title, **whole, "$defs": parts}


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "spec": spec_schema,
    "events": _events,
    "output": _output,
    "result": _result,
    "report": _report,
}
