"""TAP in a file, read line by line: what an agent's process wrote must not cost more than its size."""

from __future__ import annotations

import io
from typing import BinaryIO

from untilgreen.gates.recognise.tap import Account
from untilgreen.gates.reports.trouble import Unusable
from untilgreen.gates.seen import Seen
from untilgreen.gates.text import LONGEST_LINE, Here


def read(file: BinaryIO, here: Here = str) -> Seen:
    """The points of one file; raises Unusable for anything but whole TAP in UTF-8."""
    account = Account()
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline=None)
    try:
        begins = True
        while line := text.readline(LONGEST_LINE):
            if begins:  # and not the rest of a line that was too long
                account.line(here(line.rstrip()))
            begins = line.endswith("\n")
    except UnicodeDecodeError as error:
        raise Unusable("is not written in UTF-8. Let the tool write UTF-8.") from error
    finally:
        text.detach()
    if not account.is_one:
        raise Unusable("is no TAP: it has no plan or no tests. Let the command write TAP.")
    if not account.is_whole:
        raise Unusable("ends before everything that it planned has run. Let the command write all of it.")
    return account.seen()
