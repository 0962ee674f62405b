"""Keep a coding agent working until its gates are green; stop it, with evidence, when it never will be."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would double the time of `untilgreen --version`
if TYPE_CHECKING:
    from typing import Any

    from untilgreen.core.brief import Brief as Brief
    from untilgreen.core.decision import Ask as Ask
    from untilgreen.core.decision import Continue as Continue
    from untilgreen.core.decision import Decision as Decision
    from untilgreen.core.decision import Finish as Finish
    from untilgreen.core.events import RunFinished as RunFinished
    from untilgreen.core.limits import Limits as Limits
    from untilgreen.core.model import Finding as Finding
    from untilgreen.core.model import Outcome as Outcome
    from untilgreen.core.model import Reply as Reply
    from untilgreen.core.model import Usage as Usage
    from untilgreen.core.model import Verdict as Verdict
    from untilgreen.core.progress import progress as progress
    from untilgreen.core.rules import Detector as Detector
    from untilgreen.core.rules import Signal as Signal
    from untilgreen.core.rules import Strategy as Strategy
    from untilgreen.core.state import Iteration as Iteration
    from untilgreen.core.state import RunState as RunState
    from untilgreen.core.strategies.adaptive import Adaptive as Adaptive
    from untilgreen.core.strategies.fixed import Fixed as Fixed
    from untilgreen.core.strategies.hybrid import Hybrid as Hybrid
    from untilgreen.core.strategies.manual import Manual as Manual
    from untilgreen.core.strategies.ralph import Ralph as Ralph
    from untilgreen.engine.api import resuming as resuming
    from untilgreen.engine.api import run as run
    from untilgreen.engine.api import run_sync as run_sync
    from untilgreen.engine.api import running as running
    from untilgreen.engine.handle import Handle as Handle
    from untilgreen.errors import UntilgreenError as UntilgreenError
    from untilgreen.ports import Activity as Activity
    from untilgreen.ports import Agent as Agent
    from untilgreen.ports import Desk as Desk
    from untilgreen.ports import Gate as Gate
    from untilgreen.ports import Site as Site

__version__ = "0.1.0.dev0"

_HOMES = {
    "untilgreen.core.brief": ("Brief",),
    "untilgreen.core.decision": ("Ask", "Continue", "Decision", "Finish"),
    "untilgreen.core.events": ("RunFinished",),
    "untilgreen.core.limits": ("Limits",),
    "untilgreen.core.model": ("Finding", "Outcome", "Reply", "Usage", "Verdict"),
    "untilgreen.core.progress": ("progress",),
    "untilgreen.core.rules": ("Detector", "Signal", "Strategy"),
    "untilgreen.core.state": ("Iteration", "RunState"),
    "untilgreen.core.strategies.adaptive": ("Adaptive",),
    "untilgreen.core.strategies.fixed": ("Fixed",),
    "untilgreen.core.strategies.hybrid": ("Hybrid",),
    "untilgreen.core.strategies.manual": ("Manual",),
    "untilgreen.core.strategies.ralph": ("Ralph",),
    "untilgreen.engine.api": ("resuming", "run", "run_sync", "running"),
    "untilgreen.engine.handle": ("Handle",),
    "untilgreen.errors": ("UntilgreenError",),
    "untilgreen.ports": ("Activity", "Agent", "Desk", "Gate", "Site"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF, "__version__"]  # noqa: PLE0604 - every name is a string


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `untilgreen --version` stays quick."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'untilgreen' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)
