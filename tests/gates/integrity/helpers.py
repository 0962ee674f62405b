"""A real repository with a real workspace, and the integrity gate as a run would set it up."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from untilgreen.core.values.model import GateSpec, Verdict
from untilgreen.gates.command import CommandGate
from untilgreen.gates.integrity.gate import IntegrityGate
from untilgreen.ports import CheckContext, Gate
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace


def make(spec: GateSpec) -> Gate:
    return CommandGate(**spec.options)


def write(place: Path, files: Mapping[str, str | None]) -> None:
    """Write files by path; None removes one."""
    for name, text in files.items():
        path = place / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)


def git(place: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout


def gate(run: str, name: str = "tests", **more: Any) -> GateSpec:
    fields = {
        key: more.pop(key)
        for key in ("when", "retries", "timeout", "stage", "required", "kind")
        if key in more
    }
    return GateSpec(name=name, options={"run": run, **more}, **fields)


@dataclass
class Project:
    """A repository before and after an agent's turns."""

    root: Path
    private: Path
    gates: tuple[GateSpec, ...]
    start: Path | None = None
    protect: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    base: str = ""
    claim: bool = True
    at_home: bool = True

    @property
    def scratch(self) -> Path:
        return self.private / "copies"

    @property
    def output(self) -> Path:
        return self.private / "output.txt"

    def workspace(self) -> GitWorkspace:
        return GitWorkspace(self.start or self.root, "run", self.private / "workspace")

    async def begin(self, files: Mapping[str, str | None]) -> Project:
        """Create the repository, and take the snapshot of the untouched tree."""
        self.root.mkdir(parents=True)
        git(self.root, "init", "--quiet")
        write(self.root, files)
        self.base = await self.workspace().snapshot("0")
        return self

    async def after(self, files: Mapping[str, str | None], *allowed: str) -> Verdict:
        """The gate's verdict after an agent has made these changes, with which the real gates are green."""
        write(self.root, files)
        workspace = self.workspace()
        context = self.context(await workspace.snapshot("1"), *allowed)
        for spec in self.gates:
            real = await make(spec).check(replace(context, output=None))
            assert real.status == "pass", (
                f"the real gates are red, so the test proves nothing: {real.excerpt}"
            )
        verdict = await self.gate(workspace).check(context)
        assert not self.scratch.exists()
        return verdict

    def context(self, snapshot: str, *allowed: str) -> CheckContext:
        """The context of a check of this snapshot."""
        return CheckContext(
            root=self.start or self.root,
            lap=1,
            snapshot=snapshot,
            base=self.base,
            claim=self.claim,
            allowed=allowed,
            output=self.output,
            tree=self.private / "tree.json",
        )

    def gate(self, workspace: GitWorkspace) -> IntegrityGate:
        return IntegrityGate(
            trees=Exporter(workspace),
            gates=self.gates,
            make=make,
            scratch=self.scratch,
            protect=self.protect,
            allow=self.allow,
            at_home=self.at_home,
        )


def ids(verdict: Verdict) -> list[str]:
    return [finding.id for finding in verdict.findings]


def said(verdict: Verdict, path: str) -> str:
    """The verdict's message about one changed file."""
    return next(finding.message for finding in verdict.findings if finding.id == f"changed: {path}")
