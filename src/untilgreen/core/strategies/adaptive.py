"""Going on for as long as another lap is worth its price."""

from __future__ import annotations

from itertools import pairwise

from msgspec import Struct

from untilgreen.core.decision import Continue, Decision, Finish
from untilgreen.core.model import Outcome
from untilgreen.core.options import at_least, share
from untilgreen.core.rules import Signal, give_up
from untilgreen.core.state import RunState
from untilgreen.core.units import money

LOOK_BACK = 40
"""Laps beyond which evidence has faded away."""
LOWERED = 0.7
"""What nudges leave of the estimate; several about one lap tell the same news."""


class Adaptive(Struct, frozen=True, kw_only=True):
    """A fading estimate that another lap removes a complaint, against what a lap costs.

    `worth` is what removing one complaint is worth: so many laps, or an amount of money such as "$3",
    which is then compared with the mean price of a lap. `memory` is how much of a lap's evidence is left
    one lap later.
    """

    worth: float | str = 8.0
    memory: float = 0.9

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        share(self, "memory")
        if isinstance(self.worth, str):
            money(self.worth, "adaptive: worth")
        else:
            at_least(self, 1, "worth")

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Compare the estimate with the price, and say both in words."""
        if ending := give_up(signals):
            return ending
        chance = self._chance(state) * LOWERED ** any(signal.strength == "nudge" for signal in signals)
        price, priced = self._price(state)
        known = {"chance": round(chance, 4), "price": round(price, 4)}
        said = f"about {chance:.0%} that another lap removes a complaint, {priced}"
        if chance < price:
            return Finish(
                outcome=Outcome.EXHAUSTED,
                reason=f"not worth another lap: {said}",
                confidence=0.7,
                metadata=known,
            )
        return Continue(reason=f"worth another lap: {said}", confidence=0.6, metadata=known)

    def _chance(self, state: RunState) -> float:
        """The mean of a Beta distribution that starts even and forgets."""
        removed = kept = 0.0
        laps = state.iterations[-LOOK_BACK:]
        for before, lap in pairwise(laps):
            removed, kept = removed * self.memory, kept * self.memory
            if lap.count < before.count or lap.score > before.score:
                removed += 1
            else:
                kept += 1
        return (1 + removed) / (2 + removed + kept)

    def _price(self, state: RunState) -> tuple[float, str]:
        """The chance from which on a lap pays, and how that was reckoned."""
        if not isinstance(self.worth, str):
            return 1 / self.worth, f"a removed one is worth {self.worth:g} laps"
        worth = money(self.worth, "adaptive: worth")
        laps = state.iterations[-LOOK_BACK:]
        mean = sum(lap.cost for lap in laps) / len(laps)
        return mean / worth, f"a lap costs ${mean:.2f} and a removed one is worth ${worth:.2f}"
