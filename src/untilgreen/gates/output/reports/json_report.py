"""Reports in JSON: CTRF and SARIF share a file extension, so the content decides."""

from __future__ import annotations

from typing import BinaryIO, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from untilgreen.gates.output.plain_text import MakeRelative
from untilgreen.gates.output.reports import ctrf, sarif
from untilgreen.gates.output.tool_result import BadReport, ToolResult

Shape = TypeVar("Shape")
_BOM = b"\xef\xbb\xbf"


class _Head(Struct, frozen=True):
    """Enough to tell one format from the other."""

    results: Raw = Raw()
    runs: Raw = Raw()


def read(file: BinaryIO, make_relative: MakeRelative = str) -> ToolResult:
    """The findings of one file; raises BadReport for anything but whole CTRF or SARIF."""
    data = file.read().removeprefix(_BOM)
    head = _decoded(data, _Head)
    if bytes(head.runs):
        return sarif.seen(_decoded(data, sarif.Log), make_relative)
    if bytes(head.results):
        return ctrf.seen(_decoded(data, ctrf.Document), make_relative)
    raise BadReport("is neither CTRF nor SARIF: it has no `results` and no `runs`. Correct its name.")


def read_sarif(file: BinaryIO, make_relative: MakeRelative = str) -> ToolResult:
    """The same for a file whose name already says that it is SARIF."""
    return sarif.seen(_decoded(file.read().removeprefix(_BOM), sarif.Log), make_relative)


def _decoded(data: bytes, shape: type[Shape]) -> Shape:
    try:
        return Decoder(shape).decode(data)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = str(error) or type(error).__name__
        raise BadReport(f"is not complete JSON ({said}). Let the command write all of it.") from error
