"""Attacks that once broke something, each with the tests that show it and the defences behind it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec


class Break(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One attack, what shows that it is held, and what holds it."""

    attack: str
    tests: tuple[str, ...]
    defences: tuple[str, ...]


def breaks() -> Iterator[Break]:
    """All of them, in the order in which they were found."""
    text = Path(__file__).with_name("breaks.toml").read_text(encoding="utf-8")
    yield from msgspec.convert(tomllib.loads(text)["break"], list[Break])
