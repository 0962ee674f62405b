"""L2, the black box: run it as a user would, and check what it prints and leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import msgspec
from msgspec import Struct, field

from untilgreen.core.values.model import Finding
from untilgreen.core.values.units import duration
from untilgreen.errors import ConfigError
from untilgreen.gates.levels.json_schema import against_schema
from untilgreen.gates.levels.tests import DEFAULT_TIMEOUT
from untilgreen.gates.levels.work_files import Files, content
from untilgreen.ports import CheckContext
from untilgreen.process.run import Ran, run
from untilgreen.process.start import shell


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command, and what must be true of its result."""

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
        """Before a run starts, refuse what can't be checked."""
        if not self.run.strip():
            raise ConfigError("An L2 case has no command. Set `run`.")
        duration(self.timeout, "timeout")
        try:
            re.compile(self.matches or "")
        except re.error as error:
            raise ConfigError(f"{self.matches!r} is not a valid regular expression: {error}.") from error


class BlackBox(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every case runs; each assertion that fails is a finding."""

    cases: list[Case]

    def __post_init__(self) -> None:
        """A level without cases could not fail."""
        if not self.cases:
            raise ConfigError("L2 has no cases. Add [[gates.NAME.L2.cases]] with `run`.")

    async def findings(self, context: CheckContext, files: Files) -> tuple[list[Finding], list[str]]:
        """Run all cases, one after another."""
        found: list[Finding] = []
        for case in self.cases:
            found += [
                Finding(id=f"{case.name or case.run}: {what}", message=why)
                for what, why in await _called(case, context)
            ]
        return found, []


async def _called(case: Case, context: CheckContext) -> list[tuple[str, str]]:
    ran: Ran | None = None
    env = {"PYTHONDONTWRITEBYTECODE": "1", **context.env}
    with anyio.move_on_after(duration(case.timeout)):
        ran = await run(
            shell(case.run),
            cwd=context.root,
            env=env,
            stdin=case.stdin.encode(),
            note=context.tree,
            sandbox=context.sandbox,
            view=context.view,
        )
    if ran is None:
        return [("timeout", f"It was ended after {case.timeout}.")]
    return list(_wrong(case, ran, context))


def _wrong(case: Case, ran: Ran, context: CheckContext) -> Iterator[tuple[str, str]]:
    said = ran.stdout
    if ran.status != case.exit_code:
        yield (
            "exit code",
            f"It ended with {ran.ending} instead of {case.exit_code}. {ran.stderr[-500:]}".strip(),
        )
    for text in case.contains:
        if text not in said:
            yield f"contains {text}", f"The output does not contain {text!r}: {said[:200]!r}"
    if case.matches is not None and not re.search(case.matches, said):
        yield f"matches {case.matches}", f"The output does not match: {said[:200]!r}"
    if case.equals_file is not None:
        yield from _equals(said, context.original(case.equals_file), case.equals_file)
    if case.json is not msgspec.UNSET or case.json_schema is not None:
        yield from _json(case, said, context)
    for name in case.files:
        if not (context.root / name).exists():
            yield f"file {name}", "The command did not create this file."


def _equals(said: str, path: Path, name: str) -> Iterator[tuple[str, str]]:
    try:
        wanted = content(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"equals {name}", f"The file can't be read: {error}."
        return
    if said != wanted:
        yield f"equals {name}", "The output differs from the file's content."


def _json(case: Case, said: str, context: CheckContext) -> Iterator[tuple[str, str]]:
    try:
        value = msgspec.json.decode(said)
    except (msgspec.DecodeError, RecursionError) as error:
        yield "json", f"The output is not JSON: {error}."
        return
    if case.json is not msgspec.UNSET and value != case.json:
        yield "json", f"The output is {value!r} instead of {case.json!r}."
    if case.json_schema is not None:
        for what in against_schema(value, context.original(case.json_schema)):
            yield f"json schema {what}", what
