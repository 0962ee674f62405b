"""Keep a coding agent working until its gates are green; stop it, with evidence, when it is going nowhere.

core/         Pure decisions: events to state, state to the next step; no clock, files or processes.
ports         The protocols of everything that touches the world, on one page.
errors        Every error a person can meet; each message ends with what to do.
plugins/      From a name in the spec to an object: built-in, entry point, file or module.
config/       The spec: one format, from file, profile, environment, flags or code.
process/      Child processes: started, watched, sandboxed, and killed with everything they started.
agents/       Adapters for coding agents: each takes a brief, works for one turn, and returns a reply.
gates/        The checks that decide whether the work is done.
workspace/    The files a run works on: snapshots, restores, merges, worktrees.
journal/      Where events are stored: a file of lines, memory, or PostgreSQL.
notify/       Messages to people who are not watching.
engine/       The loop around the core: asks what is next, does it, records what happened.
fleet/        The same runs on many machines: Temporal, PostgreSQL and a git remote.
backtest/     What detectors and strategies would have done with past runs.
surfaces/     The command line, live view, reports, page, editors and hooks.
session       Loops in an agent's own session, for programs.
convergence   Convergence controllers in their usual terms.
client        A Python client for `untilgreen serve`.
testing/      Stand-ins, laws and a scripted model, for your tests and ours.
state_dir     Where runs are stored; hooks need this before anything else is imported.
regex         Patterns that are compiled when they are first used.
crash_points  Named points at which a test can kill a real process.
__main__      Where a process starts: quick answers first, then the command line.

Used by: programs, which import what `__all__` lists; everything else is in the packages below.
Uses: nothing until a name is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would double the time of `untilgreen --version`
if TYPE_CHECKING:
    from typing import Any

    from untilgreen.core.briefing.brief import Brief as Brief
    from untilgreen.core.scoring.progress import progress as progress
    from untilgreen.core.strategies.adaptive import Adaptive as Adaptive
    from untilgreen.core.strategies.fixed import Fixed as Fixed
    from untilgreen.core.strategies.hybrid import Hybrid as Hybrid
    from untilgreen.core.strategies.manual import Manual as Manual
    from untilgreen.core.strategies.ralph import Ralph as Ralph
    from untilgreen.core.values.decision import Ask as Ask
    from untilgreen.core.values.decision import Continue as Continue
    from untilgreen.core.values.decision import Decision as Decision
    from untilgreen.core.values.decision import Finish as Finish
    from untilgreen.core.values.events import RunFinished as RunFinished
    from untilgreen.core.values.limits import Limits as Limits
    from untilgreen.core.values.model import Finding as Finding
    from untilgreen.core.values.model import Outcome as Outcome
    from untilgreen.core.values.model import Reply as Reply
    from untilgreen.core.values.model import Usage as Usage
    from untilgreen.core.values.model import Verdict as Verdict
    from untilgreen.core.values.rules import Detector as Detector
    from untilgreen.core.values.rules import Signal as Signal
    from untilgreen.core.values.rules import Strategy as Strategy
    from untilgreen.core.values.rules import give_up as give_up
    from untilgreen.core.values.state import Lap as Lap
    from untilgreen.core.values.state import RunState as RunState
    from untilgreen.engine.api import resuming as resuming
    from untilgreen.engine.api import run as run
    from untilgreen.engine.api import run_sync as run_sync
    from untilgreen.engine.api import running as running
    from untilgreen.engine.driving.handle import Handle as Handle
    from untilgreen.errors import UntilgreenError as UntilgreenError
    from untilgreen.ports import Activity as Activity
    from untilgreen.ports import Agent as Agent
    from untilgreen.ports import CheckContext as CheckContext
    from untilgreen.ports import Gate as Gate
    from untilgreen.ports import TurnContext as TurnContext

__version__ = "0.2.0"

_HOMES = {
    "untilgreen.core.briefing.brief": ("Brief",),
    "untilgreen.core.values.decision": ("Ask", "Continue", "Decision", "Finish"),
    "untilgreen.core.values.events": ("RunFinished",),
    "untilgreen.core.values.limits": ("Limits",),
    "untilgreen.core.values.model": ("Finding", "Outcome", "Reply", "Usage", "Verdict"),
    "untilgreen.core.scoring.progress": ("progress",),
    "untilgreen.core.values.rules": ("Detector", "Signal", "Strategy", "give_up"),
    "untilgreen.core.values.state": ("Lap", "RunState"),
    "untilgreen.core.strategies.adaptive": ("Adaptive",),
    "untilgreen.core.strategies.fixed": ("Fixed",),
    "untilgreen.core.strategies.hybrid": ("Hybrid",),
    "untilgreen.core.strategies.manual": ("Manual",),
    "untilgreen.core.strategies.ralph": ("Ralph",),
    "untilgreen.engine.api": ("resuming", "run", "run_sync", "running"),
    "untilgreen.engine.driving.handle": ("Handle",),
    "untilgreen.errors": ("UntilgreenError",),
    "untilgreen.ports": ("Activity", "Agent", "TurnContext", "Gate", "CheckContext"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF, "__version__"]  # noqa: PLE0604 - every name is a string


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `untilgreen --version` stays quick."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'untilgreen' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)
