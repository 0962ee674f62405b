"""L1, tests and build: setup first, then every command, each with its own findings."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.core.values.units import duration
from untilgreen.errors import ConfigError
from untilgreen.gates.command import CommandGate
from untilgreen.gates.levels.work_files import Files
from untilgreen.ports import CheckContext

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
            raise ConfigError("An L1 command is empty. Set `run`.")
        duration(self.timeout, "timeout")


class Tests(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Setup stops at its first failure; the commands after it all run."""

    run: list[str | Command]
    setup: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """A level without commands could not fail."""
        if not self.run:
            raise ConfigError('L1 has no commands. Set `run = ["pytest -q"]`.')

    async def findings(self, context: CheckContext, files: Files) -> tuple[list[Finding], list[str]]:
        """What setup or the tests report."""
        for command in self.setup:
            verdict = await checked(Command(run=command), context)
            if verdict.status != "pass":
                return named(f"setup {command}", verdict), []
        found: list[Finding] = []
        for written in self.run:
            each = Command(run=written) if isinstance(written, str) else written
            verdict = await checked(each, context)
            if verdict.status != "pass":
                found += named(each.name or each.run, verdict)
        return found, []


async def checked(command: Command, context: CheckContext) -> Verdict:
    """The command's verdict; each command has its own timeout."""
    gate = CommandGate(command.run, expect=command.expect, env={"CI": "true"})
    return await gate.check(replace(context, output=None, seconds=duration(command.timeout)))


def named(what: str, verdict: Verdict) -> list[Finding]:
    """Each finding prefixed with the command; a failure without findings is one finding."""
    if not verdict.findings:
        tail = "\n".join(verdict.excerpt.strip().splitlines()[-5:])
        return [Finding(id=what, message=tail or "It failed and printed nothing.")]
    return [
        Finding(id=f"{what}: {each.id}", message=each.message, file=each.file) for each in verdict.findings
    ]
