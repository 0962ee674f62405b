"""L0, the contract: required and forbidden files, their content, their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec
from anyio import to_thread
from msgspec import Struct, field

from untilgreen.config.sources import safe_toml
from untilgreen.core.values.model import Finding
from untilgreen.errors import ConfigError
from untilgreen.gates.levels.json_schema import against_schema
from untilgreen.gates.levels.work_files import Files, content, name_as_text
from untilgreen.ports import CheckContext

STYLES = {
    "snake": r"_*[a-z0-9]+(?:_[a-z0-9]+)*_*",
    "kebab": r"[a-z0-9]+(?:-[a-z0-9]+)*",
    "camel": r"[a-z][a-zA-Z0-9]*",
    "pascal": r"[A-Z][a-zA-Z0-9]*",
    "screaming": r"[A-Z0-9]+(?:_[A-Z0-9]+)*",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_ABSENT = object()


class DataRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a JSON or TOML file must contain: a field, its type, its format, or a whole schema."""

    file: str
    has: str | None = None
    type: Literal["string", "number", "boolean", "array", "object"] | None = None
    matches: str | None = None
    json_schema: str | None = None

    def __post_init__(self) -> None:
        """A rule without a condition would always pass."""
        if self.has is None and self.json_schema is None:
            raise ConfigError(f"The rule for {self.file!r} has no condition. Add `has` or `json_schema`.")
        if self.has is None and (self.type or self.matches):
            raise ConfigError(f"The rule for {self.file!r} has no field. Set `has`.")
        _pattern(self.matches)


class NamingRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How files are named, without their extension."""

    files: str
    style: Literal["snake", "kebab", "camel", "pascal", "screaming"] | None = None
    matches: str | None = None

    def __post_init__(self) -> None:
        """Exactly one of `style` and `matches` has to be set."""
        if (self.style is None) == (self.matches is None):
            raise ConfigError(f"The naming of {self.files!r} needs either `style` or `matches`.")
        _pattern(self.matches)


class Contract(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which files exist, and what is in them."""

    required: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    data: list[DataRule] = field(default_factory=list)
    naming: list[NamingRule] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A level without checks could not fail."""
        if not (self.required or self.forbidden or self.data or self.naming):
            raise ConfigError("L0 has no checks. Set `required`, `forbidden`, `data` or `naming`.")

    async def findings(self, context: CheckContext, files: Files) -> tuple[list[Finding], list[str]]:
        """Everything that is wrong, at once."""
        return await to_thread.run_sync(lambda: list(self._look(context, files))), []

    def _look(self, context: CheckContext, files: Files) -> Iterator[Finding]:
        for pattern in self.required:
            if not files.matching(pattern):
                yield Finding(id=f"missing {pattern}", message="This file is required.")
        for pattern in self.forbidden:
            for path in files.matching(pattern):
                name = name_as_text(path)
                yield Finding(id=f"forbidden {name}", message=f"{pattern} is forbidden.", file=name)
        for rule in self.data:
            yield from _data(rule, context, files)
        for naming in self.naming:
            wanted = re.compile(STYLES[naming.style] if naming.style else naming.matches or "")
            for path in files.matching(naming.files):
                if not wanted.fullmatch(PurePosixPath(path).name.partition(".")[0]):
                    like = naming.style or naming.matches
                    name = name_as_text(path)
                    yield Finding(id=f"name {name}", message=f"Its name does not follow {like}.", file=name)


def _data(rule: DataRule, context: CheckContext, files: Files) -> Iterator[Finding]:
    found = files.matching(rule.file)
    if not found:
        yield Finding(id=f"missing {rule.file}", message="No such file.")
    for name in found:
        path = name_as_text(name)
        try:
            value = _read(files.root / name, files.root)
        except (OSError, ValueError, RecursionError) as error:
            yield Finding(id=f"unreadable {path}", message=f"It can't be read as data: {error}.", file=path)
            continue
        if rule.has is not None:
            yield from _field(rule, path, _reach(value, rule.has))
        if rule.json_schema is not None:
            for said in against_schema(value, context.original(rule.json_schema)):
                yield Finding(id=f"schema {path}: {said}", message=said, file=path)


def _field(rule: DataRule, path: str, value: object) -> Iterator[Finding]:
    place = f"{path} {rule.has}"
    if value is _ABSENT:
        yield Finding(id=f"no {place}", message="This field is required.", file=path)
        return
    if rule.type is not None:
        right = isinstance(value, _TYPES[rule.type]) and (
            rule.type == "boolean" or not isinstance(value, bool)
        )
        if not right:
            yield Finding(id=f"type {place}", message=f"It is not of type {rule.type}.", file=path)
    if rule.matches is not None and not re.search(rule.matches, str(value)):
        yield Finding(id=f"value {place}", message=f"It does not match {rule.matches!r}.", file=path)


def _reach(value: object, dotted: str) -> object:
    for part in dotted.split("."):
        if not isinstance(value, dict) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def _read(path: Path, root: Path) -> Any:
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        raise OSError("it is a link to a place outside the workspace")
    data = content(path)
    if path.suffix == ".toml":
        return safe_toml.loads(data.decode("utf-8"))
    return msgspec.json.decode(data)


def _pattern(written: str | None) -> None:
    try:
        re.compile(written or "")
    except re.error as error:
        raise ConfigError(f"{written!r} is not a valid regular expression: {error}.") from error
