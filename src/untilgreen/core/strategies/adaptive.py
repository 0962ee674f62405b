"""Continues while another lap is worth its price, based on your own runs.

The estimate is in `core/learning`. Its numbers are put into the plan when a run starts, so every decision can
be replayed. Until you have enough runs of your own, `hybrid` decides.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from untilgreen.core.learning.estimate import Chance, OwnEstimate, Prior, chance, pays
from untilgreen.core.learning.features import Features, features
from untilgreen.core.learning.track_record import FEWEST_RUNS, FIRST_STOP
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.decision import Ask, Continue, Decision, Finish
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.option_checks import about, check_options
from untilgreen.core.values.rules import Signal, give_up, stuck
from untilgreen.core.values.state import RunState
from untilgreen.core.values.units import money, several

WORTH = 50.0
"""What a success is worth in laps, by default."""
OFTEN = 0.1
"""The chance above which a first stuck signal is only a warning: five times the default price of a lap.

On recorded runs this saved a 2025 agent three of four false stops at a price of eight laps, and cost
weak agents nothing.
"""
_SAME = 0.95
_NOTHING_LEARNED = "nothing has been learned about this agent yet"


class Adaptive(Struct, frozen=True, kw_only=True):
    """Compares the chance that the next lap is green, learned from your own runs, with what a lap costs.

    `worth` is what a green run is worth: a number of laps, or an amount of money such as "$20", which is then
    compared with the mean price of a lap. A share of the runs (`explore`) continues where the estimate says
    stop, for as long as `hybrid` would; otherwise nobody would notice when it is wrong.
    """

    worth: Annotated[
        Annotated[float, Meta(ge=1)] | str,
        about('What a green run is worth: a number of laps, or money such as "$20".'),
    ] = WORTH
    explore: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        about("The share of runs that continue where the estimate says stop, to see whether it is right."),
    ] = 0.1
    prior: Annotated[Prior | None, about("The shared part of the estimate; set when a run begins.")] = None
    own: Annotated[
        dict[str, OwnEstimate], about("What your own runs taught, by agent; set when a run begins.")
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)
        if isinstance(self.worth, str):
            money(self.worth, "adaptive: worth")

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Compare the estimate with the price, and say both in words."""
        own = self.own.get(state.laps[-1].agent or state.agent)
        if ending := give_up(signals):
            return self._one_lap_more(state, own, ending) or ending
        if self.prior is None or own is None or not own.active:
            why = own.why if own is not None and own.why else _NOTHING_LEARNED
            return _by_hybrid(state, signals, why)
        seen = features(state.laps)
        likely = chance(own, self.prior.logit(seen))
        price, worth = self._price(state)
        source = f"{_reasons(seen)}from {several(own.runs, 'run')} of yours and the shared prior"
        said = f"{_in_words(likely)} ({source})"
        known = {"chance": round(likely.mean, 4), "best": round(likely.best, 4), "price": round(price, 4)}
        ended = isinstance(Hybrid().decide(state, signals), Finish)
        if pays(likely, price, hybrid_stops=ended) or len(state.laps) < FIRST_STOP:
            return Continue(reason=f"{said}; {worth}: one more lap", confidence=0.6, metadata=known)
        if not ended and explores(state.run, self.explore):
            return Continue(
                reason=f"{said}; {worth}: it would have stopped here, but this is one of the "
                f"{_in_100(self.explore)} in 100 runs that continue, as long as hybrid would, to see whether "
                "that is right",
                confidence=0.5,
                metadata={**known, "would_have_stopped": True},
            )
        return Finish(
            outcome=Outcome.EXHAUSTED,
            reason=f"not worth another lap: {said}; {worth}",
            confidence=round(1 - likely.best, 2),
            metadata=known,
        )

    def _one_lap_more(self, state: RunState, own: OwnEstimate | None, ending: Finish) -> Continue | None:
        """A first stuck signal only warns an agent that is often green in the next lap."""
        warned = any(stuck(lap.signals) for lap in state.laps[-2:-1])
        if self.prior is None or own is None or own.runs < FEWEST_RUNS or warned:
            return None
        likely = chance(own, self.prior.logit(features(state.laps)))
        if likely.best < OFTEN:
            return None
        return Continue(
            reason=f"{ending.reason}; but {_in_words(likely)}, from {several(own.runs, 'run')} of yours: "
            "one more lap before it counts as stuck",
            confidence=0.5,
            metadata={"best": round(likely.best, 4), "warned": True},
        )

    def _price(self, state: RunState) -> tuple[float, str]:
        """The chance above which a lap pays off, and the same in words; 0 if no cost is known."""
        if not isinstance(self.worth, str):
            return 1 / self.worth, f"worth it at {_in_100(1 / self.worth)} in 100 or more"
        costs = [lap.cost for lap in state.laps if lap.cost is not None]
        if not costs:
            return 0.0, "what a lap costs is unknown"
        lap, worth = sum(costs) / len(costs), money(self.worth, "adaptive: worth")
        from_here = f"worth it at {_in_100(lap / worth)} in 100 or more"
        said = f"at ${lap:.2f} a lap and ${worth:.2f} for green, {from_here}"
        return lap / worth, said


def explores(run: str, share: float) -> bool:
    """Whether this run continues where others stop: decided by its id, so a replay gives the same answer."""
    drawn = int.from_bytes(blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return drawn < share * 2**64


def _by_hybrid(state: RunState, signals: tuple[Signal, ...], why: str) -> Decision:
    decision = Hybrid().decide(state, signals)
    assert not isinstance(decision, Ask)  # hybrid asks nobody
    return replace(decision, reason=f"{decision.reason}; hybrid decides, not the estimate: {why}")


def _in_words(likely: Chance) -> str:
    mean, best = _in_100(likely.mean), _in_100(likely.best)
    return f"a chance of about {mean} in 100 that the next lap is green, {best} at best"


def _in_100(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.0095 or share == 0 else f"{100 * share:.1g}"


def _reasons(seen: Features) -> str:
    """The properties of the laps behind the estimate, if they are worth mentioning."""
    if seen.moves:
        times = f"{int(seen.moves) + 1} times" if seen.moves > 1 else "twice"
        return f"the same reply and outcome {times}; "
    alike = [what for what, value in (("reply", seen.reply), ("outcome", seen.outcome)) if value >= _SAME]
    return f"the same {' and '.join(alike)} as shortly before; " if alike else ""
