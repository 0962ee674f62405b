"""Files that hold both configuration and product: only the part that belongs to tools is protected."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from untilgreen.config.sources import safe_toml
from untilgreen.regex import regex

if TYPE_CHECKING:  # few repositories have such a file
    from configparser import RawConfigParser

Table: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, ...]

_PACKAGING = frozenset(
    {"poetry", "hatch", "setuptools", "setuptools_scm", "pdm", "uv", "flit", "maturin", "scikit-build"}
)
_PACKAGED = (
    "metadata",
    "options",
    "bdist_wheel",
    "bdist_rpm",
    "sdist",
    "egg_info",
    "build",
    "build_ext",
    "aliases",
)
_OF_NODE = (
    *("jest", "vitest", "mocha", "ava", "tap", "nyc", "c8", "eslintConfig", "eslintIgnore", "xo", "standard"),
    *("tsd", "stylelint", "wireit", "babel"),
)
_FOR_TESTS = frozenset({"test", "testing", "jest", "vitest", "mocha"})
_OF_CARGO: tuple[Key, ...] = (
    *(("lints",), ("profile",), ("test",), ("bench",), ("workspace", "lints"), ("package", "autotests")),
    *(("lib", "test"), ("lib", "doctest"), ("lib", "harness"), ("lib", "path"), ("patch",), ("replace",)),
)
_OF_PYPROJECT: tuple[Key, ...] = (
    *(("project", "entry-points", "pytest11"), ("tool", "poetry", "plugins", "pytest11")),
    *(("tool", "hatch", "envs"), ("tool", "pdm", "scripts")),
)
"""Keys about packaging that nevertheless run something, or load it into tests."""
_OF_GO = regex(r"^(replace|exclude|godebug)[ \t]*(?:\(([^)]*)\)|([^\n(]+))[ \t]*\n?", re.MULTILINE)


class Kind(NamedTuple):
    """How one such file is read, written, and divided."""

    read: Callable[[str], Table]
    write: Callable[[Table], str]
    owned: Callable[[Table], dict[Key, Any]]
    """The parts that belong to tools, by key."""


class Swap(NamedTuple):
    """A file as it is now, with the tools' parts as they were; and which parts those are."""

    keys: tuple[str, ...]
    content: bytes | None
    """None if the file can't be divided, so all of it is put back."""
    only_new: bool = False
    """Whether the tools had no part in the file before."""


def is_mixed(path: str) -> bool:
    """Whether only parts of this file are protected."""
    return posixpath.basename(path) in KINDS


def swap(path: str, original: bytes | None, current: bytes | None) -> Swap | None:
    """What has to be put back; None if no part that belongs to tools changed."""
    kind = KINDS[posixpath.basename(path)]
    old, new = _read(kind, original), _read(kind, current)
    if old is None or new is None or current is None:
        return Swap(("the whole file",), None)
    before, now = kind.owned(old), kind.owned(new)
    added = [key for key in now if key not in before and not _new_script(key, before)]
    changed = [key for key in before if key not in now or now[key] != before[key]]
    if not added and not changed:
        return None
    for key in added:
        _take_out(new, key)
    for key in changed:
        _put(new, key, before[key])
    keys = tuple(".".join(key) for key in (*changed, *added))
    return Swap(keys, kind.write(new).encode(), only_new=not changed)


def _read(kind: Kind, content: bytes | None) -> Table | None:
    if content is None:
        return {}
    try:
        table = kind.read(content.decode())
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None


def _new_script(key: Key, before: Mapping[Key, Any]) -> bool:
    """A new script may be part of the work; one that wraps an old script may not."""
    if key[0] != "scripts":
        return False
    around = {key[-1].removeprefix("pre"), key[-1].removeprefix("post")} - {key[-1]}
    return not any(("scripts", name) in before for name in around)


def _take_out(table: Table, key: Key) -> None:
    for part in key[:-1]:
        table = table[part]
    del table[key[-1]]


def _put(table: Table, key: Key, value: Any) -> None:
    for part in key[:-1]:
        inner = table.get(part)
        if not isinstance(inner, dict):
            inner = table[part] = {}
        table = inner
    table[key[-1]] = value


def _pyproject(table: Table) -> dict[Key, Any]:
    tools = table.get("tool")
    owned = _at(table, _OF_PYPROJECT)
    if isinstance(tools, dict):
        owned |= {("tool", name): value for name, value in tools.items() if name not in _PACKAGING}
    return owned


def _package(table: Table) -> dict[Key, Any]:
    owned: dict[Key, Any] = {(name,): table[name] for name in _OF_NODE if name in table}
    scripts = table.get("scripts")
    if isinstance(scripts, dict):
        owned |= {("scripts", name): value for name, value in scripts.items()}
    for name in ("exports", "imports"):
        owned |= _conditions(table.get(name), (name,))
    return owned


def _conditions(value: Any, place: Key) -> dict[Key, Any]:
    """The code that a package exports to tests in place of its other code."""
    owned: dict[Key, Any] = {}
    for name, inner in value.items() if isinstance(value, dict) else ():
        owned |= {(*place, name): inner} if name in _FOR_TESTS else _conditions(inner, (*place, name))
    return owned


def _setup(table: Table) -> dict[Key, Any]:
    return {(name,): value for name, value in table.items() if name.partition(".")[0] not in _PACKAGED}


def _cargo(table: Table) -> dict[Key, Any]:
    return _at(table, _OF_CARGO)


def _go(table: Table) -> dict[Key, Any]:
    return {(name,): value for name, value in table.items() if name != "rest"}


def _read_go(text: str) -> Table:
    """The directives that change which code is built, each with its lines; and the rest."""
    table: Table = {"rest": _OF_GO.sub("", text)}
    for name, several, one in _OF_GO.findall(text):
        lines = [line.partition("//")[0].strip() for line in (several or one).splitlines()]
        table[name] = sorted({*table.get(name, ()), *filter(None, lines)})
    return table


def _write_go(table: Table) -> str:
    lines = [f"{name} {line}\n" for name, several in table.items() if name != "rest" for line in several]
    return "\n".join([table["rest"], "".join(lines)])


def _at(table: Table, keys: Iterable[Key]) -> dict[Key, Any]:
    """What a table has at these places."""
    owned: dict[Key, Any] = {}
    for key in keys:
        value: Any = table
        for part in key:
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            owned[key] = value
    return owned


def _read_ini(text: str) -> Table:
    import configparser  # noqa: PLC0415 - few repositories have such a file

    parser = _parser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _write_ini(table: Table) -> str:
    parser = _parser()
    parser.read_dict(table)
    written = io.StringIO()
    parser.write(written)
    return written.getvalue()


def _read_json(text: str) -> Table:
    import json  # noqa: PLC0415 - as above

    table: Table = json.loads(text)
    return table


def _write_json(table: Table) -> str:
    import json  # noqa: PLC0415 - as above

    return json.dumps(table)


def _parser() -> RawConfigParser:
    import configparser  # noqa: PLC0415 - as above

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="\0")
    # The documented way to keep the case of keys; types know only the method that it replaces.
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as configparser documents it
    return parser


def _write_toml(table: Table) -> str:
    import tomlkit  # noqa: PLC0415 - only a changed file is written

    return tomlkit.dumps(table)


KINDS: dict[str, Kind] = {
    "pyproject.toml": Kind(safe_toml.loads, _write_toml, _pyproject),
    "Cargo.toml": Kind(safe_toml.loads, _write_toml, _cargo),
    "package.json": Kind(_read_json, _write_json, _package),
    "setup.cfg": Kind(_read_ini, _write_ini, _setup),
    "go.mod": Kind(_read_go, _write_go, _go),
}
