"""Both servers behind TLS, with verified certificates; PostgreSQL also behind a pooler."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from untilgreen.errors import UserError
from untilgreen.fleet.runs.record import PostgresRecord
from untilgreen.fleet.runs.records import PostgresRecords
from untilgreen.fleet.servers import HOST, Postgres, Temporal, _other_user, free_port, listens
from untilgreen.fleet.temporal.connection import connect, settings
from untilgreen.journal.postgres.database import Database, DatabaseAway
from untilgreen.journal.postgres.notices import Notices
from untilgreen.testing import record_laws

pytestmark = pytest.mark.anyio
NUMBERS = count(1)
POOLER = """
[databases]
untilgreen = host={host} port={server}
[pgbouncer]
listen_addr = {host}
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {home}/users
pool_mode = transaction
default_pool_size = 2
client_tls_sslmode = require
client_tls_key_file = {home}/server.key
client_tls_cert_file = {home}/server.crt
"""


def certificate(home: Path, name: str) -> Path:
    """A self-signed certificate for this machine's loopback."""
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    named = ["-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{HOST}"]
    files = ["-keyout", str(home / f"{name}.key"), "-out", str(home / f"{name}.crt")]
    leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]
    subprocess.run([*made, *named, *leaf, *files], check=True, stderr=subprocess.DEVNULL)
    return home / f"{name}.crt"


@pytest.fixture(scope="module")
def certificates(home: Path) -> Path:
    folder = home / "certificates"
    folder.mkdir()
    for name in ("server", "client", "stranger"):
        certificate(folder, name)
    (folder / "users").write_text('"untilgreen" ""\n')
    for path in folder.iterdir():
        path.chmod(0o644)
    return folder


@pytest.fixture(scope="module")
def pooled(postgres: Postgres, certificates: Path) -> Iterator[str]:
    """The database's URL behind pgbouncer, which gives each transaction one of two connections."""
    if shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin") is None:
        pytest.skip("pgbouncer is not installed; make test-fleet installs it")
    port = free_port()
    text = POOLER.format(host=HOST, port=port, server=postgres.port, home=certificates)
    (certificates / "pgbouncer.ini").write_text(text)
    user = ["-u", name] if (name := _other_user()) else []
    with (certificates / "log").open("wb") as log:
        process = subprocess.Popen(
            ["pgbouncer", *user, str(certificates / "pgbouncer.ini")],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/sbin:/usr/bin:/usr/local/bin"},
        )
    while not listens(port):
        assert process.poll() is None, (certificates / "log").read_text()
    yield postgres.url.replace(f":{postgres.port}/", f":{port}/")
    process.terminate()
    process.wait()


async def test_a_run_holds_to_its_laws_behind_tls_and_a_pooler(
    pooled: str, certificates: Path, tmp_path: Path
) -> None:
    url = f"{pooled}?sslmode=verify-full&sslrootcert={certificates}/server.crt"
    run, database = f"tls{next(NUMBERS)}", Database(url)
    database.run(lambda connection: connection.execute("INSERT INTO $schema.run (id) VALUES (%s)", (run,)))

    def opened() -> PostgresRecord:
        return PostgresRecord(Database(url), Notices(url), run)

    await record_laws(opened, tmp_path)


async def test_a_server_with_another_certificate_is_refused(pooled: str, certificates: Path) -> None:
    url = f"{pooled}?sslmode=verify-full&sslrootcert={certificates}/stranger.crt"

    with pytest.raises(DatabaseAway, match="certificate verify failed"):
        Database(url, patience=0).run(lambda connection: connection.execute("SELECT 1"))


async def test_temporal_is_reached_with_a_client_certificate_and_only_with_it(
    postgres: Postgres, temporal: Temporal, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    guard = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    guard.load_cert_chain(certificates / "server.crt", certificates / "server.key")
    guard.load_verify_locations(certificates / "client.crt")
    guard.verify_mode = ssl.CERT_REQUIRED
    guard.set_alpn_protocols(["h2"])
    url = postgres.url + "?schema=encrypted"
    records = await _knows(url, f"{HOST}:{port}")

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to = await asyncio.open_connection(HOST, temporal.port)
        await asyncio.gather(_copy(reader, to[1]), _copy(to[0], writer))

    async with await asyncio.start_server(forward, HOST, port, ssl=guard):
        with pytest.raises(UserError, match="can't be reached"):
            await connect(url, 0.0)
        monkeypatch.setenv("TEMPORAL_TLS", "true")
        monkeypatch.setenv("TEMPORAL_TLS_SERVER_CA_CERT_PATH", str(certificates / "server.crt"))
        for name, works in (("stranger", False), ("client", True)):
            monkeypatch.setenv("TEMPORAL_TLS_CLIENT_CERT_PATH", str(certificates / f"{name}.crt"))
            monkeypatch.setenv("TEMPORAL_TLS_CLIENT_KEY_PATH", str(certificates / f"{name}.key"))
            if works:
                client = await connect(url, 5.0)
                assert await client.service_client.check_health()
            else:
                with pytest.raises(UserError, match="can't be reached"):
                    await connect(url, 0.0)
    records.database.close()


def test_an_api_key_is_sent_over_tls_only() -> None:
    found = settings({"TEMPORAL_API_KEY": "secret", "TEMPORAL_NAMESPACE": "team.abc"})

    assert (found["api_key"], found["namespace"]) == ("secret", "team.abc")
    assert found.get("tls") is not False


def test_a_missing_certificate_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="settings for Temporal can't be read"):
        settings({"TEMPORAL_TLS_CLIENT_CERT_PATH": str(tmp_path / "none")})


async def _knows(url: str, address: str) -> PostgresRecords:
    from untilgreen.journal.postgres.schema import migrate

    records = PostgresRecords(url)
    migrate(records.database)
    await records.set("temporal", address)
    return records


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
