"""Whether the gates work in a clean room at all, tried before the first lap if that is cheap.

Otherwise a gate that can't work there would be found with the first green lap, after a night of work.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.scoring.gate_health import unrunnable
from untilgreen.core.values.model import Verdict
from untilgreen.core.values.units import show_duration
from untilgreen.gates.integrity.clean_room import differs, unable
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.gates.integrity.trial_rooms.trials import Trial, Trials, Verdicts, excerpt

CHEAP_SECONDS = 60.0
"""Gates that took longer on the untouched tree are tried with the first green lap."""
_EACH_SECONDS = 5.0
"""Gates that take longer are not run once for each file that they may need."""
_MOST_TRIED = 8


class EarlyTrial(Struct, frozen=True, kw_only=True):
    """The gates on the untouched tree in a clean room, compared with their verdicts in the workspace."""

    trials: Trials
    snapshot: str

    async def verdict(self) -> Verdict:
        """An error names what a gate needs; if all of them work, there is nothing to judge yet."""
        known = self.trials.context.baseline
        ran = {name: each for name, each in known.items() if each.status != "skip" and not unrunnable(each)}
        names = [spec.name for spec in self.trials.specs if spec.name in ran]
        seconds = sum(ran[name].duration for name in names)
        if not names or seconds >= CHEAP_SECONDS:
            return Verdict(status="skip", excerpt="The clean room is tried with the first green lap.")
        trial = await self._run("", names)
        other = await self._confirmed(trial) if (other := self._other(trial)) else other
        if not other:
            took = show_duration(trial.seconds)
            return Verdict(status="skip", excerpt=f"The gates work in the clean room ({took}).")
        needed = await self._needed(trial.room.left_out, list(other), seconds)
        findings = tuple(unable(name, each, trial.room, needed) for name, each in other.items())
        return Verdict(status="error", findings=findings, excerpt=excerpt(other))

    async def _run(self, more: str, only: Sequence[str], keep: Sequence[str] = ()) -> Trial:
        rooms = replace(self.trials.rooms, keep=(*self.trials.rooms.keep, *keep))
        title = f"on the untouched tree, in the clean room{more}"
        return await replace(self.trials, rooms=rooms).run(title, Contents(snapshot=self.snapshot), only=only)

    def _other(self, trial: Trial) -> Verdicts:
        """The gates whose verdict differs from that in the workspace."""
        known = self.trials.context.baseline
        return {name: each for name, each in trial.verdicts.items() if differs(known.get(name), each)}

    async def _confirmed(self, trial: Trial) -> Verdicts:
        """Run them once more: a flaky gate is not a gate that can't work."""
        again = await self._run(", again", list(self._other(trial)))
        return {
            name: each for name, each in self._other(again).items() if not differs(trial.verdicts[name], each)
        }

    async def _needed(self, left_out: Sequence[str], gates: Sequence[str], seconds: float) -> Sequence[str]:
        """The paths that gates need, found by trial: all that were left out, then one at a time."""
        if not left_out or self._other(await self._run(", with what was left out", gates, left_out)):
            return ()
        if seconds < _EACH_SECONDS and 1 < len(left_out) <= _MOST_TRIED:
            for path in left_out:
                if not self._other(await self._run(f", with {path}", gates, (path,))):
                    return (path,)
        return left_out
