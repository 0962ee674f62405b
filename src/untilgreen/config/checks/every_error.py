"""Collects all errors in a spec: a check stops at its first error, so it runs again without that key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter

from untilgreen.config.sources.layers import Layers
from untilgreen.errors import ConfigError, UserError

MOST = 20
"""The most errors to show at once."""
_DECIDING = ("use", "kind", "mode")
"""Keys that determine what the other keys of their table mean."""


def every_error(layers: Layers, check: Callable[[Layers], None]) -> tuple[list[UserError], Layers | None]:
    """All errors of a check, found by running it again without each wrong key; and the valid rest."""
    found: list[ConfigError] = []
    while len(found) < MOST:
        try:
            check(layers)
        except ConfigError as error:
            if not any(each.key[: len(error.key)] == error.key for each in found):
                found.append(error)  # otherwise it may result from the key that was left out
            key = error.key[:-1] if error.key[1:] and error.key[-1] in _DECIDING else error.key
            if not key:
                return [*found], None
            try:
                layers = layers.without(key)
            except (KeyError, IndexError, TypeError):  # a key that is missing can't be left out
                return [*found], None
        else:
            return [*found], layers
    return [*found], None


def raise_all(errors: Sequence[UserError]) -> None:
    """Raise a single error as it is, or several as one list in the order of their lines."""
    several = list({str(error): error for error in sorted(errors, key=attrgetter("line"))}.values())
    if len(several) == 1:
        raise several[0]
    if several:
        listed = "\n".join(f"  {error}" for error in several)
        raise ConfigError(f"There are {len(several)} errors:\n{listed}")
