"""Ctrl-C and other signals: the run is saved, no process survives, and the same lap continues."""

import signal
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Started, alive, eventually

WITH_A_CHILD = """\
cat > /dev/null
test -f {tmp}/again && touch done && exit 0
touch {tmp}/again
sleep 60 &
echo $! > {tmp}/child
echo $$ > {tmp}/agent
wait
"""
STUBBORN = """\
import signal, sys, time, os

def heard(number, frame):
    with open("{tmp}/heard", "a") as file:
        print(signal.Signals(number).name, file=file)

signal.signal(signal.SIGINT, heard)
signal.signal(signal.SIGTERM, heard)
with open("{tmp}/agent", "w") as file:
    file.write(str(os.getpid()))
while True:
    time.sleep(1)
"""


def pid_in(path: Path) -> int:
    """Wait until a process has written its id to this file, and return the id."""
    return int(eventually(lambda: path.exists() and path.read_text().strip(), f"the start of {path.name}"))


def begun(cli: Cli, agent: str) -> tuple[Started, str]:
    """Start a run and wait for its first turn; return the process and the run's id."""
    started = cli.start("run", "Mend it.", "--agent", agent, "--gate", "test -f done")
    pid_in(cli.tmp / "agent")
    return started, cli.ids[0]


def test_ctrl_c_ends_the_turn_with_all_its_children_and_resume_continues_the_same_lap(cli: Cli) -> None:
    started, run = begun(cli, cli.agent(WITH_A_CHILD.format(tmp=cli.tmp)))
    child, agent = pid_in(cli.tmp / "child"), pid_in(cli.tmp / "agent")

    started.signal(signal.SIGINT)
    left = started.end()

    assert left.code == 130
    assert not alive(agent)
    assert not alive(child)
    assert f"Continue with: untilgreen resume {run}" in left.out

    done = cli("resume", run)

    assert done.code == 0
    assert "converged: all required gates pass in lap 1" in done.out


def test_a_second_ctrl_c_kills_an_agent_that_ignores_the_first(cli: Cli) -> None:
    started, _ = begun(cli, cli.python_agent(STUBBORN.format(tmp=cli.tmp)))
    agent, heard = pid_in(cli.tmp / "agent"), cli.tmp / "heard"

    started.signal(signal.SIGINT)
    eventually(lambda: heard.exists() and "SIGINT" in heard.read_text(), "the first Ctrl-C")
    assert alive(agent), "the first Ctrl-C ended it already"
    started.signal(signal.SIGINT)
    left = started.end()

    assert left.code == 130
    assert not alive(agent)
    assert heard.read_text() == "SIGINT\n", "it got more than one signal before it was killed"


def test_sigterm_saves_the_run_like_ctrl_c(cli: Cli) -> None:
    started, run = begun(cli, cli.agent(WITH_A_CHILD.format(tmp=cli.tmp)))
    agent = pid_in(cli.tmp / "agent")

    started.signal(signal.SIGTERM)
    left = started.end()

    assert left.code == 143
    assert not alive(agent)
    assert f"untilgreen resume {run}" in left.out


def test_ctrl_c_in_a_gate_ends_the_gate_and_leaves_the_run_open(cli: Cli) -> None:
    gate = f"echo $$ > {cli.tmp}/agent; exec sleep 60"
    started = cli.start("run", "Mend it.", "--agent", cli.agent("true"), "--gate", f"slow={gate}")
    pid = pid_in(cli.tmp / "agent")

    started.signal(signal.SIGINT)
    left = started.end()

    assert left.code == 130
    assert not alive(pid)
    assert "untilgreen resume" in left.out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_check_that_is_ended_ends_its_gates(cli: Cli, number: int, code: int) -> None:
    started = cli.start("check", "--gate", f"slow=echo $$ > {cli.tmp}/agent; sleep 60; true")
    pid = pid_in(cli.tmp / "agent")

    started.signal(number)
    left = started.end()

    assert left.code == code
    assert not alive(pid)
    assert left.err == f"error: interrupted by {signal.Signals(number).name}\n"


def test_a_driver_that_was_killed_is_taken_over_and_its_agent_ended(cli: Cli) -> None:
    started, run = begun(cli, cli.agent(WITH_A_CHILD.format(tmp=cli.tmp)))
    agent, child = pid_in(cli.tmp / "agent"), pid_in(cli.tmp / "child")

    started.signal(signal.SIGKILL)
    assert started.end().code == -signal.SIGKILL
    done = cli("resume", run)

    assert done.code == 0
    assert not alive(agent)
    assert not alive(child)
