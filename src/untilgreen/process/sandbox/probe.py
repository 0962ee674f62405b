"""Tests whether a sandbox can be made on this machine, and inside another sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Sandbox
from untilgreen.process.run import run
from untilgreen.process.sandbox.bubblewrap import PROGRAM, find_bwrap
from untilgreen.process.sandbox.containers import find_engine

PATIENCE_SECONDS = 20.0
SHUT = Sandbox(network=False)
NESTED = (PROGRAM, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "true")
"""A sandbox within the sandbox, as some agents make for the commands they run."""
_SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)
"""Kernel settings that forbid user namespaces: name, forbidding value, permitting value."""


async def require(sandbox: Sandbox, cwd: Path) -> None:
    """Raise if this sandbox can't be made; nothing is ever started without the sandbox asked for."""
    if sandbox.engine:
        await _require_container(sandbox, cwd)
        return
    program = find_bwrap(sandbox)
    if why := await problem(("true",), sandbox, cwd):
        raise AgentUnavailable(f"{program} can't make a sandbox here: {why} To fix it: {how_to_enable()}.")


async def _require_container(sandbox: Sandbox, cwd: Path) -> None:
    engine = find_engine(sandbox)
    if why := await problem(("true",), sandbox, cwd):
        raise AgentUnavailable(
            f"{engine} can't run the image {sandbox.image!r}: {why} Get the image with "
            f"`{sandbox.engine} pull {sandbox.image}`, or correct sandbox.image."
        )


async def problem(argv: Sequence[str], sandbox: Sandbox = SHUT, cwd: Path = Path("/")) -> str:
    """The last line of errors if a command fails in the sandbox; empty if it works."""
    ran = await run(argv, cwd=cwd, sandbox=sandbox, seconds=PATIENCE_SECONDS, fence=False)
    if ran.ok:
        return ""
    words = next((line.strip() for line in reversed(ran.stderr.splitlines()) if line.strip()), ran.ending)
    return words if words.endswith(".") else f"{words}."


def how_to_enable() -> str:
    """How to permit sandboxes: the exact command, if a kernel setting turns out to forbid them."""
    for name, no, yes in _SWITCHES:
        try:
            said = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if said == no:
            return f"sysctl -w {name.replace('/', '.')}={yes}"
    return "allow user namespaces, in a container for example with --security-opt seccomp=unconfined"
