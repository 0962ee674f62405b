"""What the shell can offer at a TAB: runs, agents, strategies and profiles, as they are at that moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.completion import CompletionContext

    from untilgreen.plugins import Kind

Candidates = list[tuple[str, str]]
_MOST = 30


def runs(context: CompletionContext) -> Candidates:
    """The runs of the directory, the newest first, with what each is about."""
    from untilgreen.engine.store import Store
    from untilgreen.surfaces.text import short

    chosen = _typed(context, "--state-dir")
    found = Store(Path(chosen).expanduser() if chosen else None).runs(_start(context))
    return [
        ("@last", "the newest run here"),
        *((run.id, short(run.meta().title, 60)) for run in found[:_MOST]),
    ]


def agents(context: CompletionContext) -> Candidates:
    """Agents by name."""
    return [*_named("agent"), ("cmd:", "any command")]


def strategies(context: CompletionContext) -> Candidates:
    """Strategies by name."""
    return _named("strategy")


def profiles(context: CompletionContext) -> Candidates:
    """The profiles of the spec here."""
    from untilgreen.config.find import find, read

    path = find(_start(context))
    tables = read(path)[0].get("profiles", {}) if path else {}
    return [(name, "") for name in tables]


def _named(kind: Kind) -> Candidates:
    from untilgreen.plugins import registry

    return [(each.name, each.summary) for each in registry.list(kind) if each.name != "command"]


def _start(context: CompletionContext) -> Path:
    return Path(_typed(context, "--cd") or ".").expanduser().absolute()


def _typed(context: CompletionContext, flag: str) -> str:
    """The value of another flag, as far as it was typed."""
    try:
        return context[flag].raw or ""
    except (KeyError, LookupError):
        return ""
