"""--server: the same commands for the runs of a server, with the same output."""

import json
import signal
from collections.abc import Iterator

import pytest

from tests.surfaces.cli.helpers import Cli, eventually

DONE = "cat > /dev/null; touch done"


@pytest.fixture
def address(cli: Cli) -> Iterator[str]:
    """The address of a server for the runs here, without the token, which is in a file."""
    started = cli.start("serve", "--port", "0", "--root", str(cli.place))
    assert started.process.stdout is not None
    yield started.process.stdout.readline().strip().partition("/#")[0]
    started.signal(signal.SIGINT)
    started.end()


def test_what_is_printed_about_a_run_is_the_same(cli: Cli, address: str) -> None:
    agent = cli.agent("cat > /dev/null; echo x >> work.txt")
    gate = ("--gate", "echo FAILED a.py::test_x; exit 1", "--max-iterations", "2")
    assert cli("run", "Fix it.", "--agent", agent, *gate).code == 3
    (run,) = cli.ids
    there = ("--server", address)
    flags = f" --server {address}"

    assert cli("why", run, *there).out.replace(flags, "") == cli("why", run).out
    assert cli("list", "--json", *there).out == cli("list", "--json").out
    assert "Fix it." in cli("list", *there).out
    followed, again = cli("follow", "@last", *there), cli("follow", run[:7], "--plain")
    assert (followed.code, again.code) == (3, 3)
    assert followed.out.splitlines()[0] == "task: Fix it."
    far, near = cli("show", run, "--json", *there), cli("show", run, "--json")
    assert json.loads(far.out.splitlines()[-1]) == json.loads(near.out.splitlines()[-1])
    assert cli("report", run, "--format", "junit", *there).out.startswith("<?xml")


def test_a_run_is_started_answered_and_ended_from_elsewhere(cli: Cli, address: str) -> None:
    there = ("--server", address)
    gates = ("--gate", "done=test -f done")
    done = cli("run", "Fix it.", "--agent", cli.agent(DONE), *gates, *there)
    assert done.code == 0, done.err
    (cli.place / "untilgreen.toml").write_text('strategy = "manual"\n[gates.done]\nrun = "test -f done"\n')
    (cli.place / "done").unlink(missing_ok=True)
    asking = ("run", "Again.", "--agent", cli.agent("cat > /dev/null"), "--detach", *there)
    untrusted = cli(*asking)
    run = cli(*asking, "--trust").out.strip()
    eventually(lambda: "waiting" in cli("list", *there).out, "a question")
    refused = cli("answer", run, "nonsense", *there)
    answered = cli("answer", run, "accept", "--note", "fine", *there)

    assert "is not trusted there" in untrusted.err
    assert refused.code == 2
    assert answered.out == f"Run {run} received the answer.\n"
    (given,) = [event for event in cli.journal(run) if event["type"] == "Answered"]
    assert given["note"] == "fine"


def test_what_a_server_can_not_do_is_refused_with_the_reason(cli: Cli, address: str) -> None:
    prune = cli("prune", "--server", address)
    nowhere = cli("list", "--server", "http://127.0.0.1:9")
    named = cli("list", "--server", "runs")
    wrong = cli("list", "--server", address, env={"UNTILGREEN_SERVER_TOKEN": "x"})
    far = cli("list", "--server", "https://runs.example.org")

    assert (prune.code, nowhere.code, named.code, wrong.code, far.code) == (2, 2, 2, 2, 2)
    assert "`untilgreen prune` doesn't take --server. These do: answer," in prune.err
    assert "No server listens on port 9." in nowhere.err
    assert "--server takes an address" in named.err
    assert "The token is missing or wrong." in wrong.err
    assert "Set UNTILGREEN_SERVER_TOKEN" in far.err


def test_an_agent_can_not_answer_through_a_server_either(cli: Cli, address: str) -> None:
    """The server looks up which process is at the other end of the connection."""
    steer = f"untilgreen steer $UNTILGREEN_INSIDE hello --server {address}"
    ask = f"cat > /dev/null; {steer} 2> {cli.tmp}/said; touch done"
    cli("run", "Fix it.", "--agent", cli.agent(ask), "--gate", "test -f done")

    assert "Only people may do this." in (cli.tmp / "said").read_text()
