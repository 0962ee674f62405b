"""`untilgreen serve` as a command; plain flags are read without the command line's parser.

The parser takes longer than everything else until the server listens. What is not plain here (`--help`, a
misspelled flag, a value that is not a number) is left to the parser, which has the messages.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.errors import UserError

PORT = 7878
MOST_RUNS = 4
USAGE, INTERRUPTED = 2, 130


class Settings(Struct, frozen=True, kw_only=True):
    """The flags of `untilgreen serve`; a field has the name of its flag, and a boolean takes no value."""

    port: int = PORT
    host: str = "127.0.0.1"
    allow_host: tuple[str, ...] = ()
    root: tuple[Path, ...] = ()
    yolo: bool = False
    sandboxed: bool = False
    max_runs: int = MOST_RUNS
    read_only: bool = False
    proxy: Path | None = None
    open: bool = False
    fleet: bool | None = None
    """Whether to show the fleet; by default, if this environment names one."""
    state_dir: Path | None = None


_KINDS: dict[str, Any] = {"port": int, "max_runs": int, "root": Path, "proxy": Path, "state_dir": Path}
_REPEATED = ("allow_host", "root")
_SWITCHES = ("yolo", "sandboxed", "read_only", "open", "fleet")


def quick(words: list[str]) -> int | None:
    """Serve with these arguments; None leaves them to the parser."""
    settings = plain(words)
    if settings is None:
        return None
    from untilgreen.surfaces.text.printing import forgiving_streams, print_problem

    with forgiving_streams():
        try:
            return run(settings)
        except UserError as error:
            print_problem(str(error))
            return USAGE
        except KeyboardInterrupt:
            print_problem("interrupted")
            return INTERRUPTED


def plain(words: list[str]) -> Settings | None:
    """The settings that these words spell; None if a word is not a plain flag or its value."""
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        field = name.replace("-", "_")
        if not word.startswith("--") or field not in Settings.__struct_fields__ or "_" in name:
            return None
        if field in _SWITCHES:
            if equals:
                return None
            found[field] = True
            continue
        text = value if equals else next(rest, "")
        if not text or text.startswith("-"):
            return None
        try:
            given = _KINDS.get(field, str)(text)
        except ValueError:
            return None
        if field not in _REPEATED and field in found:
            return None
        found[field] = (*found.get(field, ()), given) if field in _REPEATED else given
    return Settings(**found)


def run(settings: Settings) -> int:
    """Serve until a signal ends it."""
    from untilgreen.state_dir import state_dir
    from untilgreen.surfaces.cli.caller import me, refuse_agents
    from untilgreen.surfaces.text.printing import tell

    folder = (settings.state_dir or Path(state_dir())).absolute()
    refuse_agents("serve", folder)
    try:
        import anyio

        from untilgreen.surfaces.web.handlers.call import StartLimits
        from untilgreen.surfaces.web.people import read_proxy
        from untilgreen.surfaces.web.server import Options, check_host, serve
    except ModuleNotFoundError as error:
        raise UserError(
            f"`untilgreen serve` needs {error.name}. Install it with: pip install 'untilgreen[web]'"
        ) from error
    limits = StartLimits(
        roots=tuple(each.expanduser().resolve() for each in settings.root),
        permissions="all" if settings.yolo else "gates",
        sandboxed=settings.sandboxed,
        most_runs=settings.max_runs,
    )
    options = Options(
        host=settings.host,
        port=settings.port,
        names=settings.allow_host,
        read_only=settings.read_only,
        start=limits,
        proxy=read_proxy(settings.proxy.expanduser()) if settings.proxy else None,
        fleet=_fleet(settings),
    )
    check_host(options)
    try:
        anyio.run(serve, folder, me(), options, partial(_ready, settings.open))
    except KeyboardInterrupt:  # how people end a server
        tell("The server has ended; its runs continue.")
        return INTERRUPTED
    return 0


def _fleet(settings: Settings) -> str:
    """The database of the fleet to show; none if nobody asked for one."""
    if settings.fleet:
        from untilgreen.surfaces.cli.fleet_runs import fleet_url

        return fleet_url()
    return "" if settings.fleet is False else os.environ.get("UNTILGREEN_FLEET", "")


def _ready(open_: bool, address: str) -> None:
    from untilgreen.surfaces.text.printing import out, tell

    out(address)
    tell("Open this address in a browser. It contains your token: don't share it. Ctrl-C ends the server.")
    if open_:
        import webbrowser

        webbrowser.open(address)
