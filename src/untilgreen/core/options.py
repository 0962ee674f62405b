"""Options that make no sense are refused when they are written, not when they bite."""

from __future__ import annotations

import math

from untilgreen.errors import ConfigError


def at_least(owner: object, least: float, *names: str) -> None:
    """Each of these options is a number from `least` on, or not given."""
    for name in names:
        value = getattr(owner, name)
        if value is not None and not (math.isfinite(value) and value >= least):
            raise _error(owner, name, value, f"at least {least:g}")


def share(owner: object, *names: str) -> None:
    """Each of these options is a share: above 0, at most 1."""
    for name in names:
        value = getattr(owner, name)
        if not 0 < value <= 1:
            raise _error(owner, name, value, "above 0 and at most 1")


def _error(owner: object, name: str, value: object, wanted: str) -> ConfigError:
    return ConfigError(f"{type(owner).__name__.lower()}: {name} = {value!r} must be {wanted}.")
