"""Profiles: named sets of values in a spec file; a profile may extend another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from untilgreen.config.checks.every_error import raise_all
from untilgreen.config.checks.parse import PROFILES, wrong_in
from untilgreen.config.sources.layers import Layers, Source
from untilgreen.errors import ConfigError, nearest

EXTENDS = "extends"


class Profiles(Struct, frozen=True):
    """The tables below `[profiles]`, and their file."""

    tables: Mapping[str, Mapping[str, Any]]
    source: Source

    def chain(self, name: str) -> list[str]:
        """The profile and those it extends; the requested one comes last."""
        chain = [name]
        while (wanted := self.tables[chain[0]].get(EXTENDS)) is not None:
            if not isinstance(wanted, str):
                raise self._error(chain[0], f"must be the name of one profile, not {wanted!r}.")
            if wanted not in self.tables:
                raise self._error(
                    chain[0], f"is not the name of a profile: {wanted!r}. {nearest(wanted, self.tables)}"
                )
            if wanted in chain:
                circle = " → ".join([*reversed(chain), wanted])
                raise self._error(chain[0], f"is circular: {circle}. Remove one of them.")
            chain.insert(0, wanted)
        return chain

    def layers(self, name: str) -> Iterator[tuple[dict[str, Any], Source]]:
        """What the profile adds, starting with the most distant one that it extends."""
        for each in self.chain(name):
            values = {key: value for key, value in self.tables[each].items() if key != EXTENDS}
            prefix = (*self.source.prefix, PROFILES, each)
            yield values, replace(self.source, name=f"{self.source.name} [profiles.{each}]", prefix=prefix)

    def _error(self, name: str, message: str) -> ConfigError:
        path = (PROFILES, name, EXTENDS)
        return ConfigError(f"{self.source.place(path)}: {'.'.join(path)} {message}")


def split(values: Mapping[str, Any], source: Source) -> tuple[dict[str, Any], Profiles]:
    """The common values of a file, and its profiles; all are checked, chosen or not."""
    common = {key: value for key, value in values.items() if key != PROFILES}
    tables = values.get(PROFILES, {})
    _check_tables(tables, source)
    profiles = Profiles(tables, source)
    alone = Layers()
    alone.add(common, source)
    wrong = wrong_in(alone)
    for name in tables:
        both = Layers()
        both.add(common, source)
        for inner, place in profiles.layers(name):
            both.add(inner, place)
        wrong += wrong_in(both)
    raise_all(wrong)
    return common, profiles


def _check_tables(tables: Any, source: Source) -> None:
    if not isinstance(tables, Mapping):
        raise ConfigError(f"{source.place((PROFILES,))}: profiles must be a table of profiles.")
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise ConfigError(f"{source.place((PROFILES, name))}: profiles.{name} must be a table.")
