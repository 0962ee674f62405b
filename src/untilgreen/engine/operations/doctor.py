"""Whether this machine and directory are ready for a run, with a fix for each problem."""

from __future__ import annotations

import os
import platform
import secrets
import shlex
import shutil
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from untilgreen.engine.store.runs import Store
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Sandbox
from untilgreen.process import cgroup
from untilgreen.process.run import Ran, run
from untilgreen.process.sandbox.bubblewrap import INSTALL, PROGRAM
from untilgreen.process.sandbox.probe import NESTED, how_to_enable, problem, require
from untilgreen.process.start import CannotStart
from untilgreen.regex import regex
from untilgreen.workspace.factory import git_root
from untilgreen.workspace.git.repository import OLDEST_GIT

CheckStatus = Literal["ok", "absent", "warn", "fail"]
LITTLE, LEAST = 2_000_000_000, 200_000_000
"""Free bytes below which a disk gets a warning, and below which it counts as a problem."""
PATIENCE_SECONDS = 20.0
_VERSION = regex(r"\d+(?:\.\d+)+")


class Row(Struct, frozen=True, kw_only=True):
    """One check and its result."""

    name: str
    status: CheckStatus = "ok"
    detail: str = ""
    fix: str = ""
    """The command, or the step, that fixes it."""


async def machine(store: Store, start: Path) -> AsyncIterator[Row]:
    """What every run needs, whatever its spec."""
    yield Row(name="python", detail=f"{platform.python_version()} ({sys.executable})")
    yield await _git(start)
    yield _state(store)
    yield _disk("disk of the state directory", _nearest(store.state_dir))
    yield await _workspace(start)
    yield _disk("disk of the workspace", start)
    yield _processes()


async def ask(argv: list[str], start: Path) -> Ran | None:
    """What a program answers, or None if it can't be started."""
    try:
        return await run(argv, cwd=start, seconds=PATIENCE_SECONDS, stdin=b"", fence=False)
    except CannotStart:
        return None


def version_in(text: str) -> str:
    """The first version number in a text."""
    found = _VERSION.search(text)
    return found[0] if found else ""


async def _git(start: Path) -> Row:
    ran = await ask(["git", "--version"], start)
    if ran is None or not ran.ok:
        fix = (
            "brew install git"
            if sys.platform == "darwin"
            else "apt install git   (or use your package manager)"
        )
        return Row(name="git", status="fail", detail="git can't be started, and snapshots need it", fix=fix)
    version = version_in(ran.stdout)
    if version and tuple(map(int, version.split(".")[:2])) < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        return Row(
            name="git", status="fail", detail=f"{version} is too old", fix=f"install git {wanted} or newer"
        )
    return Row(name="git", detail=version or ran.stdout.strip())


def _nearest(path: Path) -> Path:
    """The directory itself, or the one that it would be made in."""
    return next(each for each in (path, *path.parents) if each.exists())


def _state(store: Store) -> Row:
    place, near = store.state_dir, _nearest(store.state_dir)
    elsewhere = "choose another with --state-dir or UNTILGREEN_STATE_DIR"
    if not near.is_dir() or not os.access(near, os.W_OK | os.X_OK):
        mine = f"chmod u+rwx {shlex.quote(str(near))}, or {elsewhere}"
        return Row(name="state directory", status="fail", detail=f"{near} can't be written to", fix=mine)
    if place.exists() and place.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        fix = f"chmod 700 {shlex.quote(str(place))}"
        return Row(name="state directory", status="warn", detail=f"{place} is open to other users", fix=fix)
    return Row(
        name="state directory", detail=f"{place}{'' if place.exists() else ' (created by the first run)'}"
    )


def _disk(name: str, place: Path) -> Row:
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:.1f} GB free"
    fix = "free some space; `untilgreen prune` removes old runs"
    if free < LEAST:
        return Row(name=name, status="fail", detail=detail, fix=fix)
    return (
        Row(name=name, status="warn", detail=detail, fix=fix)
        if free < LITTLE
        else Row(name=name, detail=detail)
    )


async def _workspace(start: Path) -> Row:
    if not os.access(start, os.W_OK | os.X_OK):
        fix = f"chmod u+rwx {shlex.quote(str(start))}, or work elsewhere with -C DIR"
        return Row(name="workspace", status="fail", detail=f"{start} can't be written to", fix=fix)
    try:
        root = await git_root(start)
    except Exception as error:  # a repository that git itself refuses is a finding, not a crash
        fix = "run `git status` there, and do what it says"
        return Row(name="workspace", status="fail", detail=str(error), fix=fix)
    kept = f"in the repository {root}" if root else "not in git: snapshots go to a private repository"
    return Row(name="workspace", detail=f"{start}, {kept}")


def _processes() -> Row:
    """How reliably everything that an agent started can be killed with it."""
    made = cgroup.make(f"doctor-{secrets.token_hex(4)}")
    if made is None:
        return Row(name="processes", detail="tracked one by one; cgroups are not available here")
    cgroup.remove(made)
    return Row(name="processes", detail="each agent and gate runs in its own cgroup")


async def containers(engine: str, image: str) -> Row:
    """Whether the spec's image can be run."""
    try:
        await require(Sandbox(engine=engine, image=image, network=False), Path("/"))
    except AgentUnavailable as error:
        return Row(name="sandbox", status="fail", detail=str(error), fix=f"{engine} pull {image}")
    return Row(name="sandbox", detail=f"{engine} runs {image}; agents and gates use it as the spec asks")


async def sandbox(*, needed: bool) -> Row:
    """Whether a sandbox can be made, and another one inside it; only a spec that asks for one needs it."""
    bad: CheckStatus = "fail" if needed else "warn"
    if sys.platform != "linux" or shutil.which(PROGRAM) is None:
        detail = "bwrap is not installed" + (", and the spec asks for it" if needed else "")
        return Row(name="sandbox", status=bad if needed else "absent", detail=detail, fix=INSTALL)
    if why := await problem(("true",)):
        return Row(name="sandbox", status=bad, detail=f"bwrap does not work here: {why}", fix=how_to_enable())
    if why := await problem(NESTED):
        detail = f"bwrap works, but not nested, so Codex can't use its own sandbox: {why}"
        return Row(
            name="sandbox", status="warn", detail=detail, fix=f"{how_to_enable()}; or run Codex with --yolo"
        )
    asked = "as the spec asks" if needed else "with --sandbox bwrap"
    counted = (
        "all their processes together (cgroup v2)"
        if cgroup.limiting(cgroup.home())
        else "each process alone (rlimits)"
    )
    detail = f"bwrap works, even nested; agents and gates use it {asked}; sandbox.memory limits {counted}"
    return Row(name="sandbox", detail=detail)
