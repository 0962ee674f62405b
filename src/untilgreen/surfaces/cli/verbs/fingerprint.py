"""fingerprint: which tool and findings are recognized in an output, to try it out or to compare two."""

from __future__ import annotations

import io
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untilgreen.core.values.fingerprint import output_fingerprint
from untilgreen.core.values.signature import signature, signature_of_findings
from untilgreen.errors import UserError
from untilgreen.gates.output.parsers import file_line
from untilgreen.gates.output.plain_text import plain
from untilgreen.gates.output.recognize import recognize
from untilgreen.gates.output.report_files import FORMATS, MOST_BYTES, reader_of
from untilgreen.gates.output.tool_result import BadReport, ToolResult
from untilgreen.surfaces.json.lines import FingerprintLine
from untilgreen.surfaces.text.printing import out, out_json
from untilgreen.surfaces.text.safe_text import inert, short

_STDIN = "-"
_WIDTH = 100


def fingerprint(
    *files: Annotated[str, Parameter(allow_leading_hyphen=True)],
    json: Annotated[bool, Parameter(name="--json", help="Print one JSON line per file.")] = False,
) -> int:
    """Show which tool and findings are recognized in an output.

    Two outputs with the same fingerprint report the same failures.

    Parameters
    ----------
    files
        Files with the output or the report of a tool; - is stdin.
    """
    if not files:
        raise UserError("No file was given. Name one, or - for stdin.")
    for file, data in [(file, _data(file)) for file in files]:
        text = data.decode("utf-8", "replace")
        seen = _reported(file, data) or recognize(text)
        _show(file, seen, text, json=json)
    return 0


def _data(file: str) -> bytes:
    if file.startswith("-") and file != _STDIN:
        raise UserError(f"There is no option {file}. Use --json, or ./{file} for a file of that name.")
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


def _reported(file: str, data: bytes) -> ToolResult | None:
    """The findings of a report; a file that only has the name of one is read as plain output."""
    suffix = Path(file).suffix
    try:
        return reader_of(suffix)(io.BytesIO(data), str) if suffix in FORMATS else None
    except BadReport:
        return None


def _show(file: str, seen: ToolResult | None, text: str, *, json: bool) -> None:
    tool = seen.tool if seen is not None and seen.tool != file_line.TOOL else None
    findings = seen.findings if seen is not None else ()
    ids = [finding.id for finding in findings]
    mark = _mark(ids) if findings else output_fingerprint(plain(text))
    name = signature_of_findings(ids) if findings else signature(plain(text))
    if json:
        out_json(FingerprintLine(file=file, tool=tool, signature=name, fingerprint=mark, findings=findings))
        return
    counted = f", {seen.passed} of {seen.total} tests passed" if seen is not None and seen.total else ""
    word = "finding" if len(findings) == 1 else "findings"
    out(f"{inert(file)}  {tool or 'unknown tool'}  {mark or '-'}  {len(findings)} {word}{counted}")
    if name:
        out(f"  signature: {inert(name)}")
    for finding in findings:
        said = short(finding.message, _WIDTH)
        out(f"  {inert(finding.id)}" + (f"\n    {said}" if said else ""))


def _mark(ids: list[str]) -> str:
    """One value for a set of findings, in any order."""
    said = "\n".join(sorted(ids))
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
