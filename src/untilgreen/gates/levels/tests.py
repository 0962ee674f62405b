"""L1, tests and build: setup first, then every command, each with its own complaints."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct, field

from untilgreen.core.model import Finding, Verdict
from untilgreen.core.units import duration
from untilgreen.errors import ConfigError
from untilgreen.gates.command import CommandGate
from untilgreen.gates.levels.tree import Files
from untilgreen.ports import Site

DEFAULT_TIMEOUT = 600.0


class Command(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One command that must end with the expected exit code."""

    run: str
    name: str | None = None
    expect: int = 0
    timeout: float | str = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        """An empty command would always pass."""
        if not self.run.strip():
            raise ConfigError("A command of L1 is empty. Write it as `run`.")
        duration(self.timeout, "timeout")


class Tests(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Setup aborts at its first failure; the commands behind it all run."""

    run: list[str | Command]
    setup: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A level without commands could not fail."""
        if not self.run:
            raise ConfigError('L1 has no command. Give it `run = ["pytest -q"]`.')

    async def complaints(self, site: Site, files: Files) -> tuple[list[Finding], list[str]]:
        """What setup or tests complain about."""
        for command in self.setup:
            verdict = await checked(Command(run=command), site)
            if verdict.status != "pass":
                return named(f"setup {command}", verdict), []
        found: list[Finding] = []
        for written in self.run:
            each = Command(run=written) if isinstance(written, str) else written
            verdict = await checked(each, site)
            if verdict.status != "pass":
                found += named(each.name or each.run, verdict)
        return found, []


async def checked(command: Command, site: Site) -> Verdict:
    """The command's own verdict; a level's time limit is its command's."""
    gate = CommandGate(command.run, expect=command.expect, env={"CI": "true"})
    return await gate.check(replace(site, output=None, seconds=duration(command.timeout)))


def named(what: str, verdict: Verdict) -> list[Finding]:
    """Each complaint with the command in front; a bare failure is one complaint."""
    if not verdict.findings:
        tail = "\n".join(verdict.excerpt.strip().splitlines()[-5:])
        return [Finding(id=what, message=tail or "It failed and said nothing.")]
    return [
        Finding(id=f"{what}: {each.id}", message=each.message, file=each.file) for each in verdict.findings
    ]
