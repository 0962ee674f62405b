"""The commands on the page about the fleet, run in order as a person would type them."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fleet.test_commands import until
from tests.surfaces.cli.helpers import git, repository
from tests.test_docs import FENCE, ROOT
from tests.test_docs_console import (
    FINISH,
    RED_WITHOUT_DONE,
    RUN_ID,
    alike,
    environment,
    sh,
    shown,
)
from untilgreen.surfaces.cli.verbs.fleet import _database_home

pytestmark = pytest.mark.timeout(600)
FEWER = 4
INSTALLED = "pip install 'untilgreen[fleet-trial]'"


def test_the_commands_of_the_page_do_what_it_says(home: Path) -> None:
    place = repository(home / "page" / "project", {"test_it.py": RED_WITHOUT_DONE})
    git(place, "init", "--quiet", "--bare", str(home / "page" / "remote.git"))
    git(place, "remote", "add", "origin", str(home / "page" / "remote.git"))
    env = environment(home / "page", FINISH)
    installed, up, *typed = shown("fleet")
    assert (installed.command, up.command) == (INSTALLED, "untilgreen fleet up")
    server = subprocess.Popen(
        up.command.split(),
        cwd=place,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        line = server.stdout.readline().strip()
        assert _without_port(line) == _without_port(up.lines[0])
        env["UNTILGREEN_FLEET"] = line.partition("=")[2]
        run, seen = "", ""
        for each in typed:
            seen = sh(RUN_ID.sub(lambda _: run, each.command), place, env)  # noqa: B023
            assert [line for line in each.lines if alike(line) not in alike(seen)] == [], seen
            if not run:
                run = RUN_ID.findall(seen)[0]
                until(lambda: _is_driven(run, place, env))  # noqa: B023
        assert "converged" in sh(f"untilgreen show {run} --fleet", place, env)
        assert sh(f"git ls-tree --name-only origin/untilgreen/{run} done", place, env) == "done\n"
        _twenty_runs_on_two_workers(place, env)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
        shutil.rmtree(_database_home(home / "page" / "state" / "fleet-trial"))
    assert server.returncode == 0


def _twenty_runs_on_two_workers(place: Path, env: dict[str, str]) -> None:
    """Run the page's second part with fewer runs, since each takes some seconds on a busy machine."""
    worker, loop = _second_part()
    assert (worker.count("untilgreen worker"), loop.count("seq 20")) == (1, 1)
    second = subprocess.Popen(["/bin/sh", "-c", f"exec {worker}"], cwd=place, env=env)
    try:
        until(lambda: sh("untilgreen fleet workers", place, env).count("worker    ") == 2)
        said = sh(loop.replace("seq 20", f"seq {FEWER}"), place, env)
        assert said.count(" is in the fleet.") == FEWER, said
        assert "queue     untilgreen  " in said, said
        until(lambda: sh("untilgreen list --fleet", place, env).count("converged") == FEWER + 1, 180)
    finally:
        second.send_signal(signal.SIGTERM)
        second.wait(60)
    assert second.returncode == 0
    assert sh("git status --porcelain", place, env) == ""


def _second_part() -> list[str]:
    found = [
        match[2] for match in FENCE.finditer((ROOT / "docs" / "fleet.md").read_text()) if match[1] == "sh"
    ]
    return found[:2]


def _is_driven(run: str, place: Path, env: dict[str, str]) -> bool:
    """Whether a worker drives the run, or has finished it already."""
    told = sh("untilgreen fleet workers; untilgreen list --fleet", place, env)
    return f"driven: {run}" in told or "converged" in told


def _without_port(line: str) -> str:
    return re.sub(r":\d+/", ":PORT/", line)
