"""schema: what programs may rely on, as JSON Schema."""

from __future__ import annotations

import sys
from typing import Annotated

import msgspec
from cyclopts import Parameter

from untilgreen.errors import UserError, nearest
from untilgreen.surfaces.cli import completers
from untilgreen.surfaces.json_schemas import SCHEMAS, schema_of
from untilgreen.surfaces.text import streams


def schema(
    name: Annotated[
        str,
        Parameter(
            completer=completers.schemas,
            help="spec (untilgreen.toml), events (the journal), output (every line of --json, and "
            "what the tools of MCP answer), result (`show --json`, and the last line "
            "of `run --json`), report (`report --format json`) "
            "or openapi (the HTTP API of `serve`).",
        ),
    ] = "spec",
    /,
) -> int:
    """Print a JSON Schema, for editors and programs."""
    if name not in SCHEMAS:
        raise UserError(f"There is no schema {name!r}. {nearest(name, SCHEMAS)}")
    text = msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2)
    streams.write_bytes(sys.stdout, text + b"\n")
    return 0
