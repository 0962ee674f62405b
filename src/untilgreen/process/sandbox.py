"""The one place that makes a bubblewrap of a sandbox: what is mounted how, and which variables come along.

Everything is read-only but what the walls name. The home directory, the places for temporary files and
those where services have their sockets are empty. Inside there are no capabilities and no other processes;
root is nobody there, or else a sandbox inside of this one could not be made.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Mount, Walls

PROGRAM = "bwrap"
INSTALL = "apt install bubblewrap"
TMP = Path("/tmp")
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
"""Variables that every sandbox lets in: what programs need to be found and to speak, and no keys."""
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
"""What of the home directory can be read in every sandbox, where it is there: programs, and who commits."""
_SERVICES = ("/run", "/var/run", "/var/lib/docker", "/var/lib/incus", "/var/lib/lxd", "/var/snap/lxd")
"""Whoever reaches the socket of a service can let it work outside; connecting needs no writing."""
_OF_RUN = ("/run/current-system", "/run/wrappers", "/run/booted-system")
_SIBLINGS = ("lib", "lib64", "libexec", "include", "pyvenv.cfg")
_NOBODY = "65534"


def inherited(environ: Mapping[str, str], walls: Walls) -> dict[str, str]:
    """Those of our variables that come along."""
    patterns = (*LET_IN, *walls.env)
    found = {name: value for name, value in environ.items() if _matches(name, patterns)}
    return {**found, "TMPDIR": str(TMP)}


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def enclosed(argv: Sequence[str], walls: Walls, cwd: Path, env: Mapping[str, str]) -> list[str]:
    """The command line that runs a command inside of the walls; `env` is what it is started with."""
    program, mounts = found(walls), _layered(walls, argv[0], cwd, env)
    return [
        program,
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(() if walls.network else ("--unshare-net",)),
        *(("--uid", _NOBODY, "--gid", _NOBODY) if os.getuid() == 0 else ()),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(word for mount in mounts for word in _words(mount)),
        *("--chdir", str(cwd), "--"),
        *argv,
    ]


def outside(search: str, places: Iterable[Path]) -> str:
    """The folders of a PATH that lie in none of these places.

    An activated environment of the workspace is on it: what an agent puts there is no program of ours.
    """
    theirs = [os.path.realpath(place) for place in places]
    folders = [each for each in search.split(os.pathsep) if Path(each).is_absolute()]
    return os.pathsep.join(
        folder
        for folder in folders
        if not any(_lies_in(way, place) for way in (folder, os.path.realpath(folder)) for place in theirs)
    )


def top_of(place: Path) -> Path:
    """The directory around a place that has a repository, or else that place."""
    return next((each for each in (place, *place.parents) if os.path.lexists(each / ".git")), place)


def _lies_in(path: str, place: str) -> bool:
    return os.path.normpath(path) == place or os.path.normpath(path).startswith(place.rstrip("/") + "/")


def found(walls: Walls) -> str:
    """Where bubblewrap is; without it nothing is started, and least of all without a sandbox."""
    if sys.platform != "linux":
        raise AgentUnavailable("The sandbox 'bwrap' works on Linux only. Leave it out with --sandbox none.")
    places = [mount.path for mount in walls.mounts if mount.way == "write"]
    program = shutil.which(PROGRAM, path=outside(os.environ.get("PATH", os.defpath), places))
    if program is None:
        raise AgentUnavailable(
            f"The sandbox needs bubblewrap, and there is no program {PROGRAM!r}. Install it with `{INSTALL}`."
        )
    return program


def homes() -> list[Path]:
    """The home directory as the variable names it and as the system does; `/` is nobody's home."""
    import pwd  # noqa: PLC0415 - not there on Windows

    named = [os.path.expanduser("~")]  # noqa: PTH111 - a home that is not there is no error here
    with suppress(KeyError):
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    real = dict.fromkeys(Path(os.path.realpath(each)) for each in named if each.startswith("/"))
    return [each for each in real if each != Path("/") and each.is_dir()]


def _layered(walls: Walls, program: str, cwd: Path, env: Mapping[str, str]) -> list[Mount]:
    """All mounts, the one around another before it."""
    places = {mount.path: mount for mount in (*_usual(), *walls.mounts)}
    for path in _programs(program, cwd, env):
        around = next((places[each] for each in path.parents if each in places), None)
        if path not in places and around is not None and around.way == "empty":
            places[path] = Mount(path=path, way="read")
    return sorted(places.values(), key=lambda mount: len(mount.path.parts))


def _usual() -> Iterator[Mount]:
    """What every sandbox hides, and what it still shows of that."""
    for place in dict.fromkeys(os.path.realpath(each) for each in (TMP, "/var/tmp", *_SERVICES)):
        if os.path.isdir(place):  # noqa: PTH112 - a string as it comes
            yield Mount(path=Path(place), way="empty")
    resolver = Path(os.path.realpath("/etc/resolv.conf")).parent
    if Path("/run") in resolver.parents:
        yield Mount(path=resolver, way="read")
    for place in _OF_RUN:
        yield Mount(path=Path(place), way="read")
    for home in homes():
        yield Mount(path=home, way="empty")
        for name in TOOLS:
            yield Mount(path=home / name, way="read")


def _programs(program: str, cwd: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Where programs are that can be started by name, with what lies beside them and belongs to them."""
    folders = [Path(each) for each in env.get("PATH", os.defpath).split(os.pathsep) if each.startswith("/")]
    folders += [Path(sys.prefix, "bin"), Path(sys.base_prefix, "bin")]
    folders += [Path(os.path.realpath(folder)) for folder in folders]
    file = cwd / program
    if file.is_file():
        folders.append(Path(os.path.realpath(file)).parent)
    for folder in dict.fromkeys(folders):
        yield folder
        if folder.parts[-2:] == ("node_modules", ".bin"):
            yield folder.parent
        yield from (folder.parent / name for name in _SIBLINGS)
    if file.is_file():  # last: where its folder is shown, so is the file, and a link can't be mounted upon
        yield file


def _words(mount: Mount) -> tuple[str, ...]:
    path = str(mount.path)
    if mount.way == "empty":
        return ("--tmpfs", path)
    source = mount.source or Path(os.path.realpath(path))
    if not source.exists():
        return ()
    return ("--bind" if mount.way == "write" else "--ro-bind", str(source), path)
