"""A strategy whose names collide with those of other plugins."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen import Decision, Finish, Outcome, RunState, Signal


class Hasty:
    """Gives up at once."""

    def decide(self, state: RunState, signals: Sequence[Signal]) -> Decision:
        return Finish(outcome=Outcome.EXHAUSTED, reason="one lap was enough")
