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
from untilgreen.engine.drive import start
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.wiring import plan_of
from untilgreen.errors import UserError
from untilgreen.surfaces.cli.drive import Shown, drive_shown
from untilgreen.surfaces.cli.say import out, tell
from untilgreen.testing.demo.project import TASK, make_project


def demo(
    *,
    stuck: Annotated[
        bool, Parameter(help="Show a run that never gets green, and how that is noticed.")
    ] = False,
    agent: Annotated[
        str | None,
        Parameter(
            name=["--agent", "-a"],
            help="Use this agent's real command line, say claude, with a scripted model in place of its own.",
        ),
    ] = None,
    json: Annotated[bool, Parameter(name="--json", help="Print JSON lines on stdout.")] = False,
) -> int:
    """Watch a run in a temporary project: a scripted agent, real gates, real git; needs no key.

    The agent makes a wrong fix, claims to be done when it is not, breaks something, and gets it right.
    """
    folder = Path(tempfile.mkdtemp(prefix="untilgreen-demo-"))
    project = folder / "project"
    project.mkdir()
    make_project(project)
    for command in ("init -q", "add -A", "commit -q -m start"):
        identity = ["-c", "user.name=demo", "-c", "user.email=demo@example.invalid"]
        subprocess.run(["git", *identity, *command.split()], cwd=project, check=True)  # noqa: TID251 - before the loop
    story = "stuck" if stuck else "green"
    with _scripted(agent, story, folder) if agent else nullcontext(_without_model(story)) as spec:
        code = _run(project, folder, spec, json=json)
    return code if not stuck else 0


def _without_model(story: str) -> dict[str, Any]:
    """An agent that is a program of ours."""
    return {"agents": [f"cmd:{shlex.quote(sys.executable)} -m untilgreen.testing.demo.agent {story}"]}


@contextmanager
def _scripted(agent: str, story: str, folder: Path) -> Iterator[dict[str, Any]]:
    """A real agent with a home of its own, whose model is a script; it may do all that the script says."""
    from untilgreen.testing.demo.script import answers
    from untilgreen.testing.model.pointing import MODELS, point
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


def _run(project: Path, folder: Path, spec: dict[str, Any], *, json: bool) -> int:
    python = shlex.quote(sys.executable)
    gates = {"tests": {"run": f"{python} -m unittest -q"}, "style": {"run": f"{python} style.py"}}
    request = Request(start=project, task=TASK, flags={**spec, "gates": gates, "promise": "DONE"})
    store = Store(folder / "state")

    async def begin() -> RunFolder:
        return await start(plan_of(load(request), project), store)

    tell(f"A small project with failing tests is in {project}.")
    shown = Shown(json=json, flags=f" --state-dir {store.state_dir}")
    code = drive_shown(anyio.run(begin), store, shown, no_input=True)
    if not json:
        out(f"Everything is still there to look at: {folder}")
    return code
