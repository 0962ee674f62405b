"""Stand-ins that ship with untilgreen, for your tests and ours.

stories     A run as a line of text: `story("ab a -")` leaves findings a and b, then only a, then none.
laws        The laws of every strategy and every detector; each fails with a sentence.
doubles     An agent, a gate and a clock that follow a script, for tests and demos without a model.
workspaces  A workspace in memory, and the laws of every workspace.
journals    The laws of every journal, and a journal that breaks at a chosen event.
records     The laws of every record of a run, on disk or in a database.
world       A run with scripted parts, all in memory, driven by the real runner.
model/      A model that follows a script, for agents' real command lines; it speaks four APIs.
acp_agent   An agent that speaks the Agent Client Protocol and follows a script.
demo/       A small real project with failing tests, and a scripted agent that fixes it step by step.

Used by: tests, and the verb `demo`. Uses: every layer; no layer uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untilgreen.testing.doubles import FakeClock as FakeClock
    from untilgreen.testing.doubles import ScriptedAgent as ScriptedAgent
    from untilgreen.testing.doubles import ScriptedGate as ScriptedGate
    from untilgreen.testing.journals import CrashingJournal as CrashingJournal
    from untilgreen.testing.journals import journal_laws as journal_laws
    from untilgreen.testing.laws import detector_laws as detector_laws
    from untilgreen.testing.laws import strategy_laws as strategy_laws
    from untilgreen.testing.model.scenario import load_scenario as load_scenario
    from untilgreen.testing.model.server import ScriptedModel as ScriptedModel
    from untilgreen.testing.records import record_laws as record_laws
    from untilgreen.testing.stories import Play as Play
    from untilgreen.testing.stories import story as story
    from untilgreen.testing.stories import tell as tell
    from untilgreen.testing.workspaces import MemoryWorkspace as MemoryWorkspace
    from untilgreen.testing.workspaces import workspace_laws as workspace_laws
    from untilgreen.testing.world import World as World

_HOMES = {
    "doubles": ("FakeClock", "ScriptedAgent", "ScriptedGate"),
    "journals": ("CrashingJournal", "journal_laws"),
    "laws": ("detector_laws", "strategy_laws"),
    "model.scenario": ("load_scenario",),
    "model.server": ("ScriptedModel",),
    "records": ("record_laws",),
    "stories": ("Play", "story", "tell"),
    "workspaces": ("MemoryWorkspace", "workspace_laws"),
    "world": ("World",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF]  # noqa: PLE0604 - every name is a string


def __getattr__(name: str) -> Any:
    """Import a stand-in when it is first used; a story needs no engine."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'untilgreen.testing' has no attribute {name!r}")
    return getattr(import_module(f"untilgreen.testing.{_HOME_OF[name]}"), name)
