"""serve: the verb for the page and the API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.surfaces.cli.options import HERE, FleetPlace
from untilgreen.surfaces.cli.quick_serve import MOST_RUNS, PORT, Settings, run


def serve(
    *,
    place: FleetPlace = HERE,
    port: Annotated[
        int, Parameter(metavar="PORT", help=f"Port to listen on (default: {PORT}); 0 takes a free one.")
    ] = PORT,
    host: Annotated[
        str, Parameter(metavar="ADDRESS", help="Address to listen on (default: 127.0.0.1).")
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        Parameter(
            name="--allow-host",
            metavar="NAME",
            help="Another NAME or NAME:PORT that browsers may use, for a proxy in front. Repeat for more.",
            negative=(),
        ),
    ] = None,
    root: Annotated[
        list[Path] | None,
        Parameter(
            metavar="DIR",
            help="Allow starting runs in this directory and below. Repeat for more.",
            negative=(),
        ),
    ] = None,
    yolo: Annotated[bool, Parameter(help="Allow those runs to do everything without asking.")] = False,
    sandboxed: Annotated[bool, Parameter(help="Start runs only in a sandbox.")] = False,
    max_runs: Annotated[int, Parameter(metavar="N", help="Runs at a time (default: 4).")] = MOST_RUNS,
    read_only: Annotated[bool, Parameter(name="--read-only", help="Only show runs; change nothing.")] = False,
    proxy: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="Trust a reverse proxy to name users, as configured in this file."),
    ] = None,
    open_: Annotated[bool, Parameter(name="--open", help="Open the page in the browser.")] = False,
) -> int:
    """Serve a page and an HTTP API for all runs, on this machine.

    The address that it prints contains a fresh token; anyone who has it can see and control your runs.

    Needs the extra: pip install 'untilgreen[web]'
    """
    return run(
        Settings(
            port=port,
            host=host,
            allow_host=tuple(allow_host or ()),
            root=tuple(root or ()),
            yolo=yolo,
            sandboxed=sandboxed,
            max_runs=max_runs,
            read_only=read_only,
            proxy=proxy,
            open=open_,
            fleet=place.fleet,
            state_dir=place.state_dir,
        )
    )
