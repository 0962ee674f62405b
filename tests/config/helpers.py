"""Loads specs from text, each in a directory that is its own project."""

from pathlib import Path
from typing import Any

import pytest

from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.sources.layers import Layers, Source
from untilgreen.errors import ConfigError

TASK = "Make the tests pass"


def loaded(folder: Path, text: str | None = None, **asked: Any) -> Loaded:
    """Load the spec of a folder, which is made a repository so that the search ends there."""
    (folder / ".git").mkdir(exist_ok=True)
    if text is not None:
        (folder / "untilgreen.toml").write_text(text, encoding="utf-8")
    return load(Request(**{"start": folder, "task": TASK, **asked}))


def finding(folder: Path, text: str | None = None, **asked: Any) -> str:
    """The error message for a spec that can't be loaded."""
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text, **asked)
    return str(caught.value)


def layers_of(*tables: dict[str, Any]) -> Layers:
    """Tables as layers, each over the one before; their sources are called `layer 1` and so on."""
    layers = Layers()
    for number, table in enumerate(tables, 1):
        layers.add(table, Source(f"layer {number}"))
    return layers
