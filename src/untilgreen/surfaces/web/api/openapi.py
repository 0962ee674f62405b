"""The OpenAPI 3.1 document, made from the table of operations and our own types."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from untilgreen import __version__
from untilgreen.surfaces.web.api.operations import TABLE, Operation
from untilgreen.surfaces.web.api.requests import PROBLEM, Nothing, Problem
from untilgreen.surfaces.web.api.values import ANSWERS

_REFERENCE = "#/components/schemas/{name}"


def document() -> dict[str, Any]:
    """What `untilgreen schema openapi` prints and the server offers."""
    used = {Problem, *(each for op in TABLE for each in (op.body, ANSWERS[op.answer], op.query) if each)}
    types = sorted(used, key=lambda each: str(each.__name__))
    shapes, parts = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    shape = dict(zip(types, shapes, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in TABLE:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _entry(operation, shape, parts)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "untilgreen",
            "version": __version__,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": parts,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _entry(operation: Operation, shape: dict[Any, Any], parts: dict[str, Any]) -> dict[str, Any]:
    problem = {"description": "A problem", "content": {PROBLEM: {"schema": shape[Problem]}}}
    entry: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_in_path(operation), *_in_query(operation, parts)],
        "responses": {
            "200": {
                "description": "Done",
                "content": {
                    media: {"schema": shape[ANSWERS[operation.answer]]}
                    if media == operation.media
                    else {}  # a file in its own format
                    for media in (operation.media, *operation.forms)
                },
            },
            "default": problem,
        },
    }
    if operation.body is not None:
        entry["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": shape[operation.body]}},
        }
        key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}}
        entry["parameters"].append(key)
    return entry


def _in_path(operation: Operation) -> list[dict[str, Any]]:
    kinds = {"lap": {"type": "integer", "minimum": 0}}
    return [
        {"name": name, "in": "path", "required": True, "schema": kinds.get(name, {"type": "string"})}
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]


def _in_query(operation: Operation, parts: dict[str, Any]) -> list[dict[str, Any]]:
    if operation.query is Nothing:
        return []
    schema = parts[operation.query.__name__]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": kind}
        for name, kind in schema["properties"].items()
    ]
