"""Going in circles: repetition is a cycle of period one, ping-pong one of period two."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

from msgspec import Struct

from untilgreen.core.detectors.outcome import comparable, likeness, same
from untilgreen.core.options import at_least, share
from untilgreen.core.rules import Signal
from untilgreen.core.state import Iteration, RunState

_SHOWN = 3
_LONGEST_LINE = 80
_MOVE = "the same answer and output"
_LOOK_BACK = 3
"""How many times the longest cycle is looked at, so that laps that are no evidence can be passed over."""

Laps = Sequence[Iteration]
Like = Callable[[Iteration, Iteration], bool]


class Cycle(Struct, frozen=True, kw_only=True):
    """The last laps repeat, and nothing improved meanwhile.

    `repeats` is how often the same has to come, in a period of up to `longest_period` laps. Failures are the
    same when this `overlap` of them is, outputs without findings when they are `alike` and come once more.
    A run whose score is `near` the top is given one more lap.
    """

    repeats: int = 3
    longest_period: int = 3
    overlap: float = 0.75
    alike: float = 0.8
    near: float = 0.9

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        at_least(self, 2, "repeats")
        at_least(self, 1, "longest_period")
        share(self, "overlap", "alike", "near")

    def detect(self, state: RunState) -> Signal | None:
        """The shortest cycle that stands after the last lap; a nudge where it lacks one round."""
        if not state.iterations or not state.iterations[-1].evidence:
            return None
        most = _LOOK_BACK * self.repeats * self.longest_period
        laps = [lap for lap in state.iterations[-most:] if lap.evidence]
        almost = self._repeated(laps, max(self.repeats - 1, 2))
        whole = self._repeated(laps, self.repeats) if almost else None
        if found := whole or self._moves_in_turns(laps) or self._never_other(laps):
            return _signal("stuck", found)
        return _signal("nudge", almost) if almost else None

    def _repeated(self, laps: Laps, repeats: int) -> _Found | None:
        """The same failures, files, or answers with their outcome, again and again."""
        close = laps[-1].score >= self.near
        for period in range(1, self.longest_period + 1):
            rounds = repeats + (close and period == 1)
            tries: tuple[tuple[str, int, Like], ...] = (
                ("the same failures", rounds, self._same),
                ("the same tree", repeats, _same_tree),
                ("output that is alike", rounds + 1, self._alike),
            )
            for what, times, like in tries:
                window = laps[-period * times :]
                if len(window) == period * times and _turns(window, period, like):
                    return _Found(what=what, laps=window, period=period, times=times)
            if period == 1 and (window := _same_moves(laps, repeats)):
                return _Found(what=_MOVE, laps=window, times=repeats)
        return None

    def _moves_in_turns(self, laps: Laps) -> _Found | None:
        """One round less is enough where answers repeat with their outcomes."""
        rounds = max(self.repeats - 1, 2)
        for period in range(2, self.longest_period + 1):
            window = laps[-rounds * period :]
            improved = any(lap.improved for lap in window[1:])
            if len(window) == rounds * period and not improved and _turns(window, period, _same_move):
                return _Found(what=_MOVE, laps=window, period=period, times=rounds)
        return None

    def _never_other(self, laps: Laps) -> _Found | None:
        """Laps that said too little lie before the last ones, and no lap ever came out otherwise."""
        streak = laps[-max(self.repeats - 1, 2) :]
        if len(laps) < self.repeats or not _turns(streak, 1, self._alike):
            return None
        told = [lap for lap in laps if comparable(lap)]
        improved = any(lap.improved for lap in told[1:])
        if improved or not all(self._alike(lap, laps[-1]) for lap in told):
            return None
        return _Found(what="the same failures and no others so far", laps=told, times=len(told))

    def _same(self, one: Iteration, other: Iteration) -> bool:
        return same(one, other, self.overlap) and comparable(one) and comparable(other)

    def _alike(self, one: Iteration, other: Iteration) -> bool:
        alike = same(one, other, self.overlap) or likeness(one, other) >= self.alike
        return alike and comparable(one) and comparable(other)


def tree(lap: Iteration) -> Hashable:
    """What the workspace holds."""
    return lap.snapshot


def action_and_output(lap: Iteration) -> Hashable:
    """What the agent said and what the gates answered, without numbers, times, paths and ids."""
    answers = tuple(sorted((name, verdict.digest) for name, verdict in lap.verdicts.items()))
    return (lap.reply.digest, answers) if lap.reply.digest and answers else None


def _same_tree(one: Iteration, other: Iteration) -> bool:
    return tree(one) is not None and tree(one) == tree(other)


def _same_move(one: Iteration, other: Iteration) -> bool:
    move = action_and_output(one)
    return move is not None and move == action_and_output(other)


def _turns(window: Laps, period: int, like: Like) -> bool:
    """Each lap is like the one a period before it, and none of the later rounds improved anything."""
    later = range(len(window) - 1, period - 1, -1)
    return all(not window[place].improved and like(window[place - period], window[place]) for place in later)


def _same_moves(laps: Laps, repeats: int) -> Laps:
    """So many of the last laps said the same with the same outcome; one other may lie between them."""
    window = [lap for lap in laps[-repeats - 1 :] if _same_move(lap, laps[-1])][-repeats:]
    if len(window) < repeats:
        return ()
    since = [lap for lap in laps[-repeats - 1 :] if lap.number > window[0].number]
    return () if any(lap.improved for lap in since) else window


class _Found(Struct, frozen=True, kw_only=True):
    """What repeats, in which laps, and how often."""

    what: str
    laps: Laps
    period: int = 1
    times: int

    @property
    def pattern(self) -> str:
        turns = f" in turns of {self.period}" if self.period > 1 else ""
        exact = len({lap.failing for lap in self.laps}) <= self.period
        return ("" if exact or "failures" not in self.what else "nearly ") + self.what + turns


def _signal(strength: Literal["nudge", "stuck"], found: _Found) -> Signal:
    failing = sorted(_complaints(found.laps[-1]))
    named = ", ".join(failing[:_SHOWN]) + (f" and {len(failing) - _SHOWN} more" if failing[_SHOWN:] else "")
    return Signal(
        kind="cycle",
        strength=strength,
        laps=tuple(lap.number for lap in found.laps),
        evidence=f"{found.pattern}, {found.times} times: {named or 'no findings'}",
        advice=f"The last {len(found.laps)} laps repeated {found.pattern}: {named or 'no findings'}.",
        confidence=0.9 if strength == "stuck" else 0.7,
    )


def _complaints(lap: Iteration) -> set[str]:
    """What is failing, in words: where there are no findings, the last line of the output."""
    bare = {f"{gate}: #{verdict.digest}": (gate, verdict.excerpt) for gate, verdict in lap.verdicts.items()}
    return {f"{bare[each][0]}: {_last_line(bare[each][1])}" if each in bare else each for each in lap.failing}


def _last_line(text: str) -> str:
    line = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
