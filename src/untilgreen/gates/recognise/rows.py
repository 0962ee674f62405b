"""A file on a line of its own, and below it rows of `3:4  ✖  message`, as many linters print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.shape import placed

_FILE = re.compile(r"(?:[A-Za-z]:)?[^\s:][^:]{0,500}\.\w{1,20}$")
_ROW = re.compile(r" {1,12}(\d{1,7}):\d{1,7} {1,12}(✖|×|⚠|‼|error|warning|info)[: ] {0,12}(\S.*)$")
_BAD = frozenset({"✖", "×", "error"})


def listed(lines: Sequence[str]) -> Iterator[tuple[str, Finding]]:
    """Each row with its level."""
    file = ""
    for line in lines:
        if not line:
            continue
        if line[0] != " ":
            file = line if _FILE.match(line) else ""
        elif file and (row := _ROW.match(line)) is not None:
            level = "error" if row[2] in _BAD else "warning"
            yield level, placed(file, int(row[1]), " ".join(row[3].split()))
