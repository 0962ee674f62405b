"""JSON Schemas of everything that programs read: the spec, events, the lines of `--json`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from untilgreen.config.spec.json_schema import DIALECT, Schema, spec_schema
from untilgreen.core.values.events import Event
from untilgreen.surfaces.backtest.detector_tables import SourceLine
from untilgreen.surfaces.backtest.strategy_tables import ReplayLine, StrategyLine
from untilgreen.surfaces.json import lines
from untilgreen.surfaces.json.verify_lines import ComparedLine, VerifiedLine
from untilgreen.surfaces.learning.gathering import LessonLine, RateLine
from untilgreen.surfaces.mcp_answers import LapDiff, Replayed, RunStatus
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.why.evidence import Reasons

LINES: tuple[type[lines.Line], ...] = (
    lines.Version,
    lines.DetachedLine,
    lines.EventLine,
    lines.Result,
    lines.LapLine,
    lines.RunLine,
    lines.FleetLine,
    lines.AppliedLine,
    lines.PrunedLine,
    lines.VerdictLine,
    lines.CheckResult,
    lines.PluginLine,
    lines.FingerprintLine,
    lines.TrustedLine,
    lines.Setting,
    lines.AgentLine,
    lines.PlanResult,
    lines.SessionLine,
    lines.HealthLine,
    lines.DoctorResult,
    Reasons,
    ComparedLine,
    VerifiedLine,
    SourceLine,
    Report,
    StrategyLine,
    ReplayLine,
    LessonLine,
    RateLine,
)
"""Everything that `--json` prints; a new kind of line is added here."""
TOOL_ANSWERS: tuple[type[lines.Line], ...] = (RunStatus, LapDiff, Replayed)
"""Answers of MCP tools that no command prints."""


def schema_of(name: str) -> Schema:
    """The schema with this name in `SCHEMAS`."""
    return SCHEMAS[name]()


def _events() -> Schema:
    return _any_of("An event of a run, as its journal stores it under `event`", Event)


def _output() -> Schema:
    what = "A line that a command prints with --json, or the answer of an MCP tool"
    return _any_of(what, *LINES, *TOOL_ANSWERS)


def _result() -> Schema:
    return _any_of("How a run ended, or its state so far", lines.Result)


def _report() -> Schema:
    return _any_of("A report on a run: `report --format json`", Report)


def _openapi() -> Schema:
    from untilgreen.surfaces.web.api.openapi import document

    return document()


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
    "openapi": _openapi,
}
