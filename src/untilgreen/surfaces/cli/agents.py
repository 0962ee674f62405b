"""Which agents there are on this machine, as far as adapters say what they start."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from untilgreen.plugins.kinds import BUILT_IN
from untilgreen.plugins.places import from_module


class Known(Struct, frozen=True, kw_only=True):
    """An adapter that says which program it starts, and how a person gets it."""

    name: str
    program: str
    path: str | None
    about: Any


def known() -> Iterator[Known]:
    """Every built-in adapter that starts a program of its own."""
    for name, target in BUILT_IN["agent"].items():
        module, _, attribute = target.partition(":")
        adapter = from_module(module, attribute, f"The agent {name!r}")
        program = getattr(adapter, "program", None)
        if isinstance(program, str):
            about = getattr(adapter, "about", None)
            yield Known(name=name, program=program, path=shutil.which(program), about=about)


def installed() -> list[str]:
    """The names of those whose program is there."""
    return [each.name for each in known() if each.path]
