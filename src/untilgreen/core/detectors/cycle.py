"""Going in circles: repetition is a cycle of period one, ping-pong one of period two."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Annotated, Literal

from msgspec import Struct

from untilgreen.core.scoring.same_outcome import (
    SHORT,
    comparable,
    likeness,
    names_failures,
    same,
    says_nothing,
    silent,
)
from untilgreen.core.values.option_checks import FromOne, FromTwo, Share, about, check_options
from untilgreen.core.values.rules import Signal
from untilgreen.core.values.state import Lap, RunState

_SHOWN = 3
_LONGEST_LINE = 80
_MOVE = "the same answer and output"
_LOOK_BACK = 3
"""How many times the longest pattern to look back over, because laps without evidence are skipped."""

Laps = Sequence[Lap]
Like = Callable[[Lap, Lap], bool]


class Cycle(Struct, frozen=True, kw_only=True):
    """The last laps repeat, and nothing improved in between.

    The pattern must occur `repeats` times, in a period of up to `longest_period` laps. Failures are the same
    if at least the share `overlap` of them is; twice as many may differ if one lap has all failures of the
    other. Outputs without findings have to be `alike`, and need one more repetition. A run whose score is at
    least `near` gets one more lap.
    """

    repeats: Annotated[FromTwo, about("How many times the pattern must occur.")] = 3
    longest_period: Annotated[FromOne, about("The longest cycle to look for, in laps.")] = 3
    overlap: Annotated[Share, about("The share of failures two laps must share to count as the same.")] = 0.75
    alike: Annotated[Share, about("How alike outputs without findings must be, from 0 to 1.")] = 0.8
    near: Annotated[Share, about("Runs with at least this score get one more lap.")] = 0.9

    def __post_init__(self) -> None:
        """Refuse options that make no sense."""
        check_options(self)

    def detect(self, state: RunState) -> Signal | None:
        """The shortest cycle that ends with the last lap; a nudge while one round is missing."""
        if not state.laps or not state.laps[-1].evidence:
            return None
        most = _LOOK_BACK * self.repeats * self.longest_period
        laps = [lap for lap in state.laps[-most:] if lap.evidence]
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
                ("the same files", repeats, _same_tree),
                ("nearly the same output", rounds + 1, self._alike_again),
            )
            for what, times, like in tries:
                window = laps[-period * times :]
                if len(window) == period * times and _turns(window, period, like):
                    return _Found(what=what, laps=window, period=period, times=times)
            if period == 1 and (window := _same_moves(laps, repeats)):
                return _Found(what=_MOVE, laps=window, times=repeats)
        return None

    def _moves_in_turns(self, laps: Laps) -> _Found | None:
        """One round less is enough if answers repeat with their outcomes."""
        rounds = max(self.repeats - 1, 2)
        for period in range(2, self.longest_period + 1):
            window = laps[-rounds * period :]
            improved = any(lap.improved for lap in window[1:])
            if len(window) == rounds * period and not improved and _turns(window, period, _same_move):
                return _Found(what=_MOVE, laps=window, period=period, times=rounds)
        return None

    def _never_other(self, laps: Laps) -> _Found | None:
        """Earlier laps had no usable output, and every lap with output failed the same way.

        Near the goal it takes one more lap, unless the failures have names: words are weaker evidence.
        """
        close = laps[-1].score >= self.near and not names_failures(laps[-1])
        streak = laps[-max(self.repeats - 1, 2) - close :]
        if len(laps) < self.repeats or not _turns(streak, 1, self._alike):
            return None
        told = [lap for lap in laps if comparable(lap)]
        improved = any(lap.improved for lap in told[1:])
        if len(told) == len(laps):  # no lap was silent, so the ordinary rule decides
            return None
        if improved or not all(self._alike(lap, laps[-1]) for lap in told):
            return None
        return _Found(what="the same failures and no others so far", laps=told, times=len(told))

    def _same(self, one: Lap, other: Lap) -> bool:
        return same(one, other, self.overlap) and comparable(one) and comparable(other)

    def _alike(self, one: Lap, other: Lap) -> bool:
        return self._alike_again(one, other) and comparable(one) and comparable(other)

    def _alike_again(self, one: Lap, other: Lap) -> bool:
        """Has to repeat once more than failures do, so shorter outputs are evidence, too."""
        alike = same(one, other, self.overlap) or likeness(one, other) >= self.alike
        return alike and comparable(one, SHORT) and comparable(other, SHORT)


def tree(lap: Lap) -> Hashable:
    """The content of the workspace."""
    return lap.snapshot


def action_and_output(lap: Lap) -> Hashable:
    """What the agent said and what the gates found, without numbers, times, paths and ids."""
    answers = tuple(sorted((name, verdict.digest) for name, verdict in lap.verdicts.items()))
    return (lap.reply.digest, answers) if lap.reply.digest and answers else None


def _same_tree(one: Lap, other: Lap) -> bool:
    return tree(one) is not None and tree(one) == tree(other)


def _same_move(one: Lap, other: Lap) -> bool:
    """The same reply with the same outcome; if gates are silent, the files have to be the same, too."""
    move = action_and_output(one)
    if move is None or move != action_and_output(other):
        return False
    return (one.snapshot == other.snapshot or not silent(one)) and not says_nothing(one)


def _turns(window: Laps, period: int, like: Like) -> bool:
    """Each lap is like the one a period before it, and none of the later rounds improved anything."""
    later = range(len(window) - 1, period - 1, -1)
    return all(not window[place].improved and like(window[place - period], window[place]) for place in later)


def _same_moves(laps: Laps, repeats: int) -> Laps:
    """The last `repeats` laps said the same with the same outcome; one other lap may be between them."""
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
        turns = f" in a cycle of {self.period} laps" if self.period > 1 else ""
        what = self.what
        if len({lap.failing for lap in self.laps}) <= self.period:
            what = what.removeprefix("nearly ")
        elif "failures" in what:
            what = f"nearly {what}"
        return what + turns


def _signal(strength: Literal["nudge", "stuck"], found: _Found) -> Signal:
    named = ", then ".join(dict.fromkeys(map(_named, found.laps[-found.period :])))
    return Signal(
        kind="cycle",
        strength=strength,
        laps=tuple(lap.number for lap in found.laps),
        evidence=f"{found.pattern}, {found.times} times: {named}",
        advice=f"The last {len(found.laps)} laps repeated {found.pattern}: {named}.",
        confidence=0.9 if strength == "stuck" else 0.7,
    )


def _named(lap: Lap) -> str:
    failing = sorted(_findings(lap))
    more = f" and {len(failing) - _SHOWN} more" if failing[_SHOWN:] else ""
    return f"{', '.join(failing[:_SHOWN])}{more}" if failing else "no findings"


def _findings(lap: Lap) -> set[str]:
    """What is failing, in words: if there are no findings, the last line of the output."""
    bare = {f"{gate}: #{verdict.digest}": (gate, verdict.excerpt) for gate, verdict in lap.verdicts.items()}
    return {f"{bare[each][0]}: {_last_line(bare[each][1])}" if each in bare else each for each in lap.failing}


def _last_line(text: str) -> str:
    line = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
