"""`untilgreen.client` against the real server: the same answers and the same messages."""

import signal
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import cli, env
from tests.surfaces.cli.helpers import Cli, eventually
from untilgreen.client import Client, ServerRefused
from untilgreen.core.values.events import RunFinished
from untilgreen.errors import UserError
from untilgreen.surfaces.web.api.requests import NewRun

__all__ = ["cli", "env"]


def test_a_run_is_started_followed_answered_and_looked_at(cli: Cli) -> None:
    server = cli.start("serve", "--port", "0", "--root", str(cli.place))
    assert server.process.stdout is not None
    address = server.process.stdout.readline().strip()
    port = int(address.partition("/#")[0].rpartition(":")[2])
    with Client(address) as client:
        agent = cli.agent("cat > /dev/null; echo x >> work.txt")
        new = NewRun(
            spec={"task": "Fix it.", "agent": agent, "gates": {"done": {"run": "test -f done"}}},
            max_iterations="2",
        )
        assert client.plan(new).laps == 2
        run = client.start_run(new).run
        events = list(client.follow(run))
        rest = list(client.follow(run, after=len(events) - 1))
        lap = client.show_lap(run, 1)
        with pytest.raises(ServerRefused, match="has ended: exhausted") as refused:
            client.control(run, "pause")

    assert isinstance(events[-1][1].event, RunFinished)
    assert [position for position, _ in events] == list(range(1, len(events) + 1))
    assert rest == events[-1:]
    assert "+x" in lap.diff.text
    assert refused.value.status == 409
    with Client.local(port, Path(cli.env["UNTILGREEN_STATE_DIR"])) as local:
        assert [row.run for row in local.list_runs(status="exhausted").runs] == [run]
        assert local.why(run).status == local.show_run(run).status == "exhausted"
        assert local.course(run).laps == (0, 1, 2)
        assert local.inbox().questions == ()
    server.signal(signal.SIGINT)
    server.end()
    eventually(lambda: not list(Path(cli.env["UNTILGREEN_STATE_DIR"]).glob("serve-*")), "the token's end")
    with pytest.raises(UserError, match="Start one with `untilgreen serve`"):
        Client.local(port, Path(cli.env["UNTILGREEN_STATE_DIR"]))


def test_a_wrong_token_is_refused_with_the_servers_sentence(cli: Cli) -> None:
    server = cli.start("serve", "--port", "0")
    assert server.process.stdout is not None
    address = server.process.stdout.readline().partition("#")[0]
    with (
        Client(address, "wrong") as client,
        pytest.raises(ServerRefused, match="The token is missing or wrong"),
    ):
        client.list_runs()
    server.signal(signal.SIGINT)
    server.end()
    with Client(address, "wrong") as client, pytest.raises(UserError, match="can't be reached"):
        client.list_runs()
