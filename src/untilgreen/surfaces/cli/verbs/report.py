"""report: write a report on a run."""

from __future__ import annotations

import sys
import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
import msgspec
from cyclopts import Parameter

from untilgreen.engine.worktree.snapshots import workspace_of
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.report.gathering import report_on
from untilgreen.surfaces.text import streams
from untilgreen.surfaces.text.printing import tell

Format = Literal["md", "markdown", "html", "json", "junit"]
_ENDINGS: dict[str, Format] = {".md": "md", ".html": "html", ".htm": "html", ".json": "json", ".xml": "junit"}

_SUFFIX = {"md": ".md", "markdown": ".md", "html": ".html", "json": ".json", "junit": ".xml"}


def report(
    run: Run = "@last",
    /,
    *,
    format_: Annotated[
        Format | None,
        Parameter(
            name="--format",
            metavar="FORMAT",
            help="The format; by default as the name of --output ends, else md.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(
            name=["--output", "-o"],
            metavar="FILE",
            allow_leading_hyphen=True,
            help="Write to this file; - is stdout (default: stdout, for html a file).",
        ),
    ] = None,
    open_: Annotated[bool, Parameter(name="--open", help="Open the report when it is written.")] = False,
    place: Place = HERE,
) -> int:
    """Write a report on a run: Markdown, HTML, JSON or JUnit.

    It has the gates by lap, progress and cost, why the run ended, and what it changed. The HTML report is one
    file that needs no network and runs no script.
    """
    folder = place.find(run)
    form = format_ or _ENDINGS.get(output.suffix.lower() if output else "", "html" if open_ else "md")
    if output is None and (form == "html" or open_):
        output = Path(f"untilgreen-{folder.id}{_SUFFIX[form]}")

    async def look() -> Report:
        run = await folder.load()
        opened = partial(workspace_of, run.state, folder.scratch)
        return await report_on(opened, run.state, run.head, flags=place.flags)

    text = written(anyio.run(look), form)
    if output is None or str(output) == "-":
        streams.write_bytes(sys.stdout, text.encode("utf-8", "replace"))
        return 0
    _put(output, text)
    tell(f"Wrote {output}")
    if open_:
        address = output.expanduser().absolute().as_uri()
        if not webbrowser.open(address):
            tell(f"No browser can be opened from here. The report's address is {address}")
    return 0


def written(found: Report, form: Format) -> str:
    """The report in one of its forms."""
    match form:
        case "html":
            from untilgreen.surfaces.report import html

            return html.page(found)
        case "json":
            return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
        case "junit":
            from untilgreen.surfaces.report import junit

            return junit.document(found)
        case "md" | "markdown":
            from untilgreen.surfaces.report import markdown

            return markdown.document(found)


def _put(output: Path, text: str) -> None:
    try:
        output.expanduser().write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UserError(
            f"The report can't be written to {str(output)!r}: {error.strerror}. "
            "Name another file with --output."
        ) from error
