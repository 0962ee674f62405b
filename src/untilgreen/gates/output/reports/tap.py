"""TAP in a file, read line by line: memory stays bounded, whatever the file's size."""

from __future__ import annotations

import io
from typing import BinaryIO

from untilgreen.gates.output.parsers.tap import Account
from untilgreen.gates.output.plain_text import LONGEST_LINE, MakeRelative
from untilgreen.gates.output.tool_result import BadReport, ToolResult


def read(file: BinaryIO, make_relative: MakeRelative = str) -> ToolResult:
    """The points of one file; raises BadReport for anything but whole TAP in UTF-8."""
    account = Account()
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline=None)
    try:
        begins = True
        while line := text.readline(LONGEST_LINE):
            if begins:  # and not the rest of a line that was too long
                account.line(make_relative(line.rstrip()))
            begins = line.endswith("\n")
    except UnicodeDecodeError as error:
        raise BadReport("is not written in UTF-8. Let the tool write UTF-8.") from error
    finally:
        text.detach()
    if not account.is_one:
        raise BadReport("is not TAP: it has no plan or no tests. Let the command write TAP.")
    if not account.is_whole:
        raise BadReport("ends before everything that it planned has run. Let the command write all of it.")
    return account.seen()
