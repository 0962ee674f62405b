"""The gates' commands, as rules that let an agent run them, and them only."""

from __future__ import annotations

import re
from collections.abc import Iterable

_JOINTS = re.compile(r"\s*(?:&&|\|\||;|\||\n)\s*")
_QUOTED = re.compile(r"['\"\\`$(]")


def simple_commands(commands: Iterable[str]) -> list[str]:
    """Each command as a whole, and its parts where it is a chain; agents look at every part by itself.

    One with quotes or substitutions is not taken apart: a joint inside of them is none.
    """
    found: dict[str, None] = {}
    for command in commands:
        whole = command.strip()
        parts = [whole] if _QUOTED.search(whole) else _JOINTS.split(whole)
        found.update(dict.fromkeys(part for part in (whole, *parts) if part))
    return list(found)
