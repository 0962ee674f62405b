"""The plan of a loop in an agent's session: the spec of the directory, and what its start asks for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.config.load import Loaded, Request, load
from untilgreen.core.briefing.session_template import check_template, missing_placeholders
from untilgreen.core.values.model import Plan
from untilgreen.engine.store.notes.trust_book import TrustBook, Untrusted
from untilgreen.engine.store.runs import Store
from untilgreen.engine.wiring.objects import Objects
from untilgreen.engine.wiring.plan import check_installed, objects_for, plan_of
from untilgreen.errors import UserError

PROMISE = "DONE"
STRATEGY = "ralph"
DESCRIPTION = "description"
"""The label for a session's description."""


class LoopRequest(Struct, frozen=True, kw_only=True):
    """What the start of a loop in a session asks for."""

    session: str
    agent: str
    task: str
    directory: Path
    max_iterations: str | None = None
    promise: str | None = None
    description: str = ""
    gates: dict[str, dict[str, str]] = {}
    strategy: str | None = None
    replace: bool = False
    """End the loop that the session has."""
    take: bool = False
    """Move another session's run out of the directory."""
    transcript: str = ""
    """The agent's transcript, if it names one."""


class SessionPlan(Struct, frozen=True, kw_only=True):
    """The plan of a run in a session, its objects, and what the user should know."""

    plan: Plan
    objects: Objects
    warnings: tuple[str, ...] = ()


def session_plan(wish: LoopRequest, store: Store) -> SessionPlan:
    """The directory's spec as it applies in a session: in place, and the last files stay."""
    loaded = _loaded(wish)
    objects = objects_for(loaded)
    if not loaded.spec.session.enabled:
        raise UserError("Loops in a session are turned off here: session.enabled = false in the spec.")
    try:
        check_installed(loaded, objects)
        TrustBook(store).require(loaded)
    except Untrusted as unknown:
        raise UserError(
            f"{unknown} Review it in a terminal of your own with `untilgreen trust`, then start again."
        ) from unknown
    plan = plan_of(loaded, wish.directory, objects)
    labels = {**plan.labels, DESCRIPTION: wish.description} if wish.description else plan.labels
    template, warnings = _template(loaded)
    plan = replace(
        plan, session="continue", leave="last", on_interrupt="keep", labels=labels, template=template
    )
    return SessionPlan(plan=plan, objects=objects, warnings=warnings)


def _loaded(wish: LoopRequest) -> Loaded:
    """In order of precedence: the start, `[session]`, the rest of the spec, the defaults."""
    flags: dict[str, Any] = {"agents": [wish.agent], "workspace": {"mode": "in-place"}}
    if wish.gates:
        flags["gates"] = wish.gates
    request = Request(start=wish.directory, flags=flags, task=wish.task, env=os.environ)
    before = load(request)
    spec, table = before.spec, before.spec.session
    known = before.layers.values.get("strategy")
    strategy = wish.strategy or (None if known is not None else STRATEGY)
    if strategy is not None and strategy != spec.strategy.name:  # the same name keeps its options
        flags["strategy"] = strategy
    own = spec.strategy.options.get("promise") if "strategy" not in flags else None
    chosen = (wish.promise, table.promise, spec.file.promise, own, PROMISE)
    flags["promise"] = next(promise for promise in chosen if promise is not None)
    laps = wish.max_iterations
    if laps is None and table.max_iterations is not None:
        laps = str(table.max_iterations)
    return load(replace(request, flags=flags, max_iterations=laps))


def _template(loaded: Loaded) -> tuple[str, tuple[str, ...]]:
    """The user's own template, and a warning about what it leaves out."""
    name = loaded.spec.session.brief
    if name is None:
        return "", ()
    who = f"session.brief = {name!r}"
    try:
        text = (loaded.base / name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UserError(f"{who} can't be read: {error}. Correct the path, or remove the key.") from error
    missing = missing_placeholders(check_template(text, who))
    if not missing:
        return text, ()
    words = " and ".join(f"{{{{{each}}}}}" for each in missing)
    return text, (f"warning: {who} has no {words}, so the session does not see how the last lap went.",)
