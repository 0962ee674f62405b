"""Whether a sandbox can be made on this machine: tried for real, and inside of another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Walls
from untilgreen.process.run import run
from untilgreen.process.sandbox import PROGRAM, found

PATIENCE_SECONDS = 20.0
SHUT = Walls(network=False)
NESTED = (PROGRAM, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "true")
"""A sandbox inside of the sandbox, as some agents make one for the commands that they run."""
_SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)
"""What forbids user namespaces: where it is written, how it says no, and how it says yes."""


async def require(walls: Walls, cwd: Path) -> None:
    """Raise where no such sandbox can be made; nothing is ever started without the one that was asked for."""
    program = found(walls)
    if why := await trouble(("true",), walls, cwd):
        raise AgentUnavailable(f"{program} can't make a sandbox here: {why} To mend it: {mend()}.")


async def trouble(argv: Sequence[str], walls: Walls = SHUT, cwd: Path = Path("/")) -> str:
    """What bubblewrap says when it can't, and nothing when it can."""
    ran = await run(argv, cwd=cwd, walls=walls, seconds=PATIENCE_SECONDS, fence=False)
    if ran.ok:
        return ""
    words = next((line.strip() for line in reversed(ran.stderr.splitlines()) if line.strip()), ran.ending)
    return words if words.endswith(".") else f"{words}."


def mend() -> str:
    """The command that lets sandboxes be made, as far as the system says what forbids them."""
    for name, no, yes in _SWITCHES:
        try:
            said = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if said == no:
            return f"sysctl -w {name.replace('/', '.')}={yes}"
    return "allow user namespaces, in a container for example with --security-opt seccomp=unconfined"
