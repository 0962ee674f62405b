"""What was learned from your own runs, in words."""

from __future__ import annotations

from collections.abc import Sequence

from untilgreen.core.learning.track_record import FEWEST_RUNS
from untilgreen.core.values.units import several
from untilgreen.surfaces.backtest.detector_tables import percent, table
from untilgreen.surfaces.json.lines import PastRuns
from untilgreen.surfaces.learning.gathering import LessonLine, RateLine
from untilgreen.surfaces.text.safe_text import inert

_NOTHING = "No run is over yet, so nothing has been learned yet. adaptive decides like hybrid until then."
FEW = 10
"""A rate from fewer runs says little."""


def lessons(found: Sequence[LessonLine], kept_in: str) -> list[str]:
    """A paragraph for each agent, and where the numbers are."""
    if not found:
        return [_NOTHING]
    said = [line for each in found for line in (*_lesson(each), "")]
    return [*said, f"The numbers are in {inert(kept_in)}. Forget them with `untilgreen learn --forget`."]


def _lesson(line: LessonLine) -> list[str]:
    own, again = line.own, line.replay
    state = "active" if own.active else "not active, so adaptive decides like hybrid"
    said = [
        f"{inert(line.agent)}: {state}",
        f"  why       {own.why}",
        f"  learned    from {several(own.runs, 'run')} and {several(own.laps, 'lap')} followed by another: "
        f"intercept {own.intercept:+.2f}, slope {own.slope:.2f} on prior {line.prior}",
    ]
    if again is not None and line.worth_laps is not None:
        said.append(
            f"  replay    {again.gain:+.2f} laps a run against hybrid{_between(again.interval)}, "
            f"where a green run is worth {line.worth_laps:.0f} laps"
        )
        said.append(
            f"            kept {several(again.kept, 'success', 'successes')} "
            f"(hybrid {again.kept_by_hybrid:,}), "
            f"saved {several(again.saved, 'lap')} (hybrid {again.saved_by_hybrid:,})"
        )
    if line.calibration:
        pairs = ", ".join(
            f"{percent(each.said)}/{percent(each.was)} ({each.laps:,})" for each in line.calibration
        )
        said.append(f"  said/was  {pairs}")
    if (
        own.runs >= FEWEST_RUNS
        and again is not None
        and again.interval
        and again.interval[0] < 0 < again.interval[1]
    ):
        said.append("            The interval includes 0: whether it helps is not certain yet.")
    return said


def _between(bounds: tuple[float, float] | None) -> str:
    return f" [{bounds[0]:+.2f}, {bounds[1]:+.2f}]" if bounds else ""


def past(found: PastRuns) -> str:
    """A sentence for `plan`."""
    where = "here" if found.here else "elsewhere"
    if found.half_green_by is None:
        said = f"of {several(found.runs, 'such run')} {where}, none was green"
    else:
        laps = (
            f"half of them by lap {found.half_green_by}"
            if found.green > 1
            else f"by lap {found.half_green_by}"
        )
        said = f"of {several(found.runs, 'such run')} {where}, {found.green:,} were green, {laps}"
        said = said if found.green != 1 else said.replace("1 were", "1 was")
    cost = f"; a lap cost {_dollars(found.lap_cost)}" if found.lap_cost is not None else ""
    few = "; too few to say much" if found.runs < FEW else ""
    return f"{said}{cost}{few}"


def rates(found: Sequence[RateLine]) -> list[str]:
    """A table of all agents, the most certain first, and its caveats."""
    if not found:
        return [_NOTHING]
    rows = [["agent", "runs", "green", "95 %", "half green by", "a lap costs", "a green run costs"]]
    for each in found:
        bounds = f"{percent(each.interval[0])} – {percent(each.interval[1])}" if each.interval else "-"
        rows.append(
            [
                inert(each.agent),
                f"{each.runs:,}",
                f"{each.green:,}",
                bounds,
                f"lap {each.half_green_by}" if each.half_green_by else "-",
                _dollars(each.lap_cost),
                _dollars(each.green_cost),
            ]
        )
    said = table(rows)
    few = [inert(each.agent) for each in found if each.runs < FEW]
    if few:
        said.append(f"Too few runs to say much: {', '.join(few)}.")
    if any(_overlap(one, other) for one in found for other in found if one is not other):
        said.append(
            "Where intervals overlap, the difference may be chance; agents may also have had different tasks."
        )
    return said


def _overlap(one: RateLine, other: RateLine) -> bool:
    if one.interval is None or other.interval is None:
        return False
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]


def _dollars(amount: float | None) -> str:
    return f"${amount:.2f}" if amount is not None else "-"
