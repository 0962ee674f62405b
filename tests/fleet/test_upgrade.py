"""A worker whose package is replaced while it runs, as by `pip install --upgrade`."""

from __future__ import annotations

import shutil

import pytest

import untilgreen
from tests.fleet.audit import audit
from tests.fleet.fleet_bench import FleetBench, over
from tests.test_docs import ROOT
from untilgreen.core.values.model import Outcome
from untilgreen.fleet.client import Fleet

pytestmark = pytest.mark.anyio
TWO_AND_A_FINDING = "test $(wc -l < lines) -ge 2 || { echo a.py:1:1: E501 Line too long; exit 1; }"


async def test_a_worker_whose_package_was_replaced_still_drives(fleet: Fleet, bench: FleetBench) -> None:
    installed = bench.folder / "installed"
    package = installed / untilgreen.__name__
    shutil.copytree(ROOT / "src" / untilgreen.__name__, package)
    bench.switched_off("upgraded").variables["PYTHONPATH"] = str(installed)
    await bench.ready("upgraded")
    for module in package.rglob("*.py"):
        module.write_text("raise ImportError('of another version')\n")

    record = await bench.begin(fleet, bench.agent(0.1), TWO_AND_A_FINDING)
    state = await over(record)

    assert state.outcome is Outcome.CONVERGED
    await audit(fleet, bench, record)
    assert "of another version" not in bench.machines["upgraded"].log()
