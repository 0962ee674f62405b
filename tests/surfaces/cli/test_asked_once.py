"""A run makes or looks up each thing once: plugin objects, the repository, its journal, the brief."""

import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli
from tests.surfaces.cli.traced import calls_of
from tests.surfaces.hook.conftest import session as session  # noqa: PLC0414 - a fixture from another directory
from tests.surfaces.hook.helpers import Session
from untilgreen.crash_points import CRASH_AT
from untilgreen.process import cgroup

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the wrapper around git is a shell script")

PLUGINS = """
import os
from untilgreen import Continue, Finish, Outcome, Reply, Verdict

class _Counted:
    def __init__(self):
        with open(os.environ["MADE"], "a") as made:
            made.write(f"{type(self).__name__}\\n")

class Rule(_Counted):
    def decide(self, state, signals):
        return Finish(outcome=Outcome.STUCK, reason="one lap is enough")

class Seer(_Counted):
    def detect(self, state):
        return None

class Worker(_Counted):
    async def work(self, brief, context):
        return Reply(text="done")

class Check(_Counted):
    async def check(self, workspace):
        return Verdict(status="fail")

class Teller(_Counted):
    async def notify(self, event, state):
        return None
"""
SPEC = """
task = "Do it."
agent = {{ use = "{place}:Worker" }}
strategy = {{ use = "{place}:Rule" }}
detectors = [{{ use = "{place}:Seer" }}]
notify = [{{ use = "{place}:Teller" }}]
remedies = []
[gates.check]
use = "{place}:Check"
"""
GATES = 30
KINDS = ("Rule", "Seer", "Worker", "Check", "Teller")


def run_one_lap(cli: Cli, tmp_path: Path, place: str) -> tuple[Counter[str], list[str]]:
    """Run one lap; return how often each plugin was made, and the git calls that find the repository."""
    bin_, made, asked = tmp_path / "bin", tmp_path / "made", tmp_path / "asked"
    bin_.mkdir()
    git = bin_ / "git"
    git.write_text(f'#!/bin/sh\necho "$*" >> {asked}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "counted.py").write_text(PLUGINS)
    (cli.place / "counted.py").write_text(PLUGINS)
    (cli.place / "untilgreen.toml").write_text(SPEC.format(place=place))
    cli.env |= {
        "MADE": str(made),
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "library"),
    }

    done = cli("run", "--trust", "--json")

    assert done.code == 1, done.err
    assert len(done.result["history"]) == 1
    looked = [line for line in asked.read_text().splitlines() if "--show-toplevel" in line]
    return Counter(made.read_text().split()), looked


def test_a_run_makes_each_plugin_object_once_and_asks_git_for_the_repository_once(
    cli: Cli, tmp_path: Path
) -> None:
    made, looked = run_one_lap(cli, tmp_path, "counted")

    assert made == dict.fromkeys(KINDS, 1)
    assert len(looked) == 1, looked


def test_a_file_of_the_workspace_is_loaded_once_more_from_the_copy_of_the_run(
    cli: Cli, tmp_path: Path
) -> None:
    made, looked = run_one_lap(cli, tmp_path, "./counted.py")

    assert made == dict.fromkeys(KINDS, 2)
    assert len(looked) == 1, looked


def test_a_run_reads_its_journal_once_before_the_first_step_and_composes_one_brief_a_lap(cli: Cli) -> None:
    agent = cli.agent(NO_OP)
    words = ["run", "Do it.", "-a", agent, "-g", "false", "--max-iterations", "1", "--no-input"]

    code, calls = calls_of(words, cwd=cli.place, env=cli.env)

    assert code == 3
    before = calls[: calls.index("step")]
    assert before.count("journal read") == 1
    assert calls.count("repository") == 1
    assert calls.count("brief") == 1


def test_a_run_asks_git_for_its_settings_once_and_reads_a_new_commit_itself(cli: Cli, tmp_path: Path) -> None:
    words = ["run", "Do it.", "-a", cli.agent(NO_OP), "-g", "false", "--max-iterations", "1", "--no-input"]

    done = cli(*words, env={CRASH_AT: f"list:{tmp_path / 'points'}"})

    assert done.code == 3, done.err
    points = [line.partition("#")[0] for line in (tmp_path / "points").read_text().splitlines()]
    asked = Counter(point.rpartition(":")[2] for point in points if point.startswith("git:before:"))
    assert (asked["config"], asked["rev-parse"], asked["status"]) == (1, 1, 1)


@pytest.mark.skipif(cgroup.home() is None, reason="without cgroups, each gate searches the process table")
def test_many_gates_at_once_end_without_a_look_at_every_process(cli: Cli) -> None:
    gates = [word for number in range(GATES) for word in ("-g", f"gate-{number}=true")]
    words = ["run", "Do it.", "-a", cli.agent(NO_OP), *gates, "-g", "red=false", "--max-iterations", "1"]

    code, calls = calls_of([*words, "--no-input"], cwd=cli.place, env=cli.env)

    assert code == 3
    assert calls.count("processes") < GATES, "in three rounds: lap 0, its clean room, and lap 1"


def test_whether_a_command_is_refused_is_asked_once(cli: Cli) -> None:
    asks = "--set=gates.people={kind='approval', people=['ann'], stage=1}"
    cli("run", "Do it.", "-a", cli.agent(NO_OP), "-g", "true", asks, "--no-input", "--max-iterations", "1")

    taken = calls_of(["steer", "@last", "be quick"], cwd=cli.place, env=cli.env)
    refused = calls_of(["resume", "@last"], cwd=cli.place, env=cli.env)

    assert taken[0] == 0
    assert taken[1].count("refusal") == 1
    assert refused[1].count("refusal") <= 1


def test_a_stop_hook_asks_once_whether_it_is_refused_and_composes_each_brief_once(session: Session) -> None:
    session.start("make it ok", "--gate", "test -f done")
    payload = json.dumps(session.payload()).encode()

    code, calls = calls_of(
        ["hook", "stop", "--agent", session.agent],
        cwd=session.place,
        env={**session.env, "CLAUDECODE": "1"},
        stdin=payload,
    )

    assert code == 0
    assert calls.count("refusal") == 1
    assert calls.count("brief") == 2, "the one that the claim answers, and the next one"
    assert calls.count("journal read") == 1
    assert calls.count("repository") == 1
