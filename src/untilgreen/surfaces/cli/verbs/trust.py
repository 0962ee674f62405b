"""trust, and the question that is asked before a repository's spec runs anything."""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.config.load import Loaded
from untilgreen.config.trust_request import trust_request_of
from untilgreen.core.exit_codes import OK
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.wiring.objects import Objects
from untilgreen.engine.wiring.plan import check_installed
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.confirm import can_ask, yes
from untilgreen.surfaces.cli.options import HERE, Json, LocalPlace, SpecFlags
from untilgreen.surfaces.text.printing import out, out_json, tell, version_line
from untilgreen.surfaces.text.safe_text import inert, inert_lines


def allow(
    loaded: Loaded,
    place: LocalPlace,
    spec: SpecFlags,
    *,
    trust: bool = False,
    no_input: bool = False,
    objects: Objects | None = None,
) -> None:
    """Ask before an untrusted spec file runs anything; its names and options are checked first."""
    check_installed(loaded, objects)
    book = TrustBook(place.store())
    try:
        book.require(loaded)
    except Untrusted as unknown:
        if trust:
            refuse_agents("… --trust", place.store().state_dir)
        elif no_input or not can_ask():
            raise UserError(f"{unknown}\n{_shown(unknown)}\n{_way_out(place, spec)}") from unknown
        else:
            _ask(unknown, place, spec)
        book.remember(unknown.request, time.time())


def trust(
    *,
    place: LocalPlace = HERE,
    config: Annotated[
        Path | None, Parameter(name=["--config", "-c"], metavar="FILE", help="The spec file.")
    ] = None,
    list_: Annotated[bool, Parameter(name="--list", help="List the trusted specs.")] = False,
    revoke: Annotated[bool, Parameter(help="Stop trusting this spec.")] = False,
    yes_: Annotated[bool, Parameter(name=["--yes", "-y"], help="Don't ask.")] = False,
    json: Json = False,
) -> int:
    """Review and trust what a repository's spec would run.

    Before a spec file, or a plugin file that it names, runs anything, untilgreen asks once, and again when
    the file has changed. What you write on the command line needs no trust.
    """
    book = TrustBook(place.store())
    if list_:
        return _list(book, json=json)
    if json:
        raise UserError("--json needs --list. Add --list, or remove --json.")
    refuse_agents("trust", place.store().state_dir)
    flags = SpecFlags(config=config)
    loaded = flags.load(place.start, None, taskless=True)
    if loaded.path is None:
        raise UserError(f"There is no spec in {place.start}. Write one with `untilgreen init`.")
    if revoke:
        known = book.revoke(str(loaded.path))
        out(f"{inert(str(loaded.path))} {'is no longer' if known else 'was not'} trusted.")
        return OK
    check_installed(loaded)
    try:
        book.require(loaded)
    except Untrusted as unknown:
        if not yes_:
            if not can_ask():
                way_out = _way_out(place, flags, unasked="--yes")
                raise UserError(f"{unknown}\n{_shown(unknown)}\n{way_out}") from unknown
            _ask(unknown, place, flags)
        book.remember(unknown.request, time.time())
    runs = trust_request_of(loaded) is not None
    out(
        f"{inert(str(loaded.path))} "
        + ("is trusted." if runs else "runs no command and grants no permission, so it needs no trust.")
    )
    return OK


def _ask(unknown: Untrusted, place: LocalPlace, spec: SpecFlags) -> None:
    refuse_agents("trust", place.store().state_dir)
    what = "has changed since you trusted it" if unknown.before else "is not trusted yet"
    tell(f"{inert(unknown.request.path)} {what}.")
    tell(_shown(unknown))
    if not yes("Trust it?"):
        raise UserError(f"Nothing was run. {_way_out(place, spec)}")


def _shown(unknown: Untrusted) -> str:
    mark = unknown.before is not None
    lines = ["It would run these, or pass them to the agent:"]
    for line in unknown.request.lines:
        first, *rest = inert_lines(line).strip().splitlines() or [""]
        new = mark and line in unknown.news
        lines += [f"  {'* ' if new else '  ' if mark else ''}{first}", *(f"      {each}" for each in rest)]
    if mark and unknown.news:
        lines.append("  (* is new)")
    return "\n".join(lines)


def _way_out(place: LocalPlace, spec: SpecFlags, *, unasked: str = "--trust") -> str:
    where = f" -C {shlex.quote(str(place.directory))}" if str(place.directory) != "." else ""
    file = f" -c {shlex.quote(str(spec.config))}" if spec.config else ""
    return f"Review it, then run: untilgreen trust{where}{file}{place.flags}  (in scripts: add {unasked})"


def _list(book: TrustBook, *, json: bool) -> int:
    from untilgreen.surfaces.json.lines import TrustedLine

    if json:
        version_line()
    entries = list(book.entries())
    for entry in entries:
        if json:
            out_json(TrustedLine(path=entry.path, digest=entry.digest, at=entry.at))
        else:
            day = datetime.fromtimestamp(entry.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
            out(f"{day}  {inert(entry.path)}")
    if not entries and not json:
        out("No spec is trusted yet.")
    return OK
