"""Stories of agents that fix a project, fail, go back and forth, or cheat, and what has to come of each."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.projects.catalog import Project
from tests.projects.prepare import HERE, command, failing_ids, gate, ignored_files

UNTILGREEN = Path(sys.executable).with_name("untilgreen")
CHEATS = ("skip-the-test", "fake-the-runner", "exit-on-import")


@dataclass(frozen=True)
class Run:
    """How a run ended, read from its `--json` output."""

    result: dict[str, Any]
    verdicts: list[tuple[int, str, dict[str, Any]]]
    """Lap, gate and verdict of each check, in order."""

    @property
    def outcome(self) -> str:
        return str(self.result.get("outcome"))

    def findings(self, lap: int, name: str = "tests") -> list[str]:
        return sorted(
            finding["id"]
            for at, gate_name, verdict in self.verdicts
            if (at, gate_name) == (lap, name)
            for finding in verdict.get("findings", [])
        )


def play(project: Project, place: Path, story: str, *, command_line: str = "", laps: int = 3) -> Run:
    notes = place.with_name("notes.json")
    known = {key: getattr(project, key) for key in ("file", "good", "bad", "test_file", "runner")}
    notes.write_text(json.dumps(known))
    agent = shlex.join([sys.executable, str(HERE / "agent.py"), story, str(notes)])
    done = command(
        UNTILGREEN,
        "run",
        "Make the tests pass",
        *("--agent", f"cmd:{agent}", "--gate", f"tests={command_line or gate(project)}"),
        *("--max-iterations", str(laps), "--json", "--no-input"),
        *("--state-dir", place.with_name("state")),
        cwd=place,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    events = [line["event"] for line in lines if line["type"] == "event"]
    verdicts = [
        (each["lap"], each["gate"], each["verdict"]) for each in events if each["type"] == "GateChecked"
    ]
    results = [line for line in lines if line["type"] == "result"]
    return Run(results[-1] if results else {"outcome": f"none: {done.stderr[-400:]}"}, verdicts)


def honest(project: Project, place: Path) -> list[str]:
    before, truth = ignored_files(place), failing_ids(project, place)
    run = play(project, place, "honest")
    wrong = [] if run.outcome == "converged" else [f"ended {run.outcome}: {run.result.get('reason')}"]
    if not truth or run.findings(0) != truth:
        wrong.append(f"findings {run.findings(0)} are not {truth}")
    return wrong + _same_files(before, place)


def wrong(project: Project, place: Path) -> list[str]:
    shipped = (place / project.file).read_text()
    run = play(project, place, "wrong")
    said = [] if run.outcome in ("stuck", "exhausted") else [f"ended {run.outcome}"]
    if (place / project.file).read_text() != shipped:
        said.append("the useless edit was left in place")
    return said


def oscillate(project: Project, place: Path) -> list[str]:
    run = play(project, place, "oscillate", laps=10)
    return [] if run.outcome == "stuck" else [f"ended {run.outcome} after {run.result.get('laps')} laps"]


def cheat(story: str) -> Callable[[Project, Path], list[str]]:
    def played(project: Project, place: Path) -> list[str]:
        run = play(project, place, story, laps=2)
        return [] if run.outcome != "converged" else ["was believed"]

    return played


def reinstall(project: Project, place: Path) -> list[str]:
    """A gate that installs everything again leaves the user's installation intact."""
    if project.is_python:
        install = f"{sys.executable} -m venv --without-pip .venv && touch .venv/installed"
    else:
        flags = "--no-save --no-audit --no-fund --silent --prefer-offline"
        install = f"rm -rf node_modules && npm install {flags} {' '.join(project.needs)}"
    command_line = f"{install} && {gate(project)}"
    command("sh", "-c", install, cwd=place)
    before = ignored_files(place)
    run = play(project, place, "honest", command_line=command_line)
    said = [] if run.outcome == "converged" else [f"ended {run.outcome}: {run.result.get('reason')}"]
    return said + _same_files(before, place)


def flaky(project: Project, place: Path) -> list[str]:
    """An honest agent isn't accused because a test that it never touched fails now and then.

    The test counts its runs in a file next to the workspace and fails in every third, so that the story
    always ends the same way; one that fails at random would sometimes fail twice in a row, and look broken.
    """
    folder, runs = (place / project.test_file).parent, place.with_name(f"{place.name}-runs")
    if project.is_python:
        (folder / "test_flaky.py").write_text(PYTHON_FLAKE.format(runs=str(runs)))
        name = (folder / "test_flaky.py").relative_to(place).as_posix()
        found = any(name.startswith(f"{given}/") for given in project.tests.split())
        more = "tests.test_flaky" if project.runner == "unittest" else "" if found else name
    else:
        name = "flaky.test.js"
        (folder / name).write_text(NODE_FLAKE.replace("RUNS", str(runs)))
        more = f"{folder.relative_to(place)}/{name}"
    command("git", "add", "-A", cwd=place)
    command("git", "-c", "user.name=K", "-c", "user.email=k@example.org", "commit", "-qm", "flaky", cwd=place)
    run = play(project, place, "honest", command_line=f"{gate(project)} {more}".strip(), laps=6)
    accused = [finding for lap in range(7) for finding in run.findings(lap, "integrity")]
    asks = "flaky" in str((run.result.get("question") or {}).get("question", ""))
    fair = run.outcome == "converged" or asks
    question = run.result.get("question")
    seen = runs.exists() and len(runs.read_text()) > 1
    wrong = [] if fair and not accused else [f"ended {run.outcome}, accused: {accused}, asked: {question}"]
    return wrong if seen else [*wrong, "the flaky test never failed"]


def compound(project: Project, place: Path) -> list[str]:
    """Green tests with a lint error are better than red tests that hide it."""
    if project.is_python:
        lint = f"{sys.executable} -m ruff check --isolated --select E501 --line-length 250 {project.file}"
    else:
        lint = f"! grep -n 'needs a rule' {project.file}"
    run = play(project, place, "compound", command_line=f"{gate(project)} && {lint}")
    said = [] if run.outcome == "converged" else [f"ended {run.outcome}: {run.result.get('reason')}"]
    statuses = [verdict["status"] for _, name, verdict in run.verdicts if name == "tests"]
    return said + ([] if statuses == ["fail", "fail", "pass"] else [f"gates said {statuses}"])


def _same_files(before: dict[str, str], place: Path) -> list[str]:
    after = ignored_files(place)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [f"ignored files changed: {', '.join(changed[:5])}"] if changed else []


PYTHON_FLAKE = """\
import unittest
from pathlib import Path

class Flaky(unittest.TestCase):
    def test_it(self):
        with open({runs!r}, "a") as file:
            file.write("x")
        assert len(Path({runs!r}).read_text()) % 3 != 2
"""
NODE_FLAKE = """\
const fs = require('fs')
require('tape')('flaky', t => {
  fs.appendFileSync('RUNS', 'x')
  t.ok(fs.readFileSync('RUNS').length % 3 !== 2)
  t.end()
})
"""

STORIES: dict[str, Callable[[Project, Path], list[str]]] = {
    "honest": honest,
    "wrong": wrong,
    "oscillate": oscillate,
    **{story: cheat(story) for story in CHEATS},
    "reinstall": reinstall,
    "flaky": flaky,
    "compound": compound,
}


def tell(project: Project, shipped: Path, story: str) -> list[str]:
    """Play the story on a copy of the project, and return its faults."""
    folder = shipped.with_name(f"{project.name}-{story}")
    place = folder / "project"
    shutil.copytree(shipped, place, symlinks=True)
    return STORIES[story](project, place)
