"""The laws of every strategy and every detector; each fails with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from untilgreen.core.loop.decide import Policy
from untilgreen.core.values.decision import Ask, Continue, Decision, Finish
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.rules import Detector, Settles, Signal, Strategy
from untilgreen.core.values.state import RunState
from untilgreen.errors import PluginFailed
from untilgreen.testing.stories import Play

STORIES = (
    "a -",
    "abc ab a -",
    "a",
    "a=",
    "a b",
    "ab a ab a",
    "abc abd abe abf",
    "!",
    "a! a! -",
    "?",
    "-",
    "a* a* -*",
    "abcd abc ab= a! b? c* d= -*",
    "ab ba cd dc ef fe gh hg ij",
)
_MOST_LAPS = 8
_CEILING = Limits(iterations=_MOST_LAPS, errors=4)


def strategy_laws(strategy: Strategy) -> None:
    """Same state, same answer; an answer everywhere; bounded; not asked when green; safe to interrupt."""
    for played, remedies in product(STORIES, ((), ("hint", "fresh", "best", "ask"))):
        watched = _Watched(strategy)
        try:
            states = [state for state, _ in _play(played, watched, remedies).start()]
            _check_the_end(strategy, played, states[-1])
            if "!" not in played:
                _check_crashes(watched, played, remedies, states)
        except PluginFailed as error:
            raise AssertionError(f"{type(strategy).__name__} failed in {played!r}: {error}") from error


def detector_laws(detector: Detector) -> None:
    """Same state, same signal; laps that exist; evidence in words; silent before the first lap."""
    name = type(detector).__name__
    for played in STORIES:
        for state, _ in _play(played, _Patient(), ()).start():
            signal, again = detector.detect(state), detector.detect(state)
            assert signal == again, f"{name} saw {signal} and then {again} in one state of {played!r}."
            if signal is None:
                continue
            laps = {lap.number for lap in state.laps}
            assert set(signal.laps) <= laps, f"{name} names laps {signal.laps} of {sorted(laps)}."
            assert signal.laps, f"{name} names no lap that shows what it saw."
            assert signal.evidence.strip(), f"{name} gives no evidence."


class _Watched:
    """Wraps a strategy: asks it everything twice, and fails if it is asked when all gates are green."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """The strategy's own answer, checked."""
        name = type(self.strategy).__name__
        assert state.laps, f"{name} was asked before the first lap."
        assert not state.laps[-1].green, f"{name} was asked though all gates are green."
        answer, again = (self.strategy.decide(state, signals) for _ in range(2))
        assert answer == again, f"{name} answered {answer} and then {again} to the same state."
        assert isinstance(answer, Continue | Finish | Ask), (
            f"{name} answered {answer!r}, which is not a decision."
        )
        assert 0.0 <= answer.confidence <= 1.0, f"{name} has a confidence of {answer.confidence}."
        if not isinstance(answer, Ask):
            assert answer.reason.strip(), f"{name} gives no reason."
        return answer

    def settle(self, state: RunState, finish: Finish) -> Finish:
        """Passed through to a strategy that has this method."""
        return self.strategy.settle(state, finish) if isinstance(self.strategy, Settles) else finish


class _Patient:
    """Never gives up by itself, so that a detector sees as many laps as the limits allow."""

    def decide(self, state: RunState, signals: tuple[Signal, ...]) -> Decision:
        """Continue."""
        return Continue(reason="for the detector's sake")


def _play(played: str, strategy: Strategy | _Watched, remedies: Sequence[str]) -> Play:
    """A play with the plan and the detectors that the strategy itself asks for, even if it is wrapped."""
    inner = strategy.strategy if isinstance(strategy, _Watched) else strategy
    play = Play(played, inner, limits=_CEILING, remedies=remedies, promise="DONE" if "*" in played else None)
    play.policy = Policy(strategy=strategy, detectors=play.policy.detectors)
    return play


def _check_the_end(strategy: Strategy, played: str, end: RunState) -> None:
    name, laps = type(strategy).__name__, _laps(end)
    assert end.outcome is not None, f"{name} never ends {played!r}."
    assert laps <= _MOST_LAPS, f"{name} used {laps} of {_MOST_LAPS} laps in {played!r}."


def _check_crashes(
    strategy: _Watched, played: str, remedies: Sequence[str], states: Sequence[RunState]
) -> None:
    """Die after any event, come back, and end the same way; only the failure count may differ."""
    name, whole = type(strategy.strategy).__name__, states[-1]
    for cut, before in enumerate(states, 1):
        if before.outcome is not None:
            return
        *_, (broken, _) = _play(played, strategy, remedies).go_on(before)
        assert (broken.outcome, _laps(broken)) == (whole.outcome, _laps(whole)), (
            f"{name} ends {played!r} as {broken.outcome} in {_laps(broken)} laps after a crash at event "
            f"{cut}, and as {whole.outcome} in {_laps(whole)} without."
        )


def _laps(state: RunState) -> int:
    return len(state.laps)
