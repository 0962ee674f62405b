"""The limit on laps and the strategy's own maximum: set together by `--max-iterations`, lifted together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from untilgreen.config.sources.from_text import toml_value
from untilgreen.config.sources.layers import Layers, Source
from untilgreen.config.spec.schema import STRATEGY
from untilgreen.core.strategies.hybrid import BASE_LAPS
from untilgreen.core.values.units import UNLIMITED, count
from untilgreen.errors import ConfigError

CEILINGS = {"fixed": "iterations", "ralph": "max", "hybrid": "bonus"}
"""The option with a strategy's own maximum; hybrid keeps its base laps and gets the rest as bonus laps."""
LIMIT = ("limits", "iterations")


def add_ceiling(layers: Layers, written: str, *, spared: Collection[Source]) -> None:
    """Set both, except for values from the `spared` sources; `unlimited` is checked with the limits."""
    source, most = Source("--max-iterations"), toml_value(written)

    def put(path: tuple[str, ...], value: Any) -> None:
        if layers.sources.get(path) not in spared:
            layers.set(path, value, source)

    put(LIMIT, most)
    laps = _laps(most)
    name, options = _strategy(layers)
    if laps is None:
        return
    if name in CEILINGS and name != "hybrid":
        put(("strategy", CEILINGS[name]), laps)
    elif name == "hybrid":
        base = options.get("base", BASE_LAPS)
        if not isinstance(base, int):
            return
        if base > laps:
            put(("strategy", "base"), laps)
        put(("strategy", "bonus"), max(0, laps - base))


def lift_ceiling(layers: Layers) -> None:
    """An unlimited number of laps lifts the strategy's own maximum, too, unless somebody set that."""
    limits = layers.values.get("limits")
    written = limits.get("iterations") if isinstance(limits, dict) else None
    name, options = _strategy(layers)
    if not isinstance(written, str) or written.strip().lower() != UNLIMITED or name not in CEILINGS:
        return
    if CEILINGS[name] not in options:
        source = layers.source(LIMIT) or Source("limits.iterations")
        layers.set(("strategy", CEILINGS[name]), UNLIMITED, source)


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
