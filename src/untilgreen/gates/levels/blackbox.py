"""L2, the black box: run it like a user would, and look at what it prints and leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec import Struct, field

from untilgreen.core.model import Finding
from untilgreen.core.units import duration
from untilgreen.errors import ConfigError
from untilgreen.gates.levels.schema import against_schema
from untilgreen.gates.levels.tests import DEFAULT_TIMEOUT
from untilgreen.gates.levels.tree import Files, content
from untilgreen.ports import Site
from untilgreen.process.run import Ran, run
from untilgreen.process.start import shell


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call, and what must be true of it."""

    run: str
    name: str | None = None
    stdin: str = ""
    exit_code: int = 0
    contains: list[str] = field(default_factory=list)
    matches: str | None = None
    equals_file: str | None = None
    json: Any = msgspec.UNSET
    json_schema: str | None = None
    files: list[str] = field(default_factory=list)
    timeout: float | str = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        """What can't be asserted is said now."""
        if not self.run.strip():
            raise ConfigError("A case of L2 has no command. Write it as `run`.")
        duration(self.timeout, "timeout")
        try:
            re.compile(self.matches or "")
        except re.error as error:
            raise ConfigError(f"{self.matches!r} is no regular expression: {error}.") from error


class BlackBox(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every case runs; each assertion that fails is a complaint."""

    cases: list[Case]

    def __post_init__(self) -> None:
        """A level without cases could not fail."""
        if not self.cases:
            raise ConfigError("L2 has no case. Give it [[gates.NAME.L2.cases]] with `run`.")

    async def complaints(self, site: Site, files: Files) -> tuple[list[Finding], list[str]]:
        """All cases, one after another."""
        found: list[Finding] = []
        for case in self.cases:
            found += [
                Finding(id=f"{case.name or case.run}: {what}", message=why)
                for what, why in await _called(case, site)
            ]
        return found, []


async def _called(case: Case, site: Site) -> list[tuple[str, str]]:
    ran: Ran | None = None
    env = {"PYTHONDONTWRITEBYTECODE": "1", **site.env}
    with anyio.move_on_after(duration(case.timeout)):
        ran = await run(
            shell(case.run),
            cwd=site.root,
            env=env,
            stdin=case.stdin.encode(),
            note=site.tree,
            walls=site.walls,
        )
    if ran is None:
        return [("timeout", f"It was ended after {case.timeout}.")]
    return list(_wrong(case, ran, site))


def _wrong(case: Case, ran: Ran, site: Site) -> Iterator[tuple[str, str]]:
    said = ran.stdout
    if ran.status != case.exit_code:
        yield (
            "exit code",
            f"It ended with {ran.ending} in place of {case.exit_code}. {ran.stderr[-500:]}".strip(),
        )
    for text in case.contains:
        if text not in said:
            yield f"contains {text}", f"The output has no {text!r}: {said[:200]!r}"
    if case.matches is not None and not re.search(case.matches, said):
        yield f"matches {case.matches}", f"The output does not match: {said[:200]!r}"
    if case.equals_file is not None:
        yield from _equals(said, site.original(case.equals_file), case.equals_file)
    if case.json is not msgspec.UNSET or case.json_schema is not None:
        yield from _json(case, said, site)
    for name in case.files:
        if not (site.root / name).exists():
            yield f"file {name}", "The call did not leave this file."


def _equals(said: str, path: Path, name: str) -> Iterator[tuple[str, str]]:
    try:
        wanted = content(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"equals {name}", f"The file can't be read: {error}."
        return
    if said != wanted:
        yield f"equals {name}", "The output is not what the file holds."


def _json(case: Case, said: str, site: Site) -> Iterator[tuple[str, str]]:
    try:
        value = msgspec.json.decode(said)
    except (msgspec.DecodeError, RecursionError) as error:
        yield "json", f"The output is no JSON: {error}."
        return
    if case.json is not msgspec.UNSET and value != case.json:
        yield "json", f"The output is {value!r} in place of {case.json!r}."
    if case.json_schema is not None:
        for what in against_schema(value, site.original(case.json_schema)):
            yield f"json schema {what}", what
