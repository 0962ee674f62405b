"""Reports in JSON: CTRF and SARIF share the end of their names, so what is inside decides."""

from __future__ import annotations

from typing import BinaryIO, TypeVar

from msgspec import DecodeError, Raw, Struct
from msgspec.json import Decoder

from untilgreen.gates.reports import ctrf, sarif
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import Seen
from untilgreen.gates.text import Here

Shape = TypeVar("Shape")
_BOM = b"\xef\xbb\xbf"


class _Head(Struct, frozen=True):
    """Enough to tell one format from the other."""

    results: Raw = Raw()
    runs: Raw = Raw()


def read(file: BinaryIO, here: Here = str) -> Seen:
    """The complaints of one file; raises Unusable for anything but whole CTRF or SARIF."""
    data = file.read().removeprefix(_BOM)
    head = _decoded(data, _Head)
    if bytes(head.runs):
        return sarif.seen(_decoded(data, sarif.Log), here)
    if bytes(head.results):
        return ctrf.seen(_decoded(data, ctrf.Document), here)
    raise Unusable("is neither CTRF nor SARIF: it has no `results` and no `runs`. Correct its name.")


def read_sarif(file: BinaryIO, here: Here = str) -> Seen:
    """The same where the name says already what it is."""
    return sarif.seen(_decoded(file.read().removeprefix(_BOM), sarif.Log), here)


def _decoded(data: bytes, shape: type[Shape]) -> Shape:
    try:
        return Decoder(shape).decode(data)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        said = str(error) or type(error).__name__
        raise Unusable(f"is no whole report in JSON ({said}). Let the command write all of it.") from error
