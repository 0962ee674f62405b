"""Attacks that once worked, each with the tests that try it and the defences against it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec


class Break(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One attack, the tests that show that it fails, and the defences that stop it."""

    attack: str
    tests: tuple[str, ...]
    defences: tuple[str, ...]


def breaks() -> Iterator[Break]:
    """All attacks, in the order in which they were found."""
    text = Path(__file__).with_name("breaks.toml").read_text(encoding="utf-8")
    yield from msgspec.convert(tomllib.loads(text)["break"], list[Break])
