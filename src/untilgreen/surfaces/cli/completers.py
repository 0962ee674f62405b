"""Shell completion: runs, answers, names and profiles, as they are at that moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

    from untilgreen.engine.store.runs import Store
    from untilgreen.plugins.registry import Kind

Candidates = list[tuple[str, str]]
_MOST = 30


def runs(context: CompletionContext) -> Candidates:
    """The runs of the directory, newest first, with their titles."""
    from untilgreen.surfaces.text.safe_text import short

    found = _store(context).runs(_start(context))
    return [
        ("@last", "the newest run here"),
        *((run.id, short(run.meta().title, 60)) for run in found[:_MOST]),
    ]


def answers(context: CompletionContext) -> Candidates:
    """The answers that the run on the command line accepts now."""
    from untilgreen.core.loop.step import gate_waiting_for_people

    run = _store(context).find(_typed(context, "run") or "@last", _start(context))
    state = run.read().state
    choices = state.open_question.choices if state.open_question else ()
    gate = gate_waiting_for_people(state)
    approval = ("approve", "reject") if gate is not None else ()
    about = gate.name if gate is not None else ""
    return [*((choice, "") for choice in choices), *((word, f"gate {about}") for word in approval)]


def agents(context: CompletionContext) -> Candidates:
    """Agents by name."""
    return [*_named("agent"), ("cmd:", "any command"), ("acp:", "any agent that speaks ACP")]


def strategies(context: CompletionContext) -> Candidates:
    """Strategies by name."""
    return _named("strategy")


def detectors(context: CompletionContext) -> Candidates:
    """Detectors by name."""
    return _named("detector")


def installable(context: CompletionContext) -> Candidates:
    """Agents that /ralph can be added to."""
    from untilgreen.surfaces.install.targets import TARGETS

    return [(name, "") for name in TARGETS]


def schemas(context: CompletionContext) -> Candidates:
    """Schemas by name."""
    from untilgreen.surfaces.json_schemas import SCHEMAS

    return [(name, "") for name in SCHEMAS]


def presets(context: CompletionContext) -> Candidates:
    """Presets of `init`."""
    from untilgreen.config.init.presets import PRESETS

    return [(name, preset.about) for name, preset in PRESETS.items()]


def profiles(context: CompletionContext) -> Candidates:
    """The profiles of the spec here."""
    from untilgreen.config.sources.find import find, read

    path = find(_start(context))
    tables = read(path)[0].get("profiles", {}) if path else {}
    return [(name, "") for name in tables]


def _named(kind: Kind) -> Candidates:
    from untilgreen.plugins.registry import registry

    return [(each.name, each.summary) for each in registry.list(kind) if each.name != "command"]


def _store(context: CompletionContext) -> Store:
    from untilgreen.engine.store.runs import Store

    chosen = _typed(context, "--state-dir")
    return Store(Path(chosen).expanduser() if chosen else None)


def _start(context: CompletionContext) -> Path:
    return Path(_typed(context, "--cd") or ".").expanduser().absolute()


def _typed(context: CompletionContext, flag: str) -> str:
    """The value of another option, as far as it was typed."""
    try:
        return context[flag].raw or ""
    except (KeyError, LookupError):
        return ""
