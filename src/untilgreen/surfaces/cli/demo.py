"""demo: a real loop with real gates and real snapshots, without a key."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
from cyclopts import Parameter

from untilgreen.config.load import Request, load
from untilgreen.engine.drive import start
from untilgreen.engine.store import RunFolder, Store
from untilgreen.engine.wiring import plan_of
from untilgreen.surfaces.cli.drive import Shown, drive_shown
from untilgreen.surfaces.cli.say import out, tell
from untilgreen.testing.demo.project import TASK, make_project


def demo(
    *,
    stuck: Annotated[
        bool, Parameter(help="Show a run that never gets green, and how that is noticed.")
    ] = False,
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
    python = shlex.quote(sys.executable)
    request = Request(
        start=project,
        task=TASK,
        flags={
            "agents": [f"cmd:{python} -m untilgreen.testing.demo.agent {'stuck' if stuck else 'green'}"],
            "gates": {"tests": {"run": f"{python} -m unittest -q"}, "style": {"run": f"{python} style.py"}},
            "promise": "DONE",
        },
    )
    store = Store(folder / "state")

    async def begin() -> RunFolder:
        return await start(plan_of(load(request), project), store)

    tell(f"A small project with failing tests is in {project}.")
    shown = Shown(json=json, flags=f" --state-dir {store.state_dir}")
    code = drive_shown(anyio.run(begin), store, shown, no_input=True)
    if not json:
        out(f"Everything is still there to look at: {folder}")
    return code if not stuck else 0
