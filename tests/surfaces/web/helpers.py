"""Runs that the core plays, stored as the engine stores them."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from tests.core.helpers import PASS, Run, Turn, gate, priced, red
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.strategies.manual import Manual
from untilgreen.core.values.events import RunStarted
from untilgreen.core.values.model import Change, PartSpec
from untilgreen.engine.store.runs import Store
from untilgreen.journal.file import FileJournal
from untilgreen.surfaces.web.handlers.call import Service

TOKEN = "t" * 43
HOST = "127.0.0.1:7878"
STARTED = {"green": 1_790_000_000.0, "asking": 1_790_000_600.0}


def at_once(service: Service) -> Callable[[], Awaitable[Service]]:
    """What an application calls to open its service, for one that is already open."""

    async def opened() -> Service:
        return service

    return opened


def played(kind: str) -> Run:
    """A run that is "green", or "asking" for an answer."""
    agents = (PartSpec(name="claude"),)
    if kind == "asking":
        run = Run(gate("tests"), strategy=Manual(), answers=True, agents=agents, task="Fix the cart")
        run.lap(tests=red("test_total"))
        return run
    run = Run(
        gate("tests"), gate("style"), strategy=Hybrid(), baseline=True, agents=agents, task="Fix the cart"
    )
    changes = (Change(path="cart.py"),)
    run.lap(tests=red("a", "b", "c"))
    run.lap(Turn(reply=priced(0.2, 1200), changes=changes), tests=red("a"))
    run.lap(Turn(reply=priced(0.3, 900), changes=changes), tests=red("a", "d"), style=red("long line"))
    run.lap(Turn(reply=priced(0.1, 800), changes=changes), tests=PASS, style=PASS)
    run.end()
    return run


async def keep(store: Store, workspace: Path, kind: str) -> str:
    """Write the events of such a run into a folder of the store; its id."""
    run = played(kind)
    folder = store.create(STARTED[kind], workspace=workspace, title=run.state.plan.title)
    journal = FileJournal(folder.journal)
    first, *rest = run.events
    assert isinstance(first, RunStarted)
    plan = replace(first.plan, workspace={"start": str(workspace)})
    for event in (replace(first, run=folder.id, plan=plan), *rest):
        await journal.append(event)
    return folder.id
