"""However a run ends, no process of the agent survives; the bench checks this after every test."""

import os
import signal

import psutil
import pytest

from tests.agents_real.bench import RIGHT, Bench, of, wait_for
from untilgreen.core.values.events import TurnEnded

SLEEPS = {"text": "I wait.", "calls": [{"shell": "python3 -c 'import time; time.sleep(600)'"}]}
TALKS = {"text": "Now it is right."}
# Aider uses no tools. Five of the others leave a running command alive when they are ended.
WITH_TOOLS = ["claude", "codex", "opencode", "gemini", "qwen", "copilot", "goose"]
pytestmark = pytest.mark.parametrize("agent", WITH_TOOLS, indirect=True)


def sleeper(bench: Bench) -> list[psutil.Process]:
    """The command that the agent's tool runs."""
    return bench.processes("time.sleep(600)")


def test_a_cancelled_run_takes_the_agent_and_its_commands_along(bench: Bench) -> None:
    with bench.model([SLEEPS, RIGHT, TALKS]):
        run = bench.started(*bench.asked("--yolo"))
        assert wait_for(lambda: sleeper(bench), 60)
        code, said = bench.cli("cancel")
        run.communicate(timeout=60)

    assert code == 0, said
    assert run.returncode == 1
    assert bench.processes() == []


def test_a_driver_that_was_killed_leaves_nothing_once_it_is_resumed(bench: Bench) -> None:
    with bench.model([SLEEPS, RIGHT, TALKS]):
        run = bench.started(*bench.asked("--yolo"))
        assert wait_for(lambda: sleeper(bench), 60)
        orphans = sleeper(bench)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate(timeout=60)
        code, said = bench.cli("resume", "--no-input")

    assert code == 0, said
    assert not any(each.is_running() for each in orphans)
    assert bench.processes() == []
    assert len(of(TurnEnded, bench.journal())) == 1
