"""The checks that GitHub ran on a pushed commit, read through `gh`."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import Annotated, Literal

import anyio
import msgspec
from anyio import current_time
from msgspec import Struct

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.core.values.option_checks import about
from untilgreen.core.values.units import duration, show_duration
from untilgreen.errors import ConfigError
from untilgreen.ports import CheckContext
from untilgreen.process.run import Ran, run
from untilgreen.process.sandbox.bubblewrap import path_outside
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
    """GitHub could not be asked; the message says why."""


@dataclass(frozen=True, kw_only=True)
class CiGate:
    """Passes when every check of the commit succeeds; waits for pending ones."""

    commit: Annotated[str, about("The commit to ask about: a branch, a tag or an id.")] = "HEAD"
    push: Annotated[
        str | None, about("A command that commits and pushes the files, unless something else does.")
    ] = None
    checks: Annotated[list[str], about("Only these checks count; empty: all of them.")] = field(
        default_factory=list
    )
    accept: Annotated[
        list[Conclusion], about('Conclusions as good as success; default: "skipped" and "neutral".')
    ] = field(default_factory=lambda: list[Conclusion](["skipped", "neutral"]))
    appear: Annotated[float | str, about("How long checks may take to appear, such as 5m.")] = "5m"
    poll: Annotated[float | str, about("How often to ask, such as 15s.")] = "15s"

    def __post_init__(self) -> None:
        """Check the durations before a run starts."""
        for key in ("appear", "poll"):
            duration(getattr(self, key), f"ci: {key}")
        if not self.commit.strip() or self.commit.startswith("-"):
            raise ConfigError(
                f"ci: commit = {self.commit!r} does not name a commit. Use a branch, a tag or an id."
            )

    async def check(self, workspace: CheckContext) -> Verdict:
        """Push if asked to, make sure the commit holds the current files, and wait for its checks."""
        if shutil.which("gh") is None:
            return _error("gh", "gh is not installed. Install the GitHub CLI and run `gh auth login`.")
        trouble = ""
        try:
            commit, trouble = await self._pushed(workspace)
            checks = await self._concluded(workspace, commit)
        except Unanswered as error:
            return _error("ci", f"{trouble} {error}".strip())
        return self._verdict(checks)

    async def _pushed(self, context: CheckContext) -> tuple[str, str]:
        """The commit, and why the push failed, which is harmless if the commit already has the files."""
        trouble = ""
        if self.push is not None:
            try:
                await _asked(shell(self.push), context, "The command of `push` failed")
            except Unanswered as error:
                trouble = str(error)
        found = await _asked(["git", "rev-parse", f"{self.commit}^{{commit}}"], context, "There is no commit")
        commit = found.stdout.strip()
        tree = await _asked(["git", "rev-parse", f"{commit}^{{tree}}"], context, "The commit has no tree")
        if context.snapshot and tree.stdout.strip() != context.snapshot:
            raise Unanswered(
                f"{trouble} Commit {commit[:12]} does not contain the current files, so its checks say "
                "nothing about them. Commit and push them, for example with "
                '`push = "git commit -am wip && git push"`.'
            )
        return commit, trouble

    async def _concluded(self, context: CheckContext, commit: str) -> list[Check]:
        """Poll until nothing is pending, or until the gate's time limit."""
        started = current_time()
        while True:
            checks = await self._listed(context, commit)
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

    async def _listed(self, context: CheckContext, commit: str) -> list[Check]:
        found: list[Check] = []
        for page in range(1, MOST_PAGES + 1):
            path = f"repos/{{owner}}/{{repo}}/commits/{commit}/check-runs?per_page=100&page={page}"
            told = await _page(path, context)
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


async def _page(path: str, context: CheckContext) -> _Checks:
    ran = await _asked(["gh", "api", path], context, "GitHub did not answer (log in with `gh auth login`)")
    return parse_checks(ran.stdout)


def parse_checks(answer: str) -> _Checks:
    """Parse a page of checks from GitHub's answer."""
    try:
        return msgspec.json.decode(answer, type=_Checks)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unanswered(f"Can't read the answer of `gh api`: {error}.") from error


async def _asked(argv: list[str], context: CheckContext, what: str) -> Ran:
    ran = await run(argv, cwd=context.root, env={**context.env, **_beside(context)}, note=context.tree)
    if not ran.ok:
        raise Unanswered(f"{what}: {(ran.stderr or ran.stdout).strip()[-500:] or ran.ending}.")
    return ran


def _beside(context: CheckContext) -> dict[str, str]:
    """A PATH without the places that a sandbox can write, since these programs run outside of it."""
    if context.sandbox is None:
        return {}
    places = [mount.path for mount in context.sandbox.mounts if mount.way == "write"]
    return {"PATH": path_outside(os.environ.get("PATH", os.defpath), places)}


def _error(what: str, why: str) -> Verdict:
    return Verdict(status="error", findings=(Finding(id=what, message=why),))
