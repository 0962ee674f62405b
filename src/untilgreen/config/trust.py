"""What a spec file would have us run or tell an agent, and an identity for exactly that.

Anybody can have written the file of a repository that was just cloned, so a person looks at it once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.config.load import Loaded
from untilgreen.config.parse import PROFILES
from untilgreen.config.schema import GateRules, kinds_of
from untilgreen.plugins import is_place, source_of

_PARTS = ("agent", "agents", "strategy", "detectors", "notify")
_NAMES_A_PLUGIN = ("use", "kind", "agent")
"""Keys of a gate that may name code of the repository."""


class Demand(Struct, frozen=True, kw_only=True):
    """What a person is asked to trust."""

    path: str
    digest: str
    lines: tuple[str, ...]
    """What would be run or told to an agent, one thing a line."""


def demand_of(loaded: Loaded) -> Demand | None:
    """None where no file takes part, or where it runs nothing; what flags say is the user's own."""
    if loaded.path is None:
        return None
    lines = tuple(_lines(loaded.written))
    if not lines:
        return None
    code = sorted({*_code(loaded.written, loaded.base)})
    lines += tuple(f"code: {path}" for path in code)
    files = [*code, *sorted({*_briefs(loaded.written, loaded.base)})]
    return Demand(path=str(loaded.path), digest=_digest(loaded.written, files), lines=lines)


def _digest(values: Mapping[str, Any], files: list[Path]) -> str:
    """Comments and the order of keys are no content; the plugins and templates that are named are."""
    digest = blake2b(json.dumps(values, sort_keys=True, default=str).encode(errors="surrogatepass"))
    for path in files:
        digest.update(b"\0" + str(path).encode(errors="surrogateescape") + b"\0")
        digest.update(blake2b(_content(path)).digest())
    return digest.hexdigest()[:32]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _tables(values: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The file itself and each of its profiles, with what a line about it begins with."""
    yield "", values
    for name, table in values.get(PROFILES, {}).items():
        yield f"profile {name}: ", table


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    for start, table in _tables(values):
        for line in _table_lines(table):
            yield start + line


def _table_lines(table: Mapping[str, Any]) -> Iterator[str]:
    for key in ("task", "task_file"):
        if key in table:
            yield f"{key}: {table[key]}"
    for key in _PARTS:
        for part in _listed(table.get(key, ())):
            if key not in ("strategy", "detectors") or is_place(_name(part)):
                yield f"{key.removesuffix('s')}: {_shown(part)}"
    for name, gate in table.get("gates", {}).items():
        yield f"gate {name}: {_shown_gate(gate)}"
    workspace = table.get("workspace")
    if isinstance(workspace, Mapping) and set(workspace) != {"mode"}:
        yield f"workspace: {_shown(workspace)}"
    if brief := _brief(table):
        yield f"session brief: {brief}"
    sandbox = table.get("sandbox")
    if isinstance(sandbox, Mapping) and set(sandbox) != {"mode"}:
        yield f"sandbox: {_shown(sandbox)}"


def _shown_gate(gate: Mapping[str, Any]) -> str:
    """What is run, as it is written, and whatever else bears on it; when and how often is left out."""
    what = str(gate.get("run", gate.get("use", gate.get("kind", ""))))
    inert = {"run", "use", "kind", "report", "expect", *kinds_of(GateRules)}
    beside = {key: value for key, value in gate.items() if key not in inert}
    if "run" in gate:
        beside |= {key: gate[key] for key in ("use", "kind") if key in gate}
    return what + (f"  with {_shown(beside)}" if beside else "")


def _shown(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)


def _listed(written: Any) -> list[Any]:
    return list(written) if isinstance(written, list | tuple) else [written]


def _name(part: Any) -> str:
    name = part.get("use", "") if isinstance(part, Mapping) else part
    return name if isinstance(name, str) else ""


def _brief(table: Mapping[str, Any]) -> str:
    """The template of what an agent is told inside of its session."""
    session = table.get("session")
    return str(session.get("brief") or "") if isinstance(session, Mapping) else ""


def _briefs(values: Mapping[str, Any], base: Path) -> Iterator[Path]:
    for _, table in _tables(values):
        if brief := _brief(table):
            yield base / brief


def _code(values: Mapping[str, Any], base: Path) -> Iterator[Path]:
    """The files of plugins, in the file itself and in its profiles."""
    for _, table in _tables(values):
        named = [_name(part) for key in _PARTS for part in _listed(table.get(key, ()))]
        for gate in table.get("gates", {}).values():
            named += [_name(gate[key]) for key in _NAMES_A_PLUGIN if key in gate]
        for name in named:
            if (source := source_of(name, base)) is not None:
                yield source
