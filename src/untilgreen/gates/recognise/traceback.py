"""A Python traceback in the middle of anything: the test it goes through, or what was raised where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.fingerprint import normalise
from untilgreen.core.model import Finding
from untilgreen.gates.seen import gist, steady

_BEGIN = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s{1,40}File "([^"]{1,1000})", line (\d{1,7}), in (\S{1,300})')
_SYNTAX = re.compile(r'\s{1,40}File "([^"]{1,1000})", line (\d{1,7})$')
_ERROR = re.compile(r"((?:[\w.]{0,200}\.)?[A-Z]\w{0,100}|KeyboardInterrupt)(?:: (.*))?$")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")


def tracebacks(lines: Sequence[str]) -> Iterator[Finding]:
    """One complaint for each traceback; of errors raised while handling each other, the last one."""
    frames: list[re.Match[str]] = []
    waiting: Finding | None = None
    inside = False
    for line in lines:
        if line.endswith(_BEGIN):
            inside, frames = True, []
        elif line.startswith(_CHAINED):
            waiting = None
        elif not inside:
            continue
        elif (frame := _FRAME.match(line) or _SYNTAX.match(line)) is not None:
            frames.append(frame)
        elif (error := _ERROR.match(line)) is not None:
            if waiting is not None:
                yield waiting
            waiting, inside = _finding(frames, error), False
    if waiting is not None:
        yield waiting


def _finding(frames: Sequence[re.Match[str]], error: re.Match[str]) -> Finding:
    """A test is known by its name, whatever it raises; anything else by what was raised and where."""
    said = gist(error[0])
    test = next((frame for frame in frames if frame.re is _FRAME and frame[3].startswith("test_")), None)
    if test is not None:
        name = f"{test[1]}: {test[3]}"
        return Finding(id=steady(name), message=said, file=test[1], line=int(test[2]))
    told = f"{error[1]}: {normalise(error[2] or '')}"
    if not frames:
        return Finding(id=steady(told), message=said)
    last = frames[-1]
    return Finding(id=steady(f"{last[1]}: {told}"), message=said, file=last[1], line=int(last[2]))
