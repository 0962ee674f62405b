"""Answers of MCP tools that no command prints with `--json`."""

from __future__ import annotations

from untilgreen.surfaces.backtest.strategy_tables import StrategyLine
from untilgreen.surfaces.json.lines import Line


class RunStatus(Line, frozen=True, kw_only=True, tag="run_status"):
    """The status of a run."""

    run: str
    status: str
    laps: int
    reason: str = ""
    question: str = ""
    """The question that waits for a person; in a terminal, `untilgreen answer` answers it."""


class LapDiff(Line, frozen=True, kw_only=True, tag="lap_diff"):
    """What a lap changed."""

    run: str
    lap: int
    diff: str


class Replayed(Line, frozen=True, kw_only=True, tag="backtest"):
    """The finished runs with each strategy."""

    runs: int
    strategies: tuple[StrategyLine, ...]
    skipped: tuple[str, ...] = ()
