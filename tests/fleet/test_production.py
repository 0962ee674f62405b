"""A fleet as a team sets it up: its own namespace, schema and roles, and a worker with few rights."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from tests.fleet.fleet_bench import FleetBench
from tests.fleet.test_commands import ADDS, Typed, until
from untilgreen.fleet.servers import Postgres, Temporal
from untilgreen.journal.postgres.database import Database


def test_a_team_has_its_own_namespace_schema_and_roles(
    postgres: Postgres, temporal: Temporal, home: Path
) -> None:
    bench = FleetBench("", home / "team")
    program = str(Path(sys.executable).with_name("temporal"))
    made = ["operator", "namespace", "create", "--namespace", "team", "--address", temporal.address]
    subprocess.run([program, *made], check=True, stdout=subprocess.DEVNULL)
    typed = Typed(bench.project, home / "team-state")
    where = ("--temporal", temporal.address, "--namespace", "team")

    code, said = typed("fleet", "init", f"{postgres.url}?schema=team", *where, "--heartbeat", "5s", "--roles")
    assert (code, "Grant team_worker to" in said) == (0, True), said
    assert typed("fleet", "init", f"{postgres.url}?schema=team", *where)[0] == 0
    owner = Database(postgres.url)
    for name, role in (("team_machine", "team_worker"), ("team_person", "team_viewer")):
        sql = f"CREATE ROLE {name} LOGIN IN ROLE {role}".encode()
        owner.run(lambda connection, sql=sql: connection.execute(sql))  # type: ignore[misc]
    owner.close()

    typed.env["UNTILGREEN_FLEET"] = postgres.url.replace("untilgreen@", "team_machine@") + "?schema=team"
    worker = typed.start("worker", "--slots", "2", "--grace", "10s", "--cache", str(home / "team-cache"))
    try:
        words = ("run", "Write.", "--agent", ADDS, "--gate", "test -s lines", "--fleet", "--json")
        code, said = typed(*words)
        assert code == 0, said
        run = json.loads(said.splitlines()[-1])["run"]
        typed.env["UNTILGREEN_FLEET"] = postgres.url.replace("untilgreen@", "team_person@") + "?schema=team"
        until(lambda: "converged" in typed("list", "--fleet")[1])
        code, said = typed(*words)
        assert (code, "Ask the owner for team_worker" in said, "Traceback" in said) == (2, True, False), said
        assert typed("show", run, "--fleet")[0] == 0
        assert bench.branch(run) == "line\n"
    finally:
        worker.send_signal(signal.SIGTERM)
        rest, _ = worker.communicate(timeout=60)
    assert worker.returncode == 0, rest
