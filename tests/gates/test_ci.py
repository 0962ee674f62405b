"""Checks on GitHub, through a stand-in `gh` that answers with the API's own JSON."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from untilgreen.core.values.model import Verdict
from untilgreen.errors import ConfigError
from untilgreen.plugins.registry import registry
from untilgreen.ports import CheckContext, Mount, Sandbox

GH = """#!/usr/bin/env python3
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
answers = json.loads((here / "answers").read_text())
answer = answers.pop(0) if len(answers) > 1 else answers[0]
(here / "answers").write_text(json.dumps(answers))
if isinstance(answer, str):
    sys.exit(answer)
page = int(sys.argv[-1].partition("&page=")[2])
print(json.dumps({"total_count": len(answer), "check_runs": answer[100 * page - 100 : 100 * page]}))
"""


def run(name: str, status: str = "completed", conclusion: str | None = "success") -> dict[str, Any]:
    return {
        "id": 1,
        "name": name,
        "status": status,
        "conclusion": conclusion,
        "html_url": f"https://x/{name}",
    }


class GitHub:
    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root
        program = folder / "gh"
        program.write_text(GH)
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    async def check(
        self, *answers: Any, snapshot: str | None = None, sandbox: Sandbox | None = None, **options: Any
    ) -> Verdict:
        (self.folder / "answers").write_text(json.dumps(answers))
        gate = registry.create("gate", "ci", {"poll": "0.05s", "appear": "0.3s", **options}).object
        tree = snapshot if snapshot is not None else git(self.root, "rev-parse", "HEAD^{tree}")
        verdict = await gate.check(CheckContext(root=self.root, snapshot=tree, sandbox=sandbox))
        assert isinstance(verdict, Verdict)
        return verdict


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    ran = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    root, programs = tmp_path / "repo", tmp_path / "bin"
    root.mkdir()
    programs.mkdir()
    git(root, "init", "-q")
    (root / "a.txt").write_text("a")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return GitHub(programs, root)


async def test_all_checks_succeed(github: GitHub) -> None:
    verdict = await github.check([run("build"), run("test")])

    assert (verdict.status, verdict.score) == ("pass", 1.0)
    commit = git(github.root, "rev-parse", "HEAD")
    assert github.calls == [f"api repos/{{owner}}/{{repo}}/commits/{commit}/check-runs?per_page=100&page=1"]


async def test_with_a_sandbox_no_program_of_the_workspace_gets_the_users_login(
    github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gh", "git"):
        planted = github.root / ".venv" / name
        planted.parent.mkdir(exist_ok=True)
        planted.write_text(f"#!/bin/sh\ntouch {github.root}/planted-{name}\n")
        planted.chmod(0o755)
    tree = git(github.root, "rev-parse", "HEAD^{tree}")
    monkeypatch.setenv("PATH", f"{github.root / '.venv'}{os.pathsep}{os.environ['PATH']}")

    inside = Sandbox(mounts=(Mount(path=github.root, way="write"),))
    verdict = await github.check([run("build")], snapshot=tree, sandbox=inside)

    assert verdict.status == "pass"
    assert not list(github.root.glob("planted-*"))


async def test_what_is_pending_is_waited_for(github: GitHub) -> None:
    queued = [run("build", "queued", None)]
    running = [run("build", "in_progress", None)]
    verdict = await github.check([], queued, running, [run("build")], appear="1m")

    assert verdict.status == "pass"
    assert len(github.calls) == 4


@pytest.mark.parametrize("conclusion", ["failure", "cancelled", "timed_out", "action_required", "stale"])
async def test_any_other_conclusion_fails_and_is_named(github: GitHub, conclusion: str) -> None:
    verdict = await github.check([run("build"), run("test", conclusion=conclusion)])

    assert (verdict.status, verdict.score) == ("fail", 0.5)
    assert [finding.id for finding in verdict.findings] == ["test"]
    assert conclusion in verdict.findings[0].message


@pytest.mark.parametrize("conclusion", ["skipped", "neutral"])
async def test_skipped_and_neutral_count_by_policy(github: GitHub, conclusion: str) -> None:
    checks = [run("build"), run("docs", conclusion=conclusion)]

    assert (await github.check(checks)).status == "pass"
    assert (await github.check(checks, accept=[])).status == "fail"


async def test_when_everything_was_skipped_nothing_was_shown(github: GitHub) -> None:
    verdict = await github.check([run("build", conclusion="skipped")])

    assert verdict.status == "fail"
    assert verdict.findings[0].id == "nothing ran"


async def test_only_named_checks_count_and_a_missing_one_fails(github: GitHub) -> None:
    checks = [run("build"), run("nightly", conclusion="failure")]

    assert (await github.check(checks, checks=["build"])).status == "pass"
    verdict = await github.check(checks, checks=["build", "lint"])
    assert [finding.id for finding in verdict.findings] == ["lint"]


async def test_no_checks_within_the_stated_time_is_an_error_with_the_reason(github: GitHub) -> None:
    verdict = await github.check([])

    assert verdict.status == "error"
    assert "within 0.3s" in verdict.findings[0].message


async def test_gh_that_is_logged_out_or_talks_nonsense_is_an_error(github: GitHub) -> None:
    logged_out = await github.check("To get started with GitHub CLI, please run:  gh auth login")
    nonsense = await github.check([{"name": 7}])

    assert "gh auth login" in logged_out.findings[0].message
    assert (logged_out.status, nonsense.status) == ("error", "error")


async def test_gh_that_is_missing_is_an_error(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    verdict = await github.check([], snapshot="")

    assert (verdict.status, verdict.findings[0].id) == ("error", "gh")


async def test_a_check_on_a_later_page_is_seen(github: GitHub) -> None:
    many = [run(f"build-{number}") for number in range(130)]
    answer = [*many, run("last", conclusion="failure")]

    verdict = await github.check(answer)

    assert [finding.id for finding in verdict.findings] == ["last"]


async def test_a_named_check_that_is_not_there_yet_is_waited_for(github: GitHub) -> None:
    early, late = [run("build")], [run("build"), run("deploy")]

    verdict = await github.check(early, early, late, checks=["build", "deploy"], appear="30s")

    assert verdict.status == "pass"


async def test_a_push_with_nothing_to_push_is_accepted(github: GitHub) -> None:
    assert (await github.check([run("build")], push="git commit -qam wip")).status == "pass"

    (github.root / "a.txt").write_text("b")
    failed = await github.check([run("build")], push="echo no remote >&2; exit 1", snapshot="0" * 40)

    assert "The command of `push` failed: no remote" in failed.findings[0].message


async def test_checks_of_a_commit_that_does_not_hold_these_files_say_nothing(github: GitHub) -> None:
    verdict = await github.check([run("build")], snapshot="0" * 40)

    assert verdict.status == "error"
    assert "Commit and push them" in verdict.findings[0].message


async def test_push_commits_what_is_there_first(github: GitHub) -> None:
    (github.root / "a.txt").write_text("b")
    push = "git -c user.name=t -c user.email=t@example.invalid commit -qam b"
    git(github.root, "add", "-A")
    tree = git(github.root, "write-tree")

    assert (await github.check([run("build")], snapshot=tree, push=push)).status == "pass"
    failed = await github.check("HTTP 422: No commit found for SHA", push="echo no remote >&2; exit 1")
    assert "no remote" in failed.findings[0].message
    assert "No commit found" in failed.findings[0].message


@pytest.mark.parametrize(
    "options", [{"commit": "--all"}, {"commit": ""}, {"appear": "soon"}, {"accept": ["failure"]}]
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        registry.create("gate", "ci", options)
