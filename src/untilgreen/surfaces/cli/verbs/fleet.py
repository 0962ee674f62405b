"""fleet and worker: the same runs on many machines."""

from __future__ import annotations

import json as json_module
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from untilgreen.core.values.fleet_view import FleetView
from untilgreen.core.values.units import duration, several
from untilgreen.engine.store.runs import default_state_dir
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.fleet_runs import fleet_url, require, run_async
from untilgreen.surfaces.cli.options import FLEET, OPTIONS, UNNEGATED, Json
from untilgreen.surfaces.json.lines import FleetLine
from untilgreen.surfaces.text.fleet_overview import fleet_lines
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line

if TYPE_CHECKING:
    from untilgreen.fleet.temporal.schedules import Scheduled

app = App(
    name="fleet",
    help="Run on many machines: set up, inspect, limit, schedule, export.",
    default_parameter=UNNEGATED,
    group_parameters=OPTIONS,
)
TRIAL_HEARTBEAT = 10.0
MOST_LABELS = 6
"""How many labels a worker can have: it polls a queue for each combination of them."""


@app.command
def up(*, slots: Annotated[int, Parameter(metavar="N", help="Runs at a time (default: 4).")] = 4) -> int:
    """Start a fleet on this machine: PostgreSQL, Temporal and one worker.

    For a trial; Ctrl-C ends it, and the next `up` continues with the same runs.
    """
    refuse_agents("fleet up", default_state_dir())
    require("psycopg", "temporalio")
    from untilgreen.fleet.runs.records import PostgresRecords
    from untilgreen.fleet.servers import Postgres, Temporal, free_port
    from untilgreen.journal.postgres.schema import migrate

    home = default_state_dir() / "fleet-trial"
    ports = _ports(home, free_port)
    postgres = Postgres(home=_database_home(home), port=ports["postgres"])
    temporal = Temporal(home=home / "temporal", port=ports["temporal"])
    tell("Starting PostgreSQL …")
    postgres.start()
    try:
        tell("Starting Temporal …")
        temporal.start()
        try:
            records = PostgresRecords(postgres.url)
            migrate(records.database)

            async def remember() -> None:
                await records.set("temporal", temporal.address)
                await records.set("heartbeat", str(TRIAL_HEARTBEAT))

            run_async(remember)
            out(f"export {FLEET}={postgres.url}")
            tell("The fleet is up. In another terminal, set that variable, then: untilgreen run TASK --fleet")
            return _work(postgres.url, home / "worker", slots, (), 20.0)
        finally:
            temporal.stop()
    finally:
        postgres.stop()


@app.command
def init(
    url: str,
    /,
    *,
    temporal: Annotated[str, Parameter(metavar="HOST:PORT", help="Where Temporal is.")],
    namespace: Annotated[
        str, Parameter(metavar="NAME", help="Its namespace (default: default).")
    ] = "default",
    heartbeat: Annotated[
        str, Parameter(metavar="TIME", help="A worker silent for this long counts as dead (default: 30s).")
    ] = "30s",
    roles: Annotated[
        bool, Parameter(help="Also create the roles SCHEMA_worker and SCHEMA_viewer, to grant to others.")
    ] = False,
) -> int:
    """Prepare a database for a fleet, or update it after an upgrade.

    Parameters
    ----------
    url
        The database: postgresql://USER@HOST/NAME, and ?schema=TEAM for one of several fleets in it.
    """
    refuse_agents("fleet init", default_state_dir())
    require("psycopg", "temporalio")
    from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords
    from untilgreen.fleet.temporal.connection import connect, register
    from untilgreen.journal.postgres.schema import make_roles, migrate

    seconds = duration(heartbeat, "heartbeat")
    records = PostgresRecords(url)
    version = migrate(records.database)

    async def remember() -> None:
        await records.set("temporal", temporal)
        await records.set("namespace", namespace)
        await records.set("heartbeat", str(seconds))
        await register(await connect(url, COMMAND_SECONDS))

    run_async(remember)
    out(f"The fleet is ready (schema version {version}). Everybody who uses it sets {FLEET}.")
    if roles:
        worker, viewer = make_roles(records.database)
        out(f"Grant {worker} to logins that start and drive runs, and {viewer} to those that only read.")
    return 0


@app.command
def workers(*, json: Json = False) -> int:
    """Show workers, queues, who drives which runs, limits, and takeovers in the last day."""
    url = fleet_url()
    from untilgreen.fleet.overview import overview

    async def work() -> FleetView:
        return await overview(url)

    found = run_async(work)
    if json:
        version_line()
        out_json(FleetLine(fleet=found))
        return 0
    for line in fleet_lines(found):
        out(line)
    return 0


@app.command
def limit(agent: str, runs: int, /) -> int:
    """Limit how many runs of an agent are driven at a time, across all workers.

    Parameters
    ----------
    agent
        The agent's name, as in the spec.
    runs
        How many of its runs are driven at a time; the others wait for their turn.
    """
    refuse_agents("fleet limit", default_state_dir())
    if runs < 1:
        raise UserError(f"A limit of {runs} would stop all runs. Write at least 1.")
    url = fleet_url()
    from untilgreen.fleet.client import Fleet

    async def work() -> None:
        fleet = await Fleet.connect(url)
        await fleet.limit(agent, runs)
        await fleet.records.set(f"limit:{agent}", str(runs))

    run_async(work)
    out(f"At most {several(runs, 'run')} of {agent} at a time; this applies to runs that start from now on.")
    return 0


@app.command
def schedule(
    name: str | None = None,
    run: str | None = None,
    /,
    *,
    cron: Annotated[
        str, Parameter(metavar="TEXT", help="When to start, as a cron expression in UTC: '0 2 * * 1-5'.")
    ] = "",
    every: Annotated[str, Parameter(metavar="TIME", help="Or how often: 6h.")] = "",
    branch: Annotated[
        str, Parameter(metavar="NAME", help="Start from this branch (default: the remote's HEAD).")
    ] = "HEAD",
    remove: Annotated[bool, Parameter(help="Remove the schedule; runs that began continue.")] = False,
) -> int:
    """Start runs on a schedule; without a name, show all schedules.

    Each time a new run begins with the plan of an earlier one, on its branch as it is then. While that run is
    open, the schedule starts no other.

    Parameters
    ----------
    name
        What to call the schedule.
    run
        The run whose plan is repeated: a run id, a prefix of one, or @last.
    """
    url = fleet_url()
    from untilgreen.fleet.client import Fleet
    from untilgreen.fleet.temporal import schedules
    from untilgreen.fleet.temporal.orders import Repeat

    if name is not None:
        refuse_agents("fleet schedule", default_state_dir())
    if name is not None and not remove and (run is None or bool(cron) == bool(every)):
        raise UserError(
            "A schedule needs the run to repeat and one of --cron and --every, "
            f"such as: untilgreen fleet schedule {name} @last --every 24h"
        )
    seconds = duration(every, "every") if every else 0.0

    async def work() -> list[str]:
        fleet = await Fleet.connect(url)
        if name is None:
            return [_shown(each) for each in await schedules.all_of(fleet.client)] or [
                "There are no schedules."
            ]
        if remove:
            await schedules.remove(fleet.client, name)
            return [f"Schedule {name} is removed."]
        found = await fleet.records.open(run or "", Path())
        repeat = Repeat(run=found.id, branch=branch)
        await schedules.add(fleet.client, name, repeat, cron=cron, every=seconds)
        return [f"Schedule {name} repeats run {found.id}: {cron or every}."]

    for line in run_async(work):
        out(line)
    return 0


def _shown(each: Scheduled) -> str:
    due = f", next {datetime.fromtimestamp(each.next, UTC):%Y-%m-%d %H:%M} UTC" if each.next else ""
    return f"{each.name}  {each.when}  repeats {each.repeat.run} on {each.repeat.branch}{due}"


@app.command
def export(run: str, folder: Path, /) -> int:
    """Copy a run of the fleet into a state directory, to verify or archive it.

    Parameters
    ----------
    run
        A run id, a prefix of one, or @last.
    folder
        A state directory; read it with --state-dir.
    """
    url, runs = fleet_url(), folder.absolute() / "runs"
    from untilgreen.fleet.runs.mirror import mirror

    async def work() -> str:
        return (await mirror(url, run, runs)).id

    found = run_async(work)
    out(f"Run {found} is in {folder}. Look at it: untilgreen show {found} --state-dir {folder}")
    return 0


def worker(
    *,
    slots: Annotated[int, Parameter(metavar="N", help="Runs at a time (default: 4).")] = 4,
    label: Annotated[
        list[str] | None,
        Parameter(metavar="NAME", help="Also take runs that need this label. Repeat for more."),
    ] = None,
    grace: Annotated[
        str, Parameter(metavar="TIME", help="How long turns may continue after SIGTERM (default: 10m).")
    ] = "10m",
    cache: Annotated[Path | None, Parameter(metavar="DIR", help="Keep clones and worktrees here.")] = None,
) -> int:
    """Drive runs of the fleet on this machine, until SIGTERM or Ctrl-C."""
    refuse_agents("worker", default_state_dir())
    if len(set(label or ())) > MOST_LABELS:
        raise UserError(
            f"A worker can have at most {MOST_LABELS} labels, since it polls for each combination of them. "
            "Start several workers."
        )
    return _work(
        fleet_url(),
        (cache or default_state_dir() / "worker").absolute(),
        slots,
        tuple(label or ()),
        duration(grace, "grace"),
    )


def _work(url: str, cache: Path, slots: int, labels: tuple[str, ...], grace: float) -> int:
    import asyncio

    from untilgreen.fleet.worker import WorkerOptions, work

    def log(**facts: object) -> None:
        tell(json_module.dumps(facts, default=str))

    options = WorkerOptions(url=url, cache=cache, slots=slots, labels=labels, grace=grace, log=log)
    asyncio.run(work(options))
    sys.stdout.flush()
    return 0


def _ports(home: Path, free_port: Callable[[], int]) -> dict[str, int]:
    """The same ports each time, so that the address stays the same."""
    path = home / "ports.json"
    if not path.exists():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        ports = {"postgres": free_port(), "temporal": free_port()}
        path.write_text(json_module.dumps(ports))
    found: dict[str, int] = json_module.loads(path.read_text())
    return found


def _database_home(home: Path) -> Path:
    """PostgreSQL refuses to run as root, and another user can't enter a private directory."""
    if os.geteuid() != 0:
        return home / "postgres"
    mark = blake2b(os.fsencode(home), digest_size=4).hexdigest()
    return Path("/var/tmp") / f"untilgreen-fleet-{mark}"
