"""fingerprint: what is seen in the output of a tool, to try it out or to compare two outputs."""

from __future__ import annotations

import io
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.core.fingerprint import fingerprint as of_text
from untilgreen.errors import UserError
from untilgreen.gates.recognise import located, recognise
from untilgreen.gates.reports import FORMATS, MOST_BYTES
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import Seen
from untilgreen.gates.text import plain
from untilgreen.surfaces.cli.say import out, out_json
from untilgreen.surfaces.output import FingerprintLine
from untilgreen.surfaces.text import inert, short

_STDIN = "-"
_WIDTH = 100


def fingerprint(
    *files: Annotated[str, Parameter(allow_leading_hyphen=True)],
    json: Annotated[bool, Parameter(name="--json", help="Print one JSON line for each file.")] = False,
) -> int:
    """Show what is seen in outputs and reports of tools: which tool, which complaints, one fingerprint.

    Two outputs with the same fingerprint tell of the same failures.

    Parameters
    ----------
    files
        Files with the output of a tool, or its report; `-` is stdin.
    """
    if not files:
        raise UserError("There is no file to look at. Name one, or `-` for stdin.")
    for file, data in [(file, _data(file)) for file in files]:
        text = data.decode("utf-8", "replace")
        seen = _reported(file, data) or recognise(text)
        _show(file, seen, text, json=json)
    return 0


def _data(file: str) -> bytes:
    if file.startswith("-") and file != _STDIN:
        raise UserError(f"{file} is no option here. Use --json, or ./{file} for a file of that name.")
    try:
        if file == _STDIN:
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"{file} can't be read ({reason}). Name a file with the output of a tool.") from error
    if len(data) > MOST_BYTES:
        raise UserError(f"{file} is larger than {MOST_BYTES // 1_000_000} MB. Name a smaller part of it.")
    return data


def _reported(file: str, data: bytes) -> Seen | None:
    """What a report says; a file that only has the name of one is output like any other."""
    read = FORMATS.get(Path(file).suffix)
    try:
        return read(io.BytesIO(data), str) if read is not None else None
    except Unusable:
        return None


def _show(file: str, seen: Seen | None, text: str, *, json: bool) -> None:
    tool = seen.tool if seen is not None and seen.tool != located.TOOL else None
    findings = seen.findings if seen is not None else ()
    mark = _mark([finding.id for finding in findings]) if findings else of_text(plain(text))
    if json:
        out_json(FingerprintLine(file=file, tool=tool, fingerprint=mark, findings=findings))
        return
    counted = f", {seen.passed} of {seen.total} tests passed" if seen is not None and seen.total else ""
    word = "finding" if len(findings) == 1 else "findings"
    out(f"{inert(file)}  {tool or 'no known tool'}  {mark or '-'}  {len(findings)} {word}{counted}")
    for finding in findings:
        said = short(finding.message, _WIDTH)
        out(f"  {inert(finding.id)}" + (f"\n    {said}" if said else ""))


def _mark(ids: list[str]) -> str:
    """One value for a set of complaints, whatever their order."""
    said = "\n".join(sorted(ids))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
