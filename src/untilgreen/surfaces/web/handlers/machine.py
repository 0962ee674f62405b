"""The operations about this machine and all its runs: what is installed, what other strategies would do."""

from __future__ import annotations

from pathlib import Path

from anyio import CapacityLimiter, to_thread

from untilgreen.backtest.own_runs import USUAL, candidates, find
from untilgreen.backtest.strategies import replay, row
from untilgreen.config.checks.plugin_refs import part_of
from untilgreen.config.sources.from_text import toml_value
from untilgreen.config.sources.layers import Layers
from untilgreen.core.defaults import DETECTORS
from untilgreen.core.values.model import PartSpec
from untilgreen.engine.operations.doctor import machine, sandbox
from untilgreen.plugins.kinds import BUILT_IN, Kind
from untilgreen.plugins.registry import registry
from untilgreen.surfaces.backtest.strategy_tables import sentence
from untilgreen.surfaces.web.api import values
from untilgreen.surfaces.web.api.requests import Strategies
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import Call

MOST_REPLAYED = 500
MOST_STRATEGIES = 8
MOST_DIFFERENT = 200
_one_at_a_time = CapacityLimiter(1)
"""A backtest keeps a core busy for seconds; two at once would make the page unusable."""


async def plugins(call: Call) -> values.Plugins:
    """Everything that a spec can name, and where it comes from."""
    kinds: tuple[Kind, ...] = tuple(BUILT_IN)
    return values.Plugins(plugins=tuple(info for kind in kinds for info in registry.list(kind)))


async def doctor(call: Call) -> values.Checkup:
    """What a run needs of this machine: git, disk, the sandbox."""
    roots = call.service.start.roots
    rows = [row async for row in machine(call.service.runs.store, roots[0] if roots else Path.cwd())]
    return values.Checkup(rows=(*rows, await sandbox(needed=call.service.start.sandboxed)))


async def backtest(call: Call) -> values.Backtest:
    """Your own runs, replayed with other strategies; starts no agent, and loads no code of a workspace."""
    query: Strategies = call.query
    return await to_thread.run_sync(_backtest, call, query, limiter=_one_at_a_time)


def _backtest(call: Call, query: Strategies) -> values.Backtest:
    folders = call.service.runs.store.runs(None)
    if query.workspace:
        known = call.service.runs.store.catalog
        folders = [folder for folder in folders if known.meta(folder).workspace == query.workspace]
    found = find(folders[:MOST_REPLAYED], tuple(PartSpec(name=name) for name in DETECTORS))
    chosen = candidates(_strategies(query), found.runs)
    replayed = {each.name: [replay(run, each) for run in found.runs] for each in chosen}
    rows = [row(name, found.runs, each) for name, each in replayed.items()] if found.runs else []
    titles = {run.state.run: run.state.plan.title for run in found.runs}
    different = [
        values.Difference(strategy=name, title=titles[each.run], replayed=each)
        for name, all_ in replayed.items()
        for each in all_
        if each.kind != "same"
    ]
    return values.Backtest(
        runs=len(found.runs),
        left_out=found.open + len(folders[MOST_REPLAYED:]),
        trouble=found.trouble,
        strategies=tuple(
            values.BacktestRow(row=each, saved=each.saved, lost=each.lost_share, sentence=sentence(each))
            for each in rows
        ),
        different=tuple(different[:MOST_DIFFERENT]),
        usual=tuple(dict.fromkeys(part.use or part.name for part in USUAL)),
    )


def _strategies(query: Strategies) -> tuple[PartSpec, ...]:
    """The built-in strategies that a request names: it can't name code."""
    written = [each for each in query.strategies.split(";") if each.strip()]
    if len(written) > MOST_STRATEGIES:
        raise Refusal(
            400, "Bad request", f"Name up to {MOST_STRATEGIES} strategies, separated by semicolons."
        )
    parts = tuple(part_of(Layers(), ("strategy",), toml_value(each.strip())) for each in written)
    for part in parts:
        if (part.use or part.name) not in BUILT_IN["strategy"]:
            names = ", ".join(BUILT_IN["strategy"])
            raise Refusal(
                400,
                "Bad request",
                f"{part.use or part.name!r} is not a built-in strategy. Choose from: {names}.",
            )
    return parts
