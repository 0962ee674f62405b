"""Builds the bubblewrap command line: what is mounted how, and which variables are passed on.

Everything is read-only except what the sandbox names. The home directory, the directories for temporary
files and those where services keep their sockets are empty. There are no capabilities and no other processes.

Anything below a directory that agents can write is mounted by descriptor, so that no link can be slipped in;
and each directory on the way to it is a mount too, so that nobody inside can move it away.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Mount, Sandbox
from untilgreen.process.sandbox.hidden_paths import (
    inside_any,
    kernel_settings,
    listening_sockets,
    opened,
    private_to_root,
    resolved,
)

PROGRAM = "bwrap"
INSTALL = "apt install bubblewrap"
TMP = Path("/tmp")
EMPTY_BYTES = 4_000_000_000
"""How much each empty directory may hold, unless the spec sets a limit."""
LET_IN = (
    *(
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "PWD",
        "TZ",
        "TERM",
        "COLORTERM",
        "LANG",
        "LANGUAGE",
        "LC_*",
    ),
    *("CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR*", "COLUMNS", "LINES", "SOURCE_DATE_EPOCH", "MAKEFLAGS"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *(
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    ),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHON*", "PYENV_*", "NODE_PATH", "NODE_ENV", "NVM_*", "VOLTA_HOME"),
    *(
        "CARGO_HOME",
        "RUSTUP_HOME",
        "RUSTFLAGS",
        "RUST_BACKTRACE",
        "GOPATH",
        "GOROOT",
        "GOFLAGS",
        "GOMODCACHE",
    ),
    *("JAVA_HOME", "MAVEN_OPTS", "GEM_HOME", "GEM_PATH", "RBENV_*", "ASDF_*", "MISE_*", "DOTNET_ROOT"),
    *("IS_SANDBOX", "UNTILGREEN_TREE", "UNTILGREEN_INSIDE"),
)
"""Variables passed into every sandbox: what programs need to be found and to print, but no keys."""
TOOLS = (
    *(".local/bin", ".local/lib", ".local/share/uv", ".local/share/pipx", ".local/share/mise", "bin"),
    *(".local/share/claude", ".local/share/fnm", ".local/share/pnpm", ".nvm", ".volta", ".fnm", ".bun/bin"),
    *(".pyenv", ".rbenv", ".rvm", ".asdf", ".sdkman/candidates", ".rustup", ".cargo/bin", ".cargo/registry"),
    *(
        ".cargo/git",
        ".cargo/config.toml",
        ".deno/bin",
        "go",
        ".m2/repository",
        ".gradle/caches",
        ".npm-global",
        ".linuxbrew",
    ),
    *("miniconda3", "anaconda3", "miniforge3", ".dotnet", ".opam", ".ghcup", ".juliaup", ".elan"),
    *(".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"),
)
"""What every sandbox can read in the home directory, if present: programs, and the settings of git."""
_SERVICES = ("/run", "/var/run", "/var/lib/docker", "/var/lib/incus", "/var/lib/lxd", "/var/snap/lxd")
"""Hidden, since a service works outside the sandbox, and connecting to its socket needs no write access."""
_OF_RUN = ("/run/current-system", "/run/wrappers", "/run/booted-system")
_SIBLINGS = ("lib", "lib64", "libexec", "include", "pyvenv.cfg")
_NOBODY = "65534"
_NOTHING = Path(os.devnull)


def inherited(environ: Mapping[str, str], sandbox: Sandbox) -> dict[str, str]:
    """The variables of ours that a sandbox passes on."""
    patterns = (*LET_IN, *sandbox.env)
    found = {name: value for name, value in environ.items() if _matches(name, patterns)}
    return {**found, "TMPDIR": str(TMP)}


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class CommandLine(Struct, frozen=True, kw_only=True):
    """What to start, and the descriptors that it mounts by number; the caller closes them."""

    words: list[str]
    descriptors: tuple[int, ...] = ()

    def close(self) -> None:
        """Close our copies of the descriptors."""
        for descriptor in self.descriptors:
            os.close(descriptor)


def bwrap_command_line(
    argv: Sequence[str], sandbox: Sandbox, cwd: Path, env: Mapping[str, str], room: Path | None = None
) -> CommandLine:
    """The command line that runs a command in the sandbox; `env` is its environment.

    `room` is the path where a room replaces the workspace; it is a copy, so mounts deep in it are left out.
    """
    program = find_bwrap(sandbox)
    mounts = [each for each in _layered(sandbox, argv[0], cwd, env) if not _deep_in(each, room)]
    words, descriptors = _mounted(mounts, sandbox, room)
    return CommandLine(
        words=[
            program,
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if sandbox.network else ("--unshare-net",)),
            *(("--uid", _NOBODY, "--gid", _NOBODY) if os.getuid() == 0 else ()),
            *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *(word for path in _kernel() for word in ("--ro-bind", path, path)),
            *words,
            *_masked_sockets(mounts),
            *("--chdir", str(cwd), "--"),
            *_limited(argv, sandbox),
        ],
        descriptors=descriptors,
    )


def _limited(argv: Sequence[str], sandbox: Sandbox) -> list[str]:
    """Set limits inside, where only the sandbox's own processes count; no process can raise them again."""
    limits = []
    if sandbox.memory is not None:
        limits.append(f"ulimit -d {max(1, sandbox.memory // 1024)}")
    if sandbox.disk is not None:  # in units of 512 bytes, as POSIX says
        limits.append(f"ulimit -f {max(1, sandbox.disk // 512)}")
    if sandbox.processes is not None:  # bash says -u, dash and busybox say -p
        limits.append(f"{{ ulimit -u {sandbox.processes} || ulimit -p {sandbox.processes}; }} 2>/dev/null")
    if not limits:
        return list(argv)
    return ["/bin/sh", "-c", f'{" && ".join(limits)} && exec "$@"', "untilgreen", *argv]


def path_outside(search: str, places: Iterable[Path]) -> str:
    """The folders of a PATH that are in none of these places.

    An activated environment in the workspace is on the PATH, but what an agent puts there is not our program.
    """
    theirs = [os.path.realpath(place) for place in places]
    folders = [each for each in search.split(os.pathsep) if Path(each).is_absolute()]
    return os.pathsep.join(
        folder
        for folder in folders
        if not any(_lies_in(way, place) for way in (folder, os.path.realpath(folder)) for place in theirs)
    )


def work_tree_top(place: Path) -> Path:
    """The nearest directory around a place that has a `.git`, or the place itself."""
    return next((each for each in (place, *place.parents) if os.path.lexists(each / ".git")), place)


def _lies_in(path: str, place: str) -> bool:
    return os.path.normpath(path) == place or os.path.normpath(path).startswith(place.rstrip("/") + "/")


def find_bwrap(sandbox: Sandbox) -> str:
    """The path of bubblewrap; raises if it is missing, so that nothing starts without it."""
    if sys.platform != "linux":
        raise AgentUnavailable(
            "The sandbox 'bwrap' works on Linux only. Run untilgreen in a Linux virtual machine or container."
        )
    places = [mount.path for mount in sandbox.mounts if mount.way == "write"]
    program = shutil.which(PROGRAM, path=path_outside(os.environ.get("PATH", os.defpath), places))
    if program is None:
        raise AgentUnavailable(
            f"The sandbox needs bubblewrap, and there is no program {PROGRAM!r}. Install it with `{INSTALL}`."
        )
    return program


def homes() -> list[Path]:
    """The home directories that HOME and the user database name; `/` does not count."""
    import pwd  # noqa: PLC0415 - not there on Windows

    named = [os.path.expanduser("~")]  # noqa: PTH111 - a missing home is no error here
    with suppress(KeyError):
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    real = dict.fromkeys(Path(os.path.realpath(each)) for each in named if each.startswith("/"))
    return [each for each in real if each != Path("/") and each.is_dir()]


def _layered(sandbox: Sandbox, program: str, cwd: Path, env: Mapping[str, str]) -> list[Mount]:
    """All mounts, outer ones before inner ones."""
    places = {mount.path: mount for mount in (*_usual(), *sandbox.mounts)}
    for path in _programs(program, cwd, env, reachable(sandbox)):
        around = next((places[each] for each in path.parents if each in places), None)
        if path not in places and around is not None and around.way == "empty":
            places[path] = Mount(path=path, way="read")
    for path in list(places):
        for way in between(path, places):
            places.setdefault(way, Mount(path=way, way="write"))
    return sorted(places.values(), key=lambda mount: len(mount.path.parts))


def between(path: Path, places: Mapping[Path, Mount]) -> Sequence[Path]:
    """The directories between a writable place and a mount in it; mounted too, so none can be moved away."""
    around = next((each for each in path.parents if each in places), None)
    if around is None or places[around].way != "write" or not os.path.lexists(path):
        return ()
    return [each for each in path.parents if around in each.parents]


def _usual() -> Iterator[Mount]:
    """What every sandbox hides, and the exceptions that it still shows."""
    for place in dict.fromkeys(os.path.realpath(each) for each in (TMP, "/var/tmp", *_SERVICES)):
        if os.path.isdir(place):  # noqa: PTH112 - a string as it comes
            yield Mount(path=Path(place), way="empty")
    resolver = Path(os.path.realpath("/etc/resolv.conf")).parent
    if Path("/run") in resolver.parents:
        yield Mount(path=resolver, way="read")
    for place in _OF_RUN:
        yield Mount(path=Path(place), way="read")
    for path, is_directory in private_to_root() if os.getuid() == 0 else ():
        yield Mount(path=Path(path), way="empty" if is_directory else "read", source=_NOTHING)
    for home in homes():
        yield Mount(path=home, way="empty")
        for name in TOOLS:
            yield Mount(path=home / name, way="read")


def _programs(program: str, cwd: Path, env: Mapping[str, str], writable: Sequence[Path]) -> Iterator[Path]:
    """The directories on the PATH, and those beside them that their programs need.

    Places that agents can write are left out: they are visible anyway, and a link there may be an agent's.
    """
    folders = [Path(each) for each in env.get("PATH", os.defpath).split(os.pathsep) if each.startswith("/")]
    folders += [Path(sys.prefix, "bin"), Path(sys.base_prefix, "bin")]
    folders = [each for each in folders if not inside_any(Path(os.path.normpath(each)), writable)]
    folders += [Path(os.path.realpath(folder)) for folder in folders]
    file = Path(os.path.normpath(cwd / program))
    if inside_any(file, writable):
        file = _NOTHING
    if file.is_file():
        folders.append(Path(os.path.realpath(file)).parent)
    for folder in dict.fromkeys(folders):
        yield folder
        if folder.parts[-2:] == ("node_modules", ".bin"):
            yield folder.parent
        yield from (folder.parent / name for name in _SIBLINGS)
    if file.is_file():  # last: if its folder is shown, so is the file, and a link can't be a mount point
        yield file


def _deep_in(mount: Mount, room: Path | None) -> bool:
    return room is not None and mount.way != "empty" and room in mount.path.parents[1:]


def _mounted(
    mounts: Sequence[Mount], sandbox: Sandbox, room: Path | None
) -> tuple[list[str], tuple[int, ...]]:
    """The options for all mounts, with the descriptors that they name."""
    words: list[str] = []
    descriptors: list[int] = []
    theirs = [Path(os.path.realpath(each)) for each in reachable(sandbox)]
    try:
        for mount in mounts:
            if mount.way == "empty":
                words += ["--size", str(sandbox.disk or EMPTY_BYTES), "--tmpfs", str(mount.path)]
                continue
            source = mount.source or resolved(mount.path, theirs)
            if not source.exists():
                continue
            option = "--bind" if mount.way == "write" else "--ro-bind"
            in_room = room is not None and room in source.parents
            reached = any(place in source.parents for place in theirs) and not in_room
            if reached and _by_descriptor(find_bwrap(sandbox)):
                descriptors.append(opened(source))
                words += [f"{option}-fd", str(descriptors[-1]), str(mount.path)]
            else:
                words += [f"{option}-try" if in_room else option, str(source), str(mount.path)]
    except BaseException:
        CommandLine(words=[], descriptors=tuple(descriptors)).close()
        raise
    return words, tuple(descriptors)


@cache
def _by_descriptor(program: str) -> bool:
    """Whether this bubblewrap can mount by descriptor; versions from before August 2024 can't."""
    try:
        return b"--ro-bind-fd" in Path(program).read_bytes()
    except OSError:
        return False


def reachable(sandbox: Sandbox) -> list[Path]:
    """Places where agents of this run may have written, read-only ones too: a judge only reads their work."""
    return [mount.path for mount in sandbox.mounts if mount.way != "empty" and mount.source is None]


def _kernel() -> tuple[str, ...]:
    return kernel_settings() if os.getuid() == 0 else ()


def _masked_sockets(mounts: Sequence[Mount]) -> Iterator[str]:
    """The options that hide sockets of services, where the sandbox would show them."""
    ways = {mount.path: mount.way for mount in mounts}
    for path in listening_sockets():
        way = next((ways[each] for each in (path, *path.parents) if each in ways), "read")
        if way == "read":
            yield from ("--ro-bind", os.devnull, str(path))
