"""report: the verb that writes a run down for others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import anyio
import msgspec
from cyclopts import Parameter

from untilgreen.engine.told import told
from untilgreen.errors import UserError
from untilgreen.surfaces import streams
from untilgreen.surfaces.cli.options import HERE, Place, Run
from untilgreen.surfaces.cli.say import tell
from untilgreen.surfaces.report.content import Report
from untilgreen.surfaces.report.gathering import report_on

Format = Literal["md", "html", "json", "junit"]
_ENDINGS: dict[str, Format] = {".md": "md", ".html": "html", ".htm": "html", ".json": "json", ".xml": "junit"}


def report(
    run: Run = "@last",
    /,
    *,
    format_: Annotated[
        Format | None,
        Parameter(
            name="--format", help="md, html, json or junit. Default: what --output ends with, else md."
        ),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="Write it to this file, not to stdout.")
    ] = None,
    place: Place = HERE,
) -> int:
    """Write a run down for others: the gates by lap, progress and cost, why it ended, and what it changed.

    The HTML report is one file that needs no network and runs no script.

    Parameters
    ----------
    run
        Its id, the beginning of it, or @last.
    """
    folder = place.find(run)
    form = format_ or _ENDINGS.get(output.suffix.lower() if output else "", "md")

    async def look() -> Report:
        return await report_on(folder, *told(folder), flags=place.flags)

    text = written(anyio.run(look), form)
    if output is None:
        streams.write_bytes(sys.stdout, text.encode("utf-8", "replace"))
        return 0
    _put(output, text)
    tell(f"The report on run {folder.id} is in {output}.")
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
        case "md":
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
