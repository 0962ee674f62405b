"""JSON Schema, checked by an optional library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from untilgreen.errors import UserError
from untilgreen.gates.levels.work_files import content

MOST = 20


def against_schema(value: Any, path: Path) -> list[str]:
    """How the value breaks the schema in that file, sorted by place."""
    try:
        import jsonschema  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UserError(
            "`json_schema` needs the package jsonschema. Install it with: pip install 'untilgreen[schema]'"
        ) from error
    schema = msgspec.json.decode(content(path))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    errors = sorted(kind(schema).iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    return [
        f"{'.'.join(map(str, error.absolute_path)) or 'the whole'}: {error.message}"
        for error in errors[:MOST]
    ]
