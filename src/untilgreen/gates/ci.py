"""The checks of a pushed commit, as GitHub has them, asked through `gh`."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import Literal

import anyio
import msgspec
from anyio import current_time
from msgspec import Struct

from untilgreen.core.model import Finding, Verdict
from untilgreen.core.units import duration, show_duration
from untilgreen.errors import ConfigError
from untilgreen.ports import Site
from untilgreen.process.run import Ran, run
from untilgreen.process.sandbox import outside
from untilgreen.process.start import shell

MOST_PAGES = 20
Conclusion = Literal["skipped", "neutral"]


class Check(Struct, frozen=True):
    """One check run, as GitHub's API names its parts."""

    name: str
    status: str
    conclusion: str | None = None
    html_url: str = ""


class _Checks(Struct, frozen=True):
    check_runs: list[Check]
    total_count: int = 0


class Unanswered(Exception):
    """GitHub could not be asked; the text says why."""


@dataclass(frozen=True, kw_only=True)
class CiGate:
    """Passes when every check of the commit succeeds; what is pending is waited for."""

    commit: str = "HEAD"
    push: str | None = None
    """A command that commits and pushes what is there, where somebody else does not."""
    checks: list[str] = field(default_factory=list)
    """Only these checks count; all by default."""
    accept: list[Conclusion] = field(default_factory=lambda: list[Conclusion](["skipped", "neutral"]))
    """Conclusions that are as good as success."""
    appear: float | str = "5m"
    """How long checks may take to appear at all."""
    poll: float | str = "15s"

    def __post_init__(self) -> None:
        """Read the durations once, so that a wrong one is said before a run starts."""
        for key in ("appear", "poll"):
            duration(getattr(self, key), f"ci: {key}")
        if not self.commit.strip() or self.commit.startswith("-"):
            raise ConfigError(f"ci: commit = {self.commit!r} names no commit. Write a branch, tag or id.")

    async def check(self, workspace: Site) -> Verdict:
        """Push where asked, see that the commit is what was worked on, and wait for its checks."""
        if shutil.which("gh") is None:
            return _error("gh", "There is no program 'gh'. Install the GitHub CLI and run `gh auth login`.")
        trouble = ""
        try:
            commit, trouble = await self._pushed(workspace)
            checks = await self._concluded(workspace, commit)
        except Unanswered as error:
            return _error("ci", f"{trouble} {error}".strip())
        return self._verdict(checks)

    async def _pushed(self, site: Site) -> tuple[str, str]:
        """The commit, and why the push failed; that does no harm where the commit holds the files already."""
        trouble = ""
        if self.push is not None:
            try:
                await _asked(shell(self.push), site, "The command of `push` failed")
            except Unanswered as error:
                trouble = str(error)
        found = await _asked(["git", "rev-parse", f"{self.commit}^{{commit}}"], site, "There is no commit")
        commit = found.stdout.strip()
        tree = await _asked(["git", "rev-parse", f"{commit}^{{tree}}"], site, "The commit has no tree")
        if site.snapshot and tree.stdout.strip() != site.snapshot:
            raise Unanswered(
                f"{trouble} Commit {commit[:12]} does not hold the files that are here, so its checks say "
                "nothing on them. Commit and push them, for example with "
                '`push = "git commit -am wip && git push"`.'
            )
        return commit, trouble

    async def _concluded(self, site: Site, commit: str) -> list[Check]:
        """Poll until nothing is pending; the gate's own time limit ends it otherwise."""
        started = current_time()
        while True:
            checks = await self._listed(site, commit)
            late = current_time() - started > duration(self.appear)
            there = {check.name for check in checks}.issuperset(self.checks)
            if checks and (there or late) and all(check.status == "completed" for check in checks):
                return checks
            if not checks and late:
                what = f"None of {', '.join(self.checks)}" if self.checks else "No check"
                raise Unanswered(
                    f"{what} appeared for {commit[:12]} within {show_duration(duration(self.appear))}. "
                    "Is the commit pushed, and does a workflow run on it?"
                )
            await anyio.sleep(duration(self.poll))

    async def _listed(self, site: Site, commit: str) -> list[Check]:
        found: list[Check] = []
        for page in range(1, MOST_PAGES + 1):
            path = f"repos/{{owner}}/{{repo}}/commits/{commit}/check-runs?per_page=100&page={page}"
            told = await _page(path, site)
            found += told.check_runs
            if not told.check_runs or len(found) >= told.total_count:
                break
        return [check for check in found if not self.checks or check.name in self.checks]

    def _verdict(self, checks: list[Check]) -> Verdict:
        good = [check for check in checks if check.conclusion == "success" or check.conclusion in self.accept]
        lines = "\n".join(f"{check.conclusion}: {check.name} {check.html_url}".strip() for check in checks)
        missing = [name for name in self.checks if name not in {check.name for check in checks}]
        bad = [check for check in checks if check not in good]
        findings = [
            Finding(id=check.name, message=f"{check.conclusion} {check.html_url}".strip()) for check in bad
        ]
        findings += [Finding(id=name, message="This check did not run.") for name in missing]
        if not findings and any(check.conclusion == "success" for check in checks):
            return Verdict(status="pass", score=1.0, excerpt=lines)
        if not findings:
            findings = [Finding(id="nothing ran", message="Every check was skipped or neutral.")]
        return Verdict(status="fail", score=len(good) / len(checks), findings=tuple(findings), excerpt=lines)


async def _page(path: str, site: Site) -> _Checks:
    ran = await _asked(["gh", "api", path], site, "GitHub did not answer (log in with `gh auth login`)")
    return told(ran.stdout)


def told(answer: str) -> _Checks:
    """A page of checks as GitHub lists them."""
    try:
        return msgspec.json.decode(answer, type=_Checks)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unanswered(f"The answer of `gh api` can't be read: {error}.") from error


async def _asked(argv: list[str], site: Site, what: str) -> Ran:
    ran = await run(argv, cwd=site.root, env={**site.env, **_beside(site)}, note=site.tree)
    if not ran.ok:
        raise Unanswered(f"{what}: {(ran.stderr or ran.stdout).strip()[-500:] or ran.ending}.")
    return ran


def _beside(site: Site) -> dict[str, str]:
    """Who asks from outside of a sandbox asks with no program that lies inside of it."""
    if site.walls is None:
        return {}
    places = [mount.path for mount in site.walls.mounts if mount.way == "write"]
    return {"PATH": outside(os.environ.get("PATH", os.defpath), places)}


def _error(what: str, why: str) -> Verdict:
    return Verdict(status="error", findings=(Finding(id=what, message=why),))
