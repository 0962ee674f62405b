"""`--max-iterations`: the limit and the strategy's own ceiling in one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from untilgreen.config.layers import Layers, Source
from untilgreen.config.schema import STRATEGY
from untilgreen.config.written import toml_value
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.units import count
from untilgreen.errors import ConfigError

CEILINGS = {"fixed": "iterations", "ralph": "max"}
"""The option with which a strategy bounds itself; hybrid keeps its base laps and fills up with bonus laps."""
LIMIT = ("limits", "iterations")


def add_ceiling(layers: Layers, written: str, *, spared: Collection[Source]) -> None:
    """What one of the `spared` sources has set alone stays; anything but a number is the limit's business."""
    source, most = Source("--max-iterations"), toml_value(written)

    def put(path: tuple[str, ...], value: Any) -> None:
        if layers.sources.get(path) not in spared:
            layers.set(path, value, source)

    put(LIMIT, most)
    laps = _laps(most)
    name, options = _strategy(layers)
    if laps is None:
        return
    if name in CEILINGS:
        put(("strategy", CEILINGS[name]), laps)
    elif name == "hybrid":
        base = options.get("base", Hybrid().base)
        if not isinstance(base, int):
            return
        if base > laps:
            put(("strategy", "base"), laps)
        put(("strategy", "bonus"), max(0, laps - base))


def _laps(most: Any) -> int | None:
    try:
        return count(most) if isinstance(most, int | str) else None
    except ConfigError:
        return None


def _strategy(layers: Layers) -> tuple[str, dict[str, Any]]:
    written = layers.values.get("strategy", STRATEGY)
    options = written if isinstance(written, dict) else {"use": written}
    name = options.get("use", STRATEGY)
    return name if isinstance(name, str) else "", options
