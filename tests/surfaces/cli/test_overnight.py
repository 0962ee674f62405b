"""Overnight: a run in the background, a terminal that closes, coming back to the run, and notifiers."""

import json
import os
import signal
from pathlib import Path

from tests.surfaces.cli.helpers import NO_OP, Cli, alive, eventually
from untilgreen.engine.store.lock import hold, this_process

SLOW = "cat > /dev/null\necho $$ > {tmp}/agent\nwhile ! test -f {tmp}/go; do sleep 0.1; done\ntouch done\n"
GATE = ("--gate", "test -f done")


def slow(cli: Cli) -> str:
    return cli.agent(SLOW.format(tmp=cli.tmp))


def test_a_detached_run_continues_without_its_terminal_and_follow_comes_back_to_it(cli: Cli) -> None:
    done = cli("run", "Mend it.", "--agent", slow(cli), *GATE, "--detach", "--json")

    assert done.code == 0, done.err
    left = done.lines[-1]
    (run,) = cli.ids
    assert (left["type"], left["run"]) == ("detached", run)
    assert os.getsid(left["pid"]) == left["pid"], "it is not in its own session"
    os.kill(left["pid"], signal.SIGHUP)
    watch = cli.start("follow", run)
    (cli.tmp / "go").touch()
    seen = watch.end()
    assert seen.code == 0
    assert "converged: all required gates pass in lap 1" in seen.out
    eventually(lambda: not alive(left["pid"]), "the driver's end")
    assert "converged" in Path(left["log"]).read_text()


def test_a_run_whose_terminal_closes_is_saved_and_continues_detached(cli: Cli) -> None:
    terminal = cli.on_a_terminal("run", "Mend it.", "--agent", slow(cli), *GATE)
    agent = int(eventually(lambda: (path := cli.tmp / "agent").exists() and path.read_text().strip()))

    code = terminal.close()

    (run,) = cli.ids
    assert code == 129
    assert not alive(agent)
    assert cli.journal(run)[-1] == {**cli.journal(run)[-1], "type": "Interrupted", "signal": "SIGHUP"}
    (cli.tmp / "go").touch()
    assert cli("resume", run, "--detach").code == 0
    assert cli("follow", run).code == 0


def test_a_driver_that_can_not_start_is_reported_with_its_own_error(cli: Cli) -> None:
    cli("run", "Mend it.", "--agent", "cmd:true", *GATE, "-s", "manual", "--no-input")
    (run,) = cli.ids
    (cli.runs / run / "journal.jsonl").write_text("damaged\n")

    done = cli("resume", run, "--detach")

    assert done.code != 0
    assert "journal" in done.err


def test_resume_detach_reports_a_refused_driver_even_if_the_run_waited_before(cli: Cli) -> None:
    sign_off = ("--set", "gates.sign-off={kind='approval', people=['ann']}")
    assert cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), *sign_off, "--no-input").code == 5
    (run,) = cli.ids

    with hold(cli.runs / run / "lock", run=run, driver=this_process(0.0)):
        done = cli("resume", run, "--detach")

    assert (done.code, "in the background" in done.out) == (2, False), done.out
    assert "The background process exited immediately" in done.err
    assert f"Run {run} is being driven by process" in done.err


def test_notifiers_hear_of_the_end_and_one_that_fails_is_reported_and_stops_nothing(cli: Cli) -> None:
    news = cli.tmp / "news"
    (cli.place / "untilgreen.toml").write_text(
        f"notify = ['command:cat >> {news}', 'command:echo down >&2; exit 1', 'webhook:http://127.0.0.1:9/']\n"
    )

    done = cli("run", "Mend it.", "--agent", cli.agent("touch done\n"), *GATE, "--trust")

    assert done.code == 0
    assert [json.loads(line)["news"] for line in news.read_text().splitlines()] == ["finished"]
    assert "note: The notifier CommandNotifier failed: its command failed (exit code 1): down." in done.err
    assert "note: The notifier Webhook failed: 127.0.0.1 could not be reached" in done.err


def test_nothing_is_reported_twice_after_a_restart(cli: Cli) -> None:
    news = cli.tmp / "news"
    notify = ("--set", f"notify=['command:cat >> {news}']")
    cli("run", "Mend it.", "--agent", cli.agent(NO_OP), *GATE, *notify, "--max-iterations", "2")
    told = [json.loads(line)["news"] for line in news.read_text().splitlines()]

    assert cli("resume").code == 3
    assert [json.loads(line)["news"] for line in news.read_text().splitlines()] == told
    assert told == ["budget", "finished"]
