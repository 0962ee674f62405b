"""Turns the gates' commands into rules that permit exactly those commands."""

from __future__ import annotations

from collections.abc import Iterable

from untilgreen.regex import regex

_JOINTS = regex(r"\s*(?:&&|\|\||;|\||\n)\s*")
_QUOTED = regex(r"['\"\\`$(]")


def simple_commands(commands: Iterable[str]) -> list[str]:
    """Each command as a whole, and the parts of a chain, since agents check every part separately.

    A command with quotes or substitutions is not split: an operator in quotes is not one.
    """
    found: dict[str, None] = {}
    for command in commands:
        whole = command.strip()
        parts = [whole] if _QUOTED.search(whole) else _JOINTS.split(whole)
        found.update(dict.fromkeys(part for part in (whole, *parts) if part))
    return list(found)
