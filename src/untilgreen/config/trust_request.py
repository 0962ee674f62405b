"""What a spec file would make us run or tell an agent, and a digest of exactly that.

Anyone may have written the spec of a repository that was just cloned, so its user approves it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.config.checks.parse import PROFILES
from untilgreen.config.load import Loaded
from untilgreen.config.spec.schema import GateRules, SpecFile
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import NO_SANDBOX
from untilgreen.core.values.option_checks import kinds_of
from untilgreen.core.values.units import duration
from untilgreen.errors import UserError
from untilgreen.plugins.registry import is_place, source_of

_PARTS = ("agent", "agents", "strategy", "detectors", "notify")
_NAMES_A_PLUGIN = ("use", "kind", "agent")
"""Keys of a gate that may name code in the repository."""


_FORGIVING = {"expect", "believe", "allow_skipped", "required"}
"""Keys of a gate that make it green more easily."""
_TIGHTENING = {"protect", "editable"}
"""Integrity rules that can only make verdicts stricter; every other rule is shown, new ones included."""
_LOWERING = {"cost", "tokens", "silence"}
"""Limits without a fixed default: setting one can only lower it."""
_ALONE = SpecFile()


class TrustRequest(Struct, frozen=True, kw_only=True):
    """What the user is asked to trust."""

    path: str
    digest: str
    lines: tuple[str, ...]
    """What would be run or told to an agent, one item per line."""


def trust_request_of(loaded: Loaded) -> TrustRequest | None:
    """None if there is no file, or if it runs nothing and allows nothing more; flags are the user's own."""
    if loaded.path is None:
        return None
    lines = tuple(_lines(loaded.written))
    if not lines:
        return None
    code = sorted({*_code(loaded.written, loaded.base)})
    lines += tuple(f"code: {path}" for path in code)
    files = [*code, *sorted({*_briefs(loaded.written, loaded.base)})]
    return TrustRequest(path=str(loaded.path), digest=_digest(loaded.written, files), lines=lines)


def _digest(values: Mapping[str, Any], files: list[Path]) -> str:
    """Comments and the order of keys do not count; the named plugins and templates do."""
    import json  # noqa: PLC0415 - not needed without a spec file

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
    """The file itself and each of its profiles, with the prefix of their lines."""
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
    yield from _widening(table)


def _widening(table: Mapping[str, Any]) -> Iterator[str]:
    """Keys that run nothing themselves, but allow an agent or a gate more than the defaults."""
    if table.get("permissions", _ALONE.permissions) != _ALONE.permissions:
        yield f"permissions: {table['permissions']}"
    sandbox = table.get("sandbox")
    if isinstance(sandbox, Mapping) and (set(sandbox) != {"mode"} or sandbox["mode"] == NO_SANDBOX):
        yield f"sandbox: {_shown(sandbox)}"
    elif sandbox == NO_SANDBOX:
        yield f"sandbox: {sandbox}"
    for key in ("integrity", "clean_room"):
        rules = table.get(key)
        rules = rules if isinstance(rules, Mapping) else {}
        if {rule for rule, value in rules.items() if (rule, value) != ("enabled", True)} - _TIGHTENING:
            yield f"{key.replace('_', ' ')}: {_shown(rules)}"
    raised = {key: value for key, value in _given_limits(table).items() if _is_raised(key, value)}
    if raised:
        yield f"limits: {_shown(raised)}"


def _given_limits(table: Mapping[str, Any]) -> dict[str, Any]:
    limits = table.get("limits")
    given = dict(limits) if isinstance(limits, Mapping) else {}
    if "max_iterations" in table:
        given["iterations"] = table["max_iterations"]
    return given


def _is_raised(key: str, value: Any) -> bool:
    """Whether a limit is above its default, or can't be compared with it."""
    usual = getattr(Limits(), key, None)
    if usual is None or not isinstance(usual, int | float):
        return key not in _LOWERING
    try:
        return float(duration(value, key) if isinstance(value, str) else value) > usual
    except (TypeError, ValueError, UserError):
        return True


def _shown_gate(gate: Mapping[str, Any]) -> str:
    """What is run, and every option that matters for it; when and how often is left out."""
    what = str(gate.get("run", gate.get("use", gate.get("kind", ""))))
    inert = {"run", "use", "kind", "report", *kinds_of(GateRules)} - _FORGIVING
    beside = {key: value for key, value in gate.items() if key not in inert}
    if "run" in gate:
        beside |= {key: gate[key] for key in ("use", "kind") if key in gate}
    return what + (f"  with {_shown(beside)}" if beside else "")


def _shown(part: Any) -> str:
    import json  # noqa: PLC0415 - as above

    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, default=str)


def _listed(written: Any) -> list[Any]:
    return list(written) if isinstance(written, list | tuple) else [written]


def _name(part: Any) -> str:
    name = part.get("use", "") if isinstance(part, Mapping) else part
    return name if isinstance(name, str) else ""


def _brief(table: Mapping[str, Any]) -> str:
    """The template of briefs in a session."""
    session = table.get("session")
    return str(session.get("brief") or "") if isinstance(session, Mapping) else ""


def _briefs(values: Mapping[str, Any], base: Path) -> Iterator[Path]:
    for _, table in _tables(values):
        if brief := _brief(table):
            yield base / brief


def _code(values: Mapping[str, Any], base: Path) -> Iterator[Path]:
    """The files of plugins that the spec and its profiles name."""
    for _, table in _tables(values):
        named = [_name(part) for key in _PARTS for part in _listed(table.get(key, ()))]
        for gate in table.get("gates", {}).values():
            named += [_name(gate[key]) for key in _NAMES_A_PLUGIN if key in gate]
        for name in named:
            if (source := source_of(name, base)) is not None:
                yield source
