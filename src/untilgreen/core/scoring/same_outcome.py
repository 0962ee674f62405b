"""Whether two laps had the same outcome, by their findings or by the words of an output.

Some laps say too little to be compared: three commands that print nothing don't prove a cycle, and neither do
three short messages. An output that names findings, or that is some lines long, is evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from untilgreen.core.values.fingerprint import Count, counts, fingerprint, plain_numbers, similarity
from untilgreen.core.values.model import SILENT, Verdict
from untilgreen.core.values.signature import signature, signature_of_findings
from untilgreen.core.values.state import Lap
from untilgreen.regex import regex

ENOUGH = 10
"""Chunks of a sketch (about four words each) that an output without findings needs to be compared."""
SHORT = 4
"""Chunks that are enough if the outcome repeats once more."""
LONG = 32
"""Chunks that an output needs to count as alike without being the same."""
_LONGEST_BOILERPLATE = 2_000
_BOILERPLATE = regex(
    r"(?:stdout \(\d+ chars\)\s*)?(?:the file \S+ has been (?:updated|created|edited|written)"
    r"|file (?:created|updated|written|edited) successfully|wrote file successfully|edit applied successfully"
    r"|updated task #\d+|todos? (?:have been|list) |\(?bash completed with no output)",
    re.IGNORECASE,
)
RELATED = 0.05
"""Below this, two replies are unrelated, and so are their outputs."""


def comparable(lap: Lap, fewest: int = ENOUGH) -> bool:
    """Whether red gates said enough to compare this lap: findings, or at least `fewest` chunks of output."""
    return any(
        not _boilerplate(verdict) and (_named(verdict) or len(verdict.sketch) >= fewest)
        for verdict in _red(lap).values()
    )


def silent(lap: Lap) -> bool:
    """Whether no red gate said anything at all; then only files and replies are evidence."""
    return not any(_named(verdict) or verdict.excerpt.strip() for verdict in _red(lap).values())


def names_failures(lap: Lap) -> bool:
    """Whether a red gate said which things fail, not only that something does."""
    return any(_named(verdict) for verdict in _red(lap).values())


def says_nothing(lap: Lap) -> bool:
    """Whether all output is what an agent's own tools always print, such as "Wrote file"."""
    red = _red(lap).values()
    return bool(red) and all(_boilerplate(verdict) for verdict in red)


def _boilerplate(verdict: Verdict) -> bool:
    return len(verdict.excerpt) <= _LONGEST_BOILERPLATE and bool(_BOILERPLATE.match(verdict.excerpt.strip()))


def same(one: Lap, other: Lap, overlap: float) -> bool:
    """The same findings, or at least this share of them.

    If one lap has all findings of the other, twice as many may differ, unless it ran more tests as well: an
    agent that writes its tests first is not going in circles.
    """
    mine, yours = _said(one), _said(other)
    if mine == yours:
        return True
    shared = len(mine & yours)
    fewer, more = (one, other) if mine < yours else (other, one)
    if 0 < shared == min(len(mine), len(yours)) and _tests(more) <= _tests(fewer):
        overlap = 2 * overlap - 1
    return shared >= overlap * (len(mine) + len(yours) - shared)


def _tests(lap: Lap) -> int:
    return sum(tool.total for verdict in lap.verdicts.values() for tool in verdict.tools)


def getting_fewer(laps: Sequence[Lap]) -> bool:
    """Whether the output says that fewer and fewer things fail, as in "7 errors left", then 6, then 5."""
    told = [
        {(name, each.words): each for name, verdict in _red(lap).items() for each in counts(verdict.excerpt)}
        for lap in laps
    ]
    return any(
        _moving([each[key].number for each in told[:-1] if key in each], last)
        for key, last in (told[-1].items() if told else ())
    )


def _moving(before: Sequence[float], last: Count) -> bool:
    """Whether each number is below all before it; a share may also rise each time."""
    if not before:
        return False
    if last.falls:
        return last.number < min(before)
    line = [*before, last.number]
    return all(a < b for a, b in pairwise(line)) or all(a > b for a, b in pairwise(line))


def likeness(one: Lap, other: Lap) -> float:
    """How alike two outputs without findings are, from 0 to 1; 0 if anything else differs."""
    if not any(len(verdict.sketch) >= LONG for verdict in one.verdicts.values()):
        return 0.0
    mine, yours = _red(one), _red(other)
    if mine.keys() != yours.keys() or replies_alike(one, other) < RELATED:
        return 0.0
    return min((_alike(verdict, yours[name]) for name, verdict in mine.items()), default=0.0)


def replies_alike(one: Lap, other: Lap) -> float:
    """How alike two replies are, from 0 to 1."""
    if one.reply.digest and one.reply.digest == other.reply.digest:
        return 1.0
    return similarity(one.reply.sketch, other.reply.sketch) or 0.0


def _alike(one: Verdict, other: Verdict) -> float:
    if one.digest == other.digest:
        return 1.0
    if one.findings or other.findings or min(len(one.sketch), len(other.sketch)) < LONG:
        return 0.0
    if sorted(plain_numbers(one.excerpt)) != sorted(plain_numbers(other.excerpt)):
        return 0.0
    return similarity(one.sketch, other.sketch) or 0.0


def signature_of(lap: Lap) -> tuple[str, str]:
    """The lap's signature, in words and as a hash: of its findings, else its output, else its reply."""
    ids = [finding.id for verdict in _red(lap).values() for finding in verdict.findings]
    named = [each for each in ids if not each.startswith(SILENT)]
    if named:
        return signature_of_findings(named), fingerprint("\n".join(sorted(named)))
    told = next((verdict for verdict in _red(lap).values() if verdict.excerpt.strip()), None)
    if told is not None:
        return signature(told.excerpt), told.digest
    return signature(lap.reply.text), lap.reply.digest


def _named(verdict: Verdict) -> bool:
    return any(not finding.id.startswith(SILENT) for finding in verdict.findings)


def _said(lap: Lap) -> frozenset[str]:
    """What is failing, without commands that failed silently."""
    mute = {
        f"{name}: {finding.id}"
        for name, verdict in lap.verdicts.items()
        for finding in verdict.findings
        if finding.id.startswith(SILENT)
    }
    return lap.failing - mute if mute else lap.failing


def _red(lap: Lap) -> dict[str, Verdict]:
    """The verdicts behind `lap.failing`, which leaves out gates that are not required."""
    return {
        name: verdict for name, verdict in lap.verdicts.items() if _first_id(name, verdict) in lap.failing
    }


def _first_id(gate: str, verdict: Verdict) -> str:
    return f"{gate}: {verdict.findings[0].id}" if verdict.findings else f"{gate}: #{verdict.digest}"
