"""JSON Schema, checked by an optional library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from untilgreen.errors import UserError
from untilgreen.gates.levels.work_files import content

MOST = 20


def against_schema(value: Any, path: Path) -> list[str]:
    """How the value breaks the schema in that file, sorted by place.

    A reference to another address is not followed: the agent may have written the schema.
    """
    try:
        import jsonschema  # noqa: PLC0415 - an extra
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415 - the same; has no types
        from referencing.exceptions import Unresolvable  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UserError(
            "`json_schema` needs the package jsonschema. Install it with: pip install 'untilgreen[schema]'"
        ) from error
    try:
        schema = msgspec.json.decode(content(path))
        kind = jsonschema.validators.validator_for(schema)
        kind.check_schema(schema)
        errors = list(kind(schema, registry=REGISTRY).iter_errors(value))
    except (msgspec.DecodeError, jsonschema.SchemaError, Unresolvable) as error:
        return [f"the schema can't be used: {str(error).splitlines()[0]}"]
    errors.sort(key=lambda error: list(map(str, error.absolute_path)))
    return [
        f"{'.'.join(map(str, error.absolute_path)) or 'the whole'}: {error.message}"
        for error in errors[:MOST]
    ]
