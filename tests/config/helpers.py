"""Reading a spec from text, in a directory that is a project of its own."""

from pathlib import Path
from typing import Any

import pytest

from untilgreen.config.load import Loaded, Request, load
from untilgreen.config.sources.layers import Layers, Source
from untilgreen.errors import ConfigError

TASK = "Make the tests pass"


def loaded(folder: Path, text: str | None = None, **asked: Any) -> Loaded:
    """The spec of a folder; its repository keeps the search from leaving it."""
    (folder / ".git").mkdir(exist_ok=True)
    if text is not None:
        (folder / "untilgreen.toml").write_text(text, encoding="utf-8")
    return load(Request(**{"start": folder, "task": TASK, **asked}))


def finding(folder: Path, text: str | None = None, **asked: Any) -> str:
    """What the person at the terminal reads."""
    with pytest.raises(ConfigError) as caught:
        loaded(folder, text, **asked)
    return str(caught.value)


def layers_of(*tables: dict[str, Any]) -> Layers:
    """Tables laid over each other, the first below; their sources are called `layer 1` and so on."""
    layers = Layers()
    for number, table in enumerate(tables, 1):
        layers.add(table, Source(f"layer {number}"))
    return layers
