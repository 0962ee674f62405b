"""Play one story: a red project, what an agent does to it, and whether a run would end as converged.

The stories are TOML files: `project` names the project that they begin with, `[start]` adds files to it,
`[agent]` has the files that the agent writes, `delete` those that it removes and `run` the shell commands
that it runs, in the workspace and without a sandbox. `[integrity]` has the spec's options for that gate.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from untilgreen.core.scoring.gate_scores import remembered
from untilgreen.core.scoring.vanished_tests import doubt_vanished_tests
from untilgreen.core.values.model import GateSpec, Verdict
from untilgreen.errors import WorkspaceNotReady
from untilgreen.gates.command import CommandGate
from untilgreen.gates.integrity.gate import IntegrityGate
from untilgreen.ports import CheckContext, Gate
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace

HERE = Path(__file__).parent
WORDS = {
    "@python@": sys.executable,
    "@pytest@": f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_ADDOPTS= {sys.executable} -m pytest",
    "@ruff@": str(Path(sys.executable).with_name("ruff")),
    "@runners@": str(Path(sys.prefix, "runners")),
}


class Story(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One story, from a file in this directory."""

    about: str
    project: str
    needs: tuple[str, ...] = ()
    """Programs that it needs."""
    gate: str = ""
    """The gate's command, if it is not the project's."""
    start: dict[str, str] = {}
    before: str = ""
    """Shell commands before the run, in the workspace."""
    agent: dict[str, str] = {}
    delete: tuple[str, ...] = ()
    run: str = ""
    integrity: dict[str, Any] = {}
    red: bool = False
    """Whether the gate itself notices the cheat, so that nothing has to run again."""
    name: str = ""


class Project(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small project that is red, its gate, and the fix."""

    gate: str
    files: dict[str, str]
    fix: dict[str, str]
    needs: tuple[str, ...] = ()
    """Programs that it needs, or paths of packages that have to be installed."""
    before: str = ""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a story ended."""

    converged: bool
    gate: Verdict
    integrity: Verdict | None = None


def stories(kind: str) -> Iterator[Story]:
    """All stories of a kind, by name."""
    for path in sorted((HERE / kind).rglob("*.toml")):
        name = path.relative_to(HERE / kind).with_suffix("").as_posix()
        yield msgspec.convert({**_read(path), "name": name}, Story)


def project_of(story: Story) -> Project:
    """The project that a story begins with."""
    return msgspec.convert(_read(HERE / "projects" / f"{story.project}.toml"), Project)


def missing(story: Story) -> list[str]:
    """The programs and paths that the story needs and that are missing here."""
    needs = [_filled(name) for name in (*story.needs, *project_of(story).needs)]
    return [name for name in needs if not (Path(name).is_dir() if "/" in name else shutil.which(name))]


async def play(story: Story, place: Path) -> Ending:
    """Play the story from the untouched files to the last verdict, with real git and real commands."""
    project = project_of(story)
    root, private = place / "project", place / "private"
    root.mkdir(parents=True)
    _shell("git init --quiet", root)
    _write(root, {**project.files, **story.start})
    _shell(project.before, root)
    _shell(story.before, root)
    spec = GateSpec(name="tests", options={"run": _filled(story.gate or project.gate)})
    workspace = GitWorkspace(root, "run", private / "workspace")
    base = await workspace.snapshot("0")
    context = CheckContext(root=root, snapshot=base, base=base, tree=private / "tree.json")
    baseline = await _make(spec).check(context)
    assert baseline.status != "pass", f"the story begins green: {baseline.excerpt}"
    guard = IntegrityGate(
        trees=Exporter(workspace),
        gates=(spec,),
        make=_make,
        scratch=private / "copies",
        memory=private / "unkept",
        clean_room=True,
        **story.integrity,
    )
    await guard.begin()
    for name in story.delete:
        (root / name).unlink()
    _write(root, story.agent)
    _shell(story.run, root)
    return await _judge(guard, spec, baseline, workspace, context)


async def _judge(
    guard: IntegrityGate, spec: GateSpec, baseline: Verdict, workspace: GitWorkspace, before: CheckContext
) -> Ending:
    """Check the gate in the workspace, then integrity; unchanged files never converge, as they were red."""
    snapshot = await workspace.snapshot("1")
    context = CheckContext(
        root=before.root,
        lap=1,
        snapshot=snapshot,
        base=before.base,
        claim=True,
        tree=before.tree,
        baseline={"tests": baseline},
    )
    shown = remembered({}, {"tests": baseline}).get("tests", {})
    gate = doubt_vanished_tests(shown, spec, await _make(spec).check(context))
    if gate.status != "pass":
        return Ending(converged=False, gate=gate)
    try:
        verdict = await guard.check(context)
    except WorkspaceNotReady as error:  # as in a run: the gate reports an error, and a person is asked
        verdict = Verdict(status="error", excerpt=str(error))
    same_files = snapshot == before.base
    return Ending(converged=verdict.status == "pass" and not same_files, gate=gate, integrity=verdict)


def _make(spec: GateSpec) -> Gate:
    return CommandGate(**spec.options)


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(text), encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)


def _shell(commands: str, root: Path) -> None:
    if commands:
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run(
            ["/bin/sh", "-ec", _filled(commands)], cwd=root, check=True, capture_output=True, env=env
        )


def _filled(text: str) -> str:
    for word, value in WORDS.items():
        text = text.replace(word, value)
    return text
