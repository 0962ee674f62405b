"""Builds the command line that runs a command in a container of Docker or Podman.

The container shows its image, read-only, and of this machine only what the sandbox names: the workspace, at
the same path as here, and the other mounts. Variables are passed by name, so that no value appears on a
command line. The program comes from the image.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Mount, Sandbox
from untilgreen.process.sandbox.bubblewrap import (
    EMPTY_BYTES,
    CommandLine,
    between,
    path_outside,
    reachable,
)
from untilgreen.process.sandbox.hidden_paths import inside_any, resolved

LET_IN = (
    *("HOME", "USER", "LOGNAME", "TZ", "TERM", "COLORTERM", "LANG", "LANGUAGE", "LC_*", "SOURCE_DATE_EPOCH"),
    *("CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*", "COLUMNS", "LINES", "MAKEFLAGS", "IS_SANDBOX"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "UNTILGREEN_TREE", "UNTILGREEN_INSIDE"),
)
"""Variables passed into every container; its image sets those that say where programs are."""
OF_THE_IMAGE = frozenset({"PATH", "PWD", "SHELL", "TMPDIR"})
EMPTY = ("/tmp", "/var/tmp", "/run")


def find_engine(sandbox: Sandbox) -> str:
    """The path of the engine's program; raises if it is missing, so that nothing starts without it."""
    places = [mount.path for mount in sandbox.mounts if mount.way == "write"]
    found = shutil.which(sandbox.engine, path=path_outside(os.environ.get("PATH", os.defpath), places))
    if found is None:
        raise AgentUnavailable(
            f"The sandbox needs {sandbox.engine}, and there is no such program on the PATH. Install it, or "
            "set another sandbox.mode."
        )
    return found


def container_command_line(
    argv: Sequence[str], sandbox: Sandbox, cwd: Path, given: Mapping[str, str], name: str
) -> CommandLine:
    """The command line that runs a command in a new container of this name; `given` adds variables."""
    engine, mounts = find_engine(sandbox), _layered(sandbox)
    binds = [each for each in mounts if each.way != "empty"]
    empties = [each for each in mounts if each.way == "empty"]
    size = sandbox.disk or EMPTY_BYTES
    program, *rest = argv
    if Path(program).is_absolute() and not inside_any(Path(program), [each.path for each in binds]):
        program = Path(program).name  # wherever the image has it
    return CommandLine(
        words=[
            *(engine, "run", "--rm", "--interactive", "--pull", "never", "--name", name),
            *("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *_user(sandbox.engine),
            *(() if sandbox.network else ("--network", "none")),
            *_limits(sandbox),
            *(word for each in empties for word in ("--tmpfs", f"{each.path}:rw,exec,mode=1777,size={size}")),
            *(word for each in binds for word in ("--mount", _bind(each, sandbox))),
            *(word for each in _names(given, sandbox) for word in ("--env", each)),
            *("--workdir", str(cwd), "--entrypoint", program, sandbox.image, *rest),
        ]
    )


def _user(engine: str) -> Iterator[str]:
    """New files belong to the user who started untilgreen."""
    if engine == "podman" and os.getuid() != 0:
        yield from ("--userns", "keep-id")
    yield from ("--user", f"{os.getuid()}:{os.getgid()}")


def _limits(sandbox: Sandbox) -> Iterator[str]:
    if sandbox.memory is not None:
        yield from ("--memory", str(sandbox.memory))
    if sandbox.processes is not None:
        yield from ("--pids-limit", str(sandbox.processes))
    if sandbox.disk is not None:
        yield from ("--ulimit", f"fsize={sandbox.disk}:{sandbox.disk}")


def _layered(sandbox: Sandbox) -> list[Mount]:
    """All mounts, outer before inner; an empty one counts only where something would show otherwise."""
    places = {mount.path: mount for mount in sandbox.mounts if mount.way == "empty" or _is_there(mount)}
    shown = [path for path, mount in places.items() if mount.way != "empty"]
    places = {
        path: mount for path, mount in places.items() if mount.way != "empty" or inside_any(path, shown)
    }
    for path in list(places):
        for way in between(path, places):
            places.setdefault(way, Mount(path=way, way="write"))
    home = os.path.expanduser("~")  # noqa: PTH111 - a missing home is no error here
    empty = [Path(place) for place in (*EMPTY, home) if place.startswith("/") and len(Path(place).parts) > 1]
    return sorted(
        ({path: Mount(path=path, way="empty") for path in empty} | places).values(),
        key=lambda mount: len(mount.path.parts),
    )


def _is_there(mount: Mount) -> bool:
    return os.path.lexists(mount.source or mount.path)


def _bind(mount: Mount, sandbox: Sandbox) -> str:
    source = mount.source or resolved(mount.path, reachable(sandbox))
    if "," in f"{source}{mount.path}":
        raise AgentUnavailable(
            f"A container can't show {str(mount.path)!r}, since its path has a comma. Rename it."
        )
    fixed = "" if mount.way == "write" else ",readonly"
    return f"type=bind,source={source},target={mount.path}{fixed}"


def _names(given: Mapping[str, str], sandbox: Sandbox) -> Iterable[str]:
    """Names alone: the engine takes the values from its own environment."""
    patterns = (*LET_IN, *sandbox.env)
    passed = {name for name in os.environ if any(fnmatch.fnmatchcase(name, each) for each in patterns)}
    return sorted((passed | set(given)) - OF_THE_IMAGE)
