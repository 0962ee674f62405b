"""demo: a real loop with real gates and real snapshots, without a key."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from untilgreen.config.load import Request, load
from untilgreen.engine.driving.start import start
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.plan import objects_for, plan_of
from untilgreen.engine.worktree.premises import StartFacts
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import Json, ViewFlags
from untilgreen.surfaces.cli.verbs.run import drive_in_view
from untilgreen.surfaces.text.event_lines import DEMO
from untilgreen.surfaces.text.printing import out, tell
from untilgreen.testing.demo.project import TASK, make_project


def demo(
    *,
    stuck: Annotated[bool, Parameter(help="Show a run that gets stuck, and how that is detected.")] = False,
    agent: Annotated[
        str | None,
        Parameter(
            name=["--agent", "-a"],
            metavar="NAME",
            help="Use a real agent, such as claude, with a scripted model.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Watch a scripted run in a temporary project; no key needed.

    The agent is a script; the gates, the snapshots and the decisions are real. The agent makes a wrong fix,
    claims to be done when it is not, breaks something, and gets it right.
    """
    folder = Path(tempfile.mkdtemp(prefix="untilgreen-demo-"))
    project = folder / "project"
    project.mkdir()
    make_project(project)
    for command in ("init -q", "add -A", "commit -q -m start"):
        identity = ["-c", "user.name=demo", "-c", "user.email=demo@example.invalid"]
        subprocess.run(["git", *identity, *command.split()], cwd=project, check=True)  # noqa: TID251 - before the loop
    story = "stuck" if stuck else "green"
    with _scripted(agent, story, folder) if agent else nullcontext(_without_model(story, folder)) as spec:
        script = f"The model that {agent} talks to is a script" if agent else "The agent is a script"
        code = _run(project, folder, spec, script, json=json)
    return code if not stuck else 0


def _without_model(story: str, folder: Path) -> dict[str, Any]:
    """A scripted program as the agent, under a name that people can read."""
    program = folder / "scripted-agent"
    python = shlex.quote(sys.executable)
    program.write_text(
        f"#!/bin/sh\nexec {python} -m untilgreen.testing.demo.agent {story}\n", encoding="utf-8"
    )
    program.chmod(0o755)
    return {"agents": [f"cmd:{shlex.quote(str(program))}"]}


@contextmanager
def _scripted(agent: str, story: str, folder: Path) -> Iterator[dict[str, Any]]:
    """A real agent with its own home and a scripted model; it may do everything that the script says."""
    from untilgreen.testing.demo.script import answers
    from untilgreen.testing.model.agent_environments import MODELS, point
    from untilgreen.testing.model.server import ScriptedModel

    if agent == "aider":
        raise UserError("The demo's script uses tools, and aider has none. Use another agent.")
    before = dict(os.environ)
    with ScriptedModel({"turns": answers(story), "then": "loop"}, cwd=str(folder / "project")) as model:
        os.environ.update(point(agent, model.url, folder / "home"))
        try:
            yield {"agents": [{"use": agent, "model": MODELS[agent]}], "permissions": "all"}
        finally:
            os.environ.clear()
            os.environ.update(before)


def _run(project: Path, folder: Path, spec: dict[str, Any], script: str, *, json: bool) -> int:
    python = shlex.quote(sys.executable)
    gates = {"tests": {"run": f"{python} -m unittest -q"}, "style": {"run": f"{python} style.py"}}
    given = {"gates": gates, "promise": "DONE", "labels": {DEMO: "scripted"}}
    request = Request(start=project, task=TASK, flags={**spec, **given})
    store = Store(folder / "state")

    loaded = load(request)
    known = StartFacts(objects=objects_for(loaded))

    async def begin() -> FolderRecord:
        return await start(plan_of(loaded, project, known.objects), store, known)

    tell(f"A small project with failing tests: {project}")
    tell(f"{script}: you pay nothing. Everything else is real.")
    shown = ViewFlags(json=json, no_input=True)
    code = drive_in_view(anyio.run(begin), store, shown, f" --state-dir {store.state_dir}", known)
    if not json:
        out(f"Everything is kept for you to inspect: {folder}")
    return code
