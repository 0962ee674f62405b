"""`go test -json`: one event a line, each with its package and test."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from untilgreen.gates.recognise.gotest_account import Account
from untilgreen.gates.recognise.shape import placed
from untilgreen.gates.seen import Seen

_PLACE = re.compile(r"\s{0,40}([^\s:]{1,300}\.go):(\d{1,7})(?::\d{1,5})?: (\S.*)$")
_WORDS = {"pass": "PASS", "fail": "FAIL", "skip": "SKIP"}
_TROUBLE = ("panic: ", "fatal error: ", "WARNING: DATA RACE")


class _Event(Struct, frozen=True):
    Action: str
    Package: str = ""
    ImportPath: str = ""
    Test: str = ""
    Output: str = ""


_DECODER = Decoder(_Event)


def read(lines: Sequence[str]) -> Seen | None:
    """What the events say; None where there are none."""
    account = Account(verbose=True)
    said: dict[tuple[str, str], str] = {}
    trouble: dict[str, str] = {}
    empty: set[str] = set()
    for line in lines:
        event = _event(line)
        if event is None:
            continue
        if event.Action in ("output", "build-output"):
            _output(event, account, said, trouble, empty)
        elif (word := _WORDS.get(event.Action)) is None:
            continue
        elif event.Test:
            account.test(event.Package, event.Test, word, said.get((event.Package, event.Test), ""))
        elif event.Package:
            _package(event.Package, word, account, trouble, empty)
    return account.seen() if account.known else None


def _event(line: str) -> _Event | None:
    if not line.startswith('{"') or '"Action":"' not in line:
        return None
    try:
        return _DECODER.decode(line)
    except (DecodeError, RecursionError):
        return None


def _output(
    event: _Event,
    account: Account,
    said: dict[tuple[str, str], str],
    trouble: dict[str, str],
    empty: set[str],
) -> None:
    text = event.Output.strip()
    place = _PLACE.match(text)
    if event.Action == "build-output":
        if place is not None:
            account.broken(event.ImportPath.partition(" ")[0], placed(place[1], int(place[2]), place[3]))
    elif text.startswith(_TROUBLE):
        trouble.setdefault(event.Package, text)
        said.setdefault((event.Package, event.Test), text)
    elif place is not None and event.Test:
        said.setdefault((event.Package, event.Test), text)
    elif "failed]" in text and text.startswith("FAIL\t"):
        trouble.setdefault(event.Package, text[text.index("[") :])
    elif text.endswith(("[no test files]", "[no tests to run]")):
        empty.add(event.Package)


def _package(name: str, word: str, account: Account, trouble: dict[str, str], empty: set[str]) -> None:
    if name in empty or word == "SKIP":
        account.package(name, "?", "", "")
    else:
        account.package(name, "ok" if word == "PASS" else "FAIL", "", trouble.get(name, ""))
