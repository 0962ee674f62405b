"""What verbs do with `--fleet`: start a run in the fleet, list its runs, and find one of them."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import anyio

from untilgreen.core.loop.receive import Steer
from untilgreen.core.values.model import Plan
from untilgreen.core.values.run_row import RunRow
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import FLEET
from untilgreen.surfaces.cli.verbs.list import HEADER, show_row
from untilgreen.surfaces.json.lines import RunLine
from untilgreen.surfaces.text.printing import out, out_json, version_line

_T = TypeVar("_T")


def fleet_url() -> str:
    """Where the fleet's database is; asked before a module that needs the fleet's libraries is imported."""
    require("psycopg", "temporalio")
    url = os.environ.get(FLEET, "")
    if not url:
        raise UserError(
            f"{FLEET} is not set, so there is no fleet. Try one on this machine: untilgreen fleet up"
        )
    return url


def require(*modules: str) -> None:
    """Name a missing extra with the command that installs it."""
    if any(find_spec(each) is None for each in modules):
        raise UserError(
            "The fleet's libraries are not installed. Install them: pip install 'untilgreen[fleet]'"
        )


def run_async(work: Callable[[], Awaitable[_T]]) -> _T:
    """Run asynchronous work to its end."""
    return anyio.run(work)


async def knock(run: str) -> None:
    """Wake a run's workflow; if Temporal is down, its driver finds commands by itself."""
    from untilgreen.fleet.client import Fleet

    with suppress(UserError):
        await (await Fleet.connect(fleet_url(), 0.0)).knock(run)


def find(text: str, state_dir: Path, clone: Path | None = None) -> FolderRecord:
    """A run of the fleet, copied to where verbs can read it; with its snapshots in the user's `clone`."""
    url = fleet_url()
    from untilgreen.fleet.runs.mirror import mirror

    folder = state_dir / "fleet" / blake2b(url.encode(), digest_size=6).hexdigest() / "runs"

    async def work() -> FolderRecord:
        return await mirror(url, text, folder, knock, clone)

    return run_async(work)


def begin_in_fleet(
    plan: Plan,
    warn: Callable[[str], None],
    *,
    json: bool,
    note: Steer | None = None,
    copies: Mapping[str, Path] | None = None,
) -> int:
    """Hand a run to the fleet; its workers drive it from here on."""
    url = fleet_url()
    from untilgreen.fleet.client import Fleet
    from untilgreen.fleet.temporal.orders import Order

    async def work() -> str:
        fleet = await Fleet.connect(url)
        return (await fleet.begin(plan, Order(run=""), warn, note=note, copies=copies)).id

    run = run_async(work)
    if json:
        version_line()
        out_json(RunLine(run=run, status="open", task=plan.title))
        return 0
    out(f"Run {run} is in the fleet. Its result will be the branch untilgreen/{run} of origin.")
    out(f"Watch it with: untilgreen follow {run} --fleet")
    out(f" Stop it with: untilgreen stop {run} --fleet")
    return 0


def list_fleet(limit: int, *, json: bool) -> int:
    """The fleet's runs, newest first."""
    url = fleet_url()
    from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords

    records = PostgresRecords(url, patience=COMMAND_SECONDS)

    async def work() -> list[tuple[str, RunRow]]:
        return [each async for each in records.rows()][:limit]

    rows = run_async(work)
    if json:
        version_line()
    elif rows:
        out(HEADER)
    for run, row in rows:
        show_row(run, row, row.status, json=json)
    if not rows and not json:
        out("The fleet has no runs yet. Start one with: untilgreen run TASK --fleet")
    return 0
