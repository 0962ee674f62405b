"""What tools of MCP answer, where no command prints the same with `--json`."""

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
    """What a person has to answer, in a terminal with `untilgreen answer`."""


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
