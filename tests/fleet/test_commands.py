"""The command line of a fleet, from nothing to a result on a branch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fleet.fleet_bench import FleetBench
from untilgreen.surfaces.cli.verbs.fleet import _database_home

pytestmark = pytest.mark.timeout(1800)  # some thirty commands, each in a new process
ADDS = "cmd:sh -c 'cat > /dev/null; echo line >> lines'"


class Typed:
    """`untilgreen` as a person types it."""

    def __init__(self, project: Path, state: Path) -> None:
        self.project = project
        self.env = {**os.environ, "UNTILGREEN_STATE_DIR": str(state)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "untilgreen", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.project, env=self.env, text=True, **pipes)  # type: ignore[call-overload]

    def __call__(self, *words: str) -> tuple[int, str]:
        process = self.start(*words)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said


def until(happened: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.5)


def test_from_nothing_to_a_branch_with_one_command_for_the_servers(home: Path) -> None:
    bench = FleetBench("", home / "commands")
    typed = Typed(bench.project, home / "commands-state")
    server = typed.start("fleet", "up")
    try:
        assert server.stdout is not None
        line = next(line for line in server.stdout if line.startswith("export "))
        name, _, url = line.removeprefix("export ").strip().partition("=")
        typed.env[name] = url

        code, said = typed(
            "run", "Write lines.", "--agent", ADDS, "--gate", "test -s lines", "--fleet", "--json"
        )
        assert code == 0, said
        run = json.loads(said.splitlines()[-1])["run"]
        until(lambda: "converged" in typed("list", "--fleet")[1])

        code, said = typed("show", run[:7])  # no run here has that id
        assert (code, "converged: all required gates pass in lap 1" in said) == (0, True), said
        assert typed("why", run)[0] == 0
        code, said = typed("show", run, "--no-fleet")
        assert (code, f"There is no run '{run}'." in said) == (2, True), said
        code, said = typed("show", "2zzzzzzzz")
        assert (code, "neither here nor in the fleet" in said) == (2, True), said
        code, said = typed("show")
        assert (code, "No run was started in" in said) == (2, True), said
        code, said = typed("prune", run, "--fleet")
        assert (code, "stay there" in said) == (2, True), said
        assert "untilgreen list --fleet" in typed("list")[1]
        assert bench.branch(run) == "line\n"

        code, said = typed("diff", run, "--fleet")
        assert (code, "+line" in said) == (0, True), said
        code, said = typed("restore", f"{run}@1", "--fleet")
        assert (code, f"untilgreen apply {run} --fleet" in said) == (2, True), said
        code, said = typed("apply", run, "--fleet")
        assert (code, (bench.project / "lines").read_text()) == (0, "line\n"), said
        assert typed("apply", run, "--undo", "--fleet")[0] == 0
        assert not (bench.project / "lines").exists()
        gate = "test $(wc -l < lines) -ge 2"
        code, said = typed("fork", f"{run}@1", "--gate", gate, "--note", "One more.", "--json")
        assert code == 0, said
        fork = json.loads(said.splitlines()[-1])["run"]
        until(lambda: "converged" in typed("show", fork, "--fleet")[1])
        assert bench.branch(fork) == "line\nline\n"
        brief = next((home / "commands-state" / "fleet").rglob(f"{fork}/activity/001-brief.md"))
        assert "One more." in brief.read_text()

        code, said = typed("fleet", "schedule", "nightly", run, "--cron", "0 2 * * 1-5")
        assert code == 0, said
        until(lambda: "nightly" in typed("fleet", "schedule")[1])  # Temporal lists it a moment later
        code, said = typed("fleet", "schedule")
        assert (code, f"nightly  0 2 * * 1-5  repeats {run} on HEAD, next " in said) == (0, True), said
        assert typed("fleet", "schedule", "nightly", "--remove")[0] == 0
        assert typed("fleet", "schedule", "nightly", "--remove")[0] == 2
        assert typed("fleet", "schedule", "nightly", run)[0] == 2

        code, said = typed(
            "run", "Never.", "--agent", ADDS, "--gate", "false", "--fleet", "--json", "--strategy", "manual"
        )
        assert code == 0, said
        other = json.loads(said.splitlines()[-1])["run"]
        until(lambda: "waiting" in typed("list", "--fleet")[1] or "asks" in typed("list", "--fleet")[1])
        for words in (["steer", other, "look"], ["stop", other]):
            code, said = typed(*words)
            assert code == 0, said
        until(lambda: "cancelled" in typed("show", other, "--fleet")[1])

        label = ("--fleet", "--json", "--set", 'labels.riscv=""')  # no worker has that label
        code, said = typed("run", "Never taken.", "--agent", ADDS, "--gate", "false", *label)
        assert code == 0, said
        alone = json.loads(said.splitlines()[-1])["run"]
        code, said = typed("stop", alone)
        assert (code, f"Run {alone} has ended." in said) == (0, True), said

        kept = home / "kept"
        assert typed("fleet", "export", run, str(kept))[0] == 0
        code, said = typed("resume", other, "--fleet")
        assert (code, "Traceback" in said) != (70, True), said
        assert typed("fleet", "export", other, str(kept))[0] == 0
        code, said = typed("show", run, "--state-dir", str(kept), "--json")
        assert json.loads(said.splitlines()[-1])["outcome"] == "converged"
    finally:
        server.send_signal(signal.SIGINT)
        rest, _ = server.communicate(timeout=60)
        shutil.rmtree(_database_home(home / "commands-state" / "fleet-trial"))
    assert server.returncode == 0, rest


@pytest.mark.parametrize("verb", ["list", "workers"])
def test_without_an_address_it_says_how_to_get_one(verb: str, home: Path) -> None:
    typed = Typed(home, home / "none")
    typed.env.pop("UNTILGREEN_FLEET", None)

    code, said = typed(*(["list", "--fleet"] if verb == "list" else ["fleet", verb]))

    assert (code, "untilgreen fleet up" in said) == (2, True), said
