"""The plan that a run of a fleet begins with can be used on other machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.fleet_bench import FleetBench
from untilgreen.config.load import Request, load
from untilgreen.engine.wiring.plan import plan_of
from untilgreen.engine.wiring.workplace import workplace
from untilgreen.fleet.runs.beginning import beginning

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("../remote.git", "{folder}/remote.git"),
        ("{folder}/remote.git", "{folder}/remote.git"),
        ("git@host.example:me/shop.git", "git@host.example:me/shop.git"),
        ("https://host.example/me/shop.git", "https://host.example/me/shop.git"),
    ],
)
async def test_a_remote_is_named_so_that_a_worker_finds_it(url: str, remote: str, tmp_path: Path) -> None:
    bench = FleetBench("", tmp_path)
    bench.git("remote", "set-url", "origin", url.format(folder=tmp_path))
    flags = {"agents": ["cmd:true"], "gates": {"done": {"run": "true"}}}
    loaded = load(Request(start=bench.project, task="Do it.", flags=flags, search=False))

    async with beginning(plan_of(loaded, bench.project), bench.warnings.append) as begins:
        assert workplace(begins.plan).remote == remote.format(folder=tmp_path)
