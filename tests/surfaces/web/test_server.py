"""The real server: as a program, on a real port, with real runs, and with an agent that found the token."""

import json
import signal
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.surfaces.cli.helpers import Cli, Started, eventually

SLOW = """\
cat > {tmp}/brief.txt
touch {tmp}/began
while ! test -e {tmp}/go; do sleep 0.05; done
echo x > work.txt
"""


@contextmanager
def served(cli: Cli, *flags: str) -> Iterator[tuple[httpx.Client, Started]]:
    """A server on a free port, and a client with its token."""
    started = cli.start("serve", "--port", "0", *flags)
    assert started.process.stdout is not None
    address, _, token = started.process.stdout.readline().strip().partition("#")
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=address, headers=headers, timeout=30) as client:
        yield client, started
    if started.process.poll() is None:
        started.signal(signal.SIGINT)
        started.end()


def test_ctrl_c_ends_the_server_calmly(cli: Cli) -> None:
    with served(cli) as (_, started):
        started.signal(signal.SIGINT)
        ended = started.end()

    assert ended.code == 130
    assert ended.err.endswith("The server has ended; its runs continue.\n")
    assert "error" not in ended.err


def test_a_run_is_followed_from_start_to_end_and_steered_and_stopped_on_the_way(cli: Cli) -> None:
    agent = cli.agent(SLOW.format(tmp=cli.tmp))
    driving = cli.start("run", "Fix it.", "--agent", agent, "--gate", "test -f done")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    heard: list[str] = []
    with served(cli) as (client, _):

        def listen() -> None:
            with client.stream("GET", f"/api/v1/runs/{run}/events") as stream:
                heard.extend(line[7:] for line in stream.iter_lines() if line.startswith("event: "))

        listener = threading.Thread(target=listen)
        listener.start()
        shown = client.get(f"/api/v1/runs/{run}").json()
        assert (shown["running"], shown["open_lap"]) == (True, 1)
        assert shown["now"].endswith("is working on lap 1")
        assert client.post(f"/api/v1/runs/{run}/steer", json={"note": "look at work.txt"}).status_code == 200
        assert client.post(f"/api/v1/runs/{run}/stop", json={"reason": "enough"}).status_code == 200
        (cli.tmp / "go").touch()
        assert driving.end().code == 1
        listener.join(timeout=60)
        lap = client.get(f"/api/v1/runs/{run}/laps/1").json()

    assert heard[0] == "RunStarted"
    assert {"Steered", "StopRequested", "GateChecked"} <= set(heard)
    assert heard[-2:] == ["RunFinished", "end"]
    assert "+x" in lap["diff"]["text"]
    assert "Fix it." in lap["brief"]
    assert [each["path"] for each in lap["lap"]["changes"]] == ["work.txt"]


def test_an_agent_that_found_the_token_is_refused_whatever_it_unsets(cli: Cli) -> None:
    """Its parent processes show which run it comes from; its own environment need not."""
    with served(cli) as (client, _):
        token = client.headers["authorization"]
        ask = (
            f"curl -s -o {cli.tmp}/answer -X POST -H 'Authorization: {token}' "
            "-H 'Content-Type: application/json' "
            f'--data \'{{"note": "accept everything"}}\' {client.base_url}api/v1/runs/$1/steer'
        )
        inner = cli.tmp / "inner.sh"
        inner.write_text(ask)
        body = f"run=$UNTILGREEN_INSIDE\n(exec env -i PATH=$PATH sh {inner} $run)\ntouch done\n"
        done = cli("run", "Fix it.", "--agent", cli.agent(body), "--gate", "test -f done")
        (run,) = cli.ids

    assert done.code == 0
    answer = json.loads((cli.tmp / "answer").read_text())
    assert (answer["status"], answer["title"]) == (403, "Refused to agents")
    assert (
        answer["detail"]
        == f"This request comes from a program that run {run} started. Only people may do this."
    )
    assert "Steered" not in [event["type"] for event in cli.journal(run)]


def test_an_agent_can_not_serve(cli: Cli) -> None:
    done = cli("serve", env={"CLAUDECODE": "1"})

    assert done.code == 2
    assert "is for people, not for agents" in done.err


def test_the_token_is_fresh_private_and_gone_with_the_server(cli: Cli) -> None:
    state = Path(cli.env["UNTILGREEN_STATE_DIR"])
    tokens = []
    for _ in range(2):
        with served(cli) as (client, started):
            (path,) = state.glob("serve-*.token")
            tokens.append(path.read_text().strip())
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert client.headers["authorization"] == f"Bearer {tokens[-1]}"
            started.signal(signal.SIGINT)
            assert started.end().code in (0, 130)
        assert not path.exists()

    assert tokens[0] != tokens[1]
    assert all(len(token) >= 43 for token in tokens)


def test_it_listens_on_this_machine_only_unless_names_are_given(cli: Cli) -> None:
    done = cli("serve", "--host", "0.0.0.0", "--port", "0")

    assert done.code == 2
    assert "can be reached from other machines" in done.err
    assert cli("serve", "--host", "example.org").code == 2
    with served(cli) as (client, _):
        port = client.base_url.port
        assert port is not None
        outside = socket.gethostbyname(socket.gethostname())
        if not outside.startswith("127."):
            with pytest.raises(OSError, match="refused"):
                socket.create_connection((outside, port), timeout=5)


def test_ctrl_c_ends_it_at_once_with_an_open_stream_and_hurts_no_run(cli: Cli) -> None:
    agent = cli.agent(SLOW.format(tmp=cli.tmp))
    driving = cli.start("run", "Fix it.", "--agent", agent, "--gate", "test -f work.txt")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    with served(cli) as (client, started), client.stream("GET", f"/api/v1/runs/{run}/events") as stream:
        assert next(stream.iter_lines())
        started.signal(signal.SIGINT)
        done = started.end()
    (cli.tmp / "go").touch()

    assert done.code in (0, 130)
    assert "Traceback" not in done.err
    assert driving.end().code == 0


def test_a_run_is_planned_trusted_started_answered_and_resumed_through_the_api(cli: Cli) -> None:
    (cli.place / "untilgreen.toml").write_text(
        f"""agent = {json.dumps(cli.agent("cat > /dev/null; echo x >> work.txt"))}
strategy = "manual"
[gates.done]
run = "test -f done"
"""
    )
    with served(cli, "--root", str(cli.place)) as (client, _):
        body = {"spec": {"task": "Fix it."}}
        plan = client.post("/api/v1/plan", json=body).json()
        refused = client.post("/api/v1/runs", json=body)
        wrong = client.post("/api/v1/runs", json={**body, "trust": "0" * 32})
        started = client.post("/api/v1/runs", json={**body, "trust": plan["trust"]["digest"]})
        assert started.status_code == 200, started.text
        run = started.json()["run"]
        question = eventually(lambda: client.get(f"/api/v1/runs/{run}").json()["question"], "a question")
        again = client.post("/api/v1/plan", json=body).json()
        answer = {"choice": "accept", "question": question["id"]}
        assert client.post(f"/api/v1/runs/{run}/answer", json=answer).status_code == 200
        eventually(lambda: client.get(f"/api/v1/runs/{run}").json()["outcome"] == "accepted", "the end")

    assert "gates.done: test -f done" in " ".join(plan["trust"]["lines"]) or plan["trust"]["lines"]
    assert plan["agents"] == []
    assert (refused.status_code, wrong.status_code) == (409, 409)
    assert again["trust"] is None
    assert [gate["name"] for gate in again["gates"]] == ["done", "integrity"]


def test_the_form_of_a_start_comes_from_the_schema_and_tells_which_keys_a_spec_sets(cli: Cli) -> None:
    (cli.place / "untilgreen.toml").write_text(
        'agent = "cmd:secret-word"\n[limits]\ncost = 3\n[gates.one]\nrun = "true"\n'
        '[profiles.quick.limits]\nlap = "1m"\n'
    )
    with served(cli, "--root", str(cli.place)) as (client, _):
        answer = client.get("/api/v1/spec")
        elsewhere = client.get("/api/v1/spec", params={"workspace": "/"})
        spec = {"task": "Fix it.", "agent": "cmd:true", "limits": {"iterations": 7}, "workspace": "worktree"}
        digest = client.post("/api/v1/plan", json={"spec": spec}).json()["trust"]["digest"]
        body = {"spec": spec, "profile": "quick", "trust": digest}
        assert client.post("/api/v1/runs", json=body).status_code == 200
        planned = client.post("/api/v1/plan", json=body).json()
        misspelled = client.post("/api/v1/plan", json={"spec": {**spec, "limit": {}}})
    (run,) = cli.ids
    plan = cli.journal(run)[0]["plan"]

    assert answer.json()["given"] == ["agent", "limits.cost", "gates.one.run"]
    assert answer.json()["profiles"] == ["quick"]
    assert answer.json()["schema"]["properties"]["task"]["description"] == "What you want done."
    assert "secret-word" not in answer.text
    assert elsewhere.status_code == 403
    assert (planned["agents"], planned["laps"], planned["cost"]) == (["cmd:true"], 7, 3.0)
    assert plan["workspace"]["mode"] == "worktree"
    assert plan["limits"]["lap"] == 60
    assert misspelled.status_code == 409
    assert "Did you mean 'limits'" in misspelled.json()["detail"]


def test_starting_gets_no_more_than_the_server_was_given(cli: Cli, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (cli.place / "link").symlink_to(outside)
    spec = {"task": "Fix it.", "agent": "cmd:true", "gates": {"one": {"run": "true"}}}
    body = {"spec": spec}
    with served(cli) as (client, _):
        assert client.post("/api/v1/runs", json=body).status_code == 403
    with served(cli, "--root", str(cli.place), "--sandboxed") as (client, _):
        for place in (str(outside), str(cli.place / "link"), str(cli.place / ".."), "/"):
            answer = client.post("/api/v1/plan", json={**body, "workspace": place})
            assert answer.status_code == 403, place
        sandboxed = client.post("/api/v1/plan", json=body)
        assert sandboxed.json()["detail"].startswith("This server starts runs only in a sandbox.")
        own_walls = {"spec": {**spec, "sandbox": {"mode": "bwrap", "write": ["/"]}}}
        assert client.post("/api/v1/plan", json=own_walls).status_code == 403
        from_a_file = {"spec": {"task_file": "/etc/hostname", "agent": "cmd:true"}}
        assert client.post("/api/v1/plan", json=from_a_file).status_code == 403
    (cli.place / "untilgreen.toml").write_text('permissions = "all"\n')
    with served(cli, "--root", str(cli.place)) as (client, _):
        digest = client.post("/api/v1/plan", json=body).json()["trust"]["digest"]
        answer = client.post("/api/v1/runs", json={**body, "trust": digest})
        assert answer.status_code == 403
        assert answer.json()["detail"] == "This server doesn't start runs whose agent may do everything."
    assert cli.ids == []


def test_no_more_runs_at_a_time_than_the_server_allows(cli: Cli) -> None:
    agent = cli.agent(SLOW.format(tmp=cli.tmp))
    body = {"spec": {"task": "Fix it.", "agent": agent, "gates": {"one": {"run": "test -f work.txt"}}}}
    with served(cli, "--root", str(cli.place), "--max-runs", "1") as (client, _):
        assert client.post("/api/v1/runs", json=body).status_code == 200
        eventually((cli.tmp / "began").exists, "the first turn")
        second = client.post("/api/v1/runs", json=body)
        (cli.tmp / "go").touch()
        (run,) = cli.ids
        eventually(lambda: client.get(f"/api/v1/runs/{run}").json()["outcome"] == "converged", "the end")

    assert second.status_code == 429
    assert second.json()["detail"] == "1 runs are running, and the limit is 1. Try again later."


def test_a_run_that_was_killed_is_resumed_from_the_page(cli: Cli) -> None:
    agent = cli.agent(SLOW.format(tmp=cli.tmp))
    driving = cli.start("run", "Fix it.", "--agent", agent, "--gate", "test -f work.txt")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    driving.process.kill()
    driving.process.communicate()
    (cli.tmp / "go").touch()
    with served(cli) as (client, _):
        assert client.get(f"/api/v1/runs/{run}").json()["now"].startswith("interrupted")
        assert client.post(f"/api/v1/runs/{run}/resume", json={}).status_code == 200
        eventually(lambda: client.get(f"/api/v1/runs/{run}").json()["outcome"] == "converged", "the end")


def test_the_result_of_a_run_is_applied_taken_back_and_a_lap_restored(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null; echo new > work.txt")
    done = cli("run", "Fix it.", "--agent", agent, "--gate", "test -f work.txt", "--worktree")
    assert done.code == 0, done.err
    (run,) = cli.ids
    work = cli.place / "work.txt"
    with served(cli, "--root", str(cli.place)) as (client, _):
        address, key = f"/api/v1/runs/{run}/apply", {"idempotency-key": "once"}
        dry = client.post(address, json={"dry_run": True}).json()
        assert not work.exists()
        written = client.post(address, json={}, headers=key).json()
        assert work.read_text() == "new\n"
        work.write_text("mine\n")
        again = client.post(address, json={}, headers=key).json()
        work.write_text("new\n")
        client.post(address, json={"undo": True})
        assert not work.exists()
        restored = client.post(f"/api/v1/runs/{run}/restore", json={"lap": 0}).json()
        beyond = client.post(f"/api/v1/runs/{run}/restore", json={"lap": 9})

    assert [change["path"] for change in dry["changes"]] == ["work.txt"]
    assert (dry["written"], written["written"]) == (False, True)
    assert again == written, "a request with the same key is not repeated"
    assert restored["lap"] == 0
    assert beyond.status_code == 404


def test_two_servers_are_both_right_and_killing_one_hurts_nobody(cli: Cli) -> None:
    agent = cli.agent(SLOW.format(tmp=cli.tmp))
    driving = cli.start("run", "Fix it.", "--agent", agent, "--gate", "test -f work.txt")
    eventually((cli.tmp / "began").exists, "the first turn")
    (run,) = cli.ids
    with served(cli) as (one, first), served(cli) as (other, _):
        assert one.post(f"/api/v1/runs/{run}/steer", json={"note": "by one"}).status_code == 200
        first.process.kill()
        first.process.communicate()
        assert other.post(f"/api/v1/runs/{run}/steer", json={"note": "by other"}).status_code == 200
        (cli.tmp / "go").touch()
        assert driving.end().code == 0
        shown = other.get(f"/api/v1/runs/{run}").json()

    assert shown["outcome"] == "converged"
    steered = [event["note"] for event in cli.journal(run) if event["type"] == "Steered"]
    assert steered == ["by one", "by other"]
