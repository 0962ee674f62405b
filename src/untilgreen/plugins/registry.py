"""From a name in the spec to an object, for strategies, detectors, gates, agents and notifiers.

A plugin is a class or a function that takes its options as keywords; its result has the one method of its
kind. It is named by a short name (built-in, registered, or an entry point of an installed package in
the group `untilgreen.KIND`), by a file (`./rules.py:Patient`) or by a module (`acme.rules:Patient`).
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.core.values.model import PartSpec
from untilgreen.errors import ConfigError, UnknownPlugin, UserError, nearest
from untilgreen.plugins.factory import make
from untilgreen.plugins.kinds import BUILT_IN, CONTRACTS, Kind, contract_of
from untilgreen.plugins.locations import (
    Factory,
    InFile,
    InModule,
    from_file,
    from_module,
    is_place,
    place_of,
    source_of,
)
from untilgreen.regex import regex

__all__ = ["Created", "Factory", "Kind", "PluginInfo", "Plugins", "is_place", "registry", "source_of"]

_SHORT_NAME = regex(r"[A-Za-z0-9][\w.-]*")


class PluginInfo(Struct, frozen=True, kw_only=True):
    """One row of `untilgreen plugins`."""

    name: str
    kind: Kind
    origin: str
    """`built-in`, `registered`, or `package NAME VERSION`."""
    summary: str = ""
    """The first line of its docstring."""
    problem: str = ""
    """Why it can't be used, as a sentence."""


class Created(Struct, frozen=True, kw_only=True):
    """A plugin, and how the journal remembers it."""

    object: Any
    spec: PartSpec


class _Offer(Struct, frozen=True, kw_only=True):
    """Something with a short name."""

    name: str
    origin: str
    target: str | Factory

    def load(self, who: str) -> Factory:
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition("[")[0].replace(" ", "").partition(":")
        return from_module(module, attribute, f"{who} from {self.origin}")


class Plugins:
    """Finds, makes, lists and registers plugins; a process has one, `registry`."""

    def __init__(self) -> None:
        self._registered: dict[tuple[Kind, str], Factory] = {}

    def list(self, kind: Kind) -> tuple[PluginInfo, ...]:
        """Everything with a short name, including what can't be used."""
        contract_of(kind)
        offers = (*self._built_in(kind), *self._added(kind))
        return tuple(
            _info(kind, offer, [rival for rival in offers if rival.name == offer.name]) for offer in offers
        )

    def has(self, kind: Kind, name: str, *, base: Path | None = None) -> bool:
        """Whether there is such a plugin, even a broken one; files and modules are loaded to find out."""
        contract_of(kind)
        if place_of(name) is None:
            return bool(self._offers(kind, name))
        try:
            self._find(kind, name, base, {})
        except UnknownPlugin:
            return False
        except ConfigError:
            return True
        return True

    def check_name(self, kind: Kind, name: str) -> None:
        """Raise UnknownPlugin for a short name that nothing has; files and modules are not checked."""
        if kind == "agent" and _is_command(name):
            way_out = shlex.quote(f"cmd:{_as_a_shell_finds_it(name.strip())}")
            first = name.split(maxsplit=1)[0]
            by_name = f"{first} to use that agent, or " if self._offers(kind, first) else ""
            raise UnknownPlugin(f"{name!r} is not an agent. Write {by_name}{way_out} to run it as a command.")
        if place_of(name) is None and not self._offers(kind, name):
            known = {offer.name for offer in (*self._built_in(kind), *self._added(kind))}
            raise UnknownPlugin(f"No {kind} named {name!r}. {nearest(name, known)}")

    def kinds_of(self, name: str, *, base: Path | None = None) -> tuple[Kind, ...]:
        """The kinds of a plugin, by its methods; files and modules are loaded to find out."""
        if place_of(name) is None:
            kinds = tuple(kind for kind in CONTRACTS if self._offers(kind, name))
            if not kinds:
                known = {
                    offer.name for kind in CONTRACTS for offer in (*self._built_in(kind), *self._added(kind))
                }
                raise UnknownPlugin(f"No plugin named {name!r}. {nearest(name, known)}")
            return kinds
        factory = self._placed(f"The plugin {name!r}", name, base, {})[0]
        found = tuple(kind for kind, contract in CONTRACTS.items() if hasattr(factory, contract.method))
        if not found:
            methods = ", ".join(f"{contract.method} ({kind})" for kind, contract in CONTRACTS.items())
            raise ConfigError(
                f"{name!r} has none of the methods of a plugin: {methods}. Add one, or pass --kind."
            )
        return found

    def create(
        self,
        kind: Kind,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        base: Path | None = None,
        copies: Mapping[str, Path] | None = None,
    ) -> Created:
        """Make the plugin of that name with these options.

        Relative paths start at `base`, the spec's directory. `copies` has, by name as written, the files
        that are loaded in place of those that the names point to: the run's own copies.
        """
        contract, given = contract_of(kind), dict(options or {})
        factory, origin = self._find(kind, name, base, copies or {})
        made = make(factory, given, contract, _who(kind, name))
        return Created(object=made, spec=PartSpec(name=name, origin=origin, options=given))

    def register(self, kind: Kind, name: str, factory: Factory) -> None:
        """Give a class or a function a short name, for the lifetime of the process."""
        contract_of(kind)
        if not _SHORT_NAME.fullmatch(name) or place_of(name) is not None:
            raise ConfigError(
                f"{name!r} can't be the name of a {kind}. "
                "Use letters, digits, '_', '-' and '.', and no '.py' at its end."
            )
        if not callable(factory):
            raise ConfigError(
                f"{_who(kind, name)} must be a class or a function, but {factory!r} is neither."
            )
        mine = _Offer(name=name, origin="registered", target=factory)
        if taken := self._offers(kind, name):
            raise _conflict(kind, (*taken, mine))
        self._registered[kind, name] = factory

    @contextmanager
    def temporary_name(self, kind: Kind, thing: object) -> Iterator[str]:
        """Give an existing object a name, until the end of the block."""
        name, number = type(thing).__name__.strip("_") or "thing", 1
        while self._offers(kind, name):
            number += 1
            name = f"{type(thing).__name__.strip('_')}-{number}"
        self.register(kind, name, lambda: thing)
        try:
            yield name
        finally:
            del self._registered[kind, name]

    def _find(
        self, kind: Kind, name: str, base: Path | None, copies: Mapping[str, Path]
    ) -> tuple[Factory, str]:
        """The factory, and where it came from."""
        who = _who(kind, name)
        self.check_name(kind, name)
        if place_of(name) is not None:
            return self._placed(who, name, base, copies)
        offers = self._offers(kind, name)
        if len(offers) > 1:
            raise _conflict(kind, offers)
        return offers[0].load(who), offers[0].origin

    def _placed(
        self, who: str, name: str, base: Path | None, copies: Mapping[str, Path]
    ) -> tuple[Factory, str]:
        """The same for a name that says where the code is."""
        place = place_of(name)
        if isinstance(place, InFile):
            source = place.source(base)
            return from_file(copies.get(name, source), place.attribute, who), str(source)
        assert isinstance(place, InModule)  # a short name has no place
        return from_module(place.module, place.attribute, who), f"module {place.module}"

    def _offers(self, kind: Kind, name: str) -> tuple[_Offer, ...]:
        """Everything with this short name; built-ins come first, without loading any package."""
        mine = tuple(offer for offer in self._built_in(kind) if offer.name == name)
        return mine or tuple(offer for offer in self._added(kind) if offer.name == name)

    def _built_in(self, kind: Kind) -> Iterator[_Offer]:
        for name, target in BUILT_IN[kind].items():
            yield _Offer(name=name, origin="built-in", target=target)

    def _added(self, kind: Kind) -> Iterator[_Offer]:
        """What this process registered, and what installed packages offer."""
        for (of, name), factory in self._registered.items():
            if of == kind:
                yield _Offer(name=name, origin="registered", target=factory)
        from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, and most runs do without

        for point in sorted(entry_points(group=f"untilgreen.{kind}"), key=attrgetter("name", "value")):
            package = f"package {point.dist.name} {point.dist.version}" if point.dist else "a package"
            yield _Offer(name=point.name, origin=package, target=point.value)


registry = Plugins()
"""The registry of this process."""


def _is_command(name: str) -> bool:
    """Whether somebody wrote a program or a command line and forgot `cmd:`; none of it may be run."""
    place = place_of(name)
    if isinstance(place, InFile):
        return not place.attribute or not place.path.endswith(".py")
    if isinstance(place, InModule) and place.attribute:
        return False
    if name in BUILT_IN["agent"] or place is not None:
        return " " in name.strip()
    return " " in name.strip() or "." in name or shutil.which(name) is not None


def _as_a_shell_finds_it(command: str) -> str:
    """A script of this directory needs its path: a shell looks for `fix.sh` only on the PATH."""
    program = command.partition(" ")[0]
    alone = "." in program and "/" not in program and shutil.which(program) is None
    return f"./{command}" if alone else command


def _who(kind: Kind, name: str) -> str:
    return f"The {kind} {name!r}"


def _info(kind: Kind, offer: _Offer, rivals: list[_Offer]) -> PluginInfo:
    """A row about an offer; a problem with it is part of the row."""
    summary = problem = ""
    if len(rivals) > 1 and offer.origin != "built-in":
        problem = str(_conflict(kind, rivals))
    try:
        lines = (offer.load(_who(kind, offer.name)).__doc__ or "").strip().splitlines()
        summary = lines[0] if lines else ""
    except UserError as error:
        problem = problem or str(error)
    return PluginInfo(name=offer.name, kind=kind, origin=offer.origin, summary=summary, problem=problem)


def _conflict(kind: Kind, offers: Sequence[_Offer]) -> ConfigError:
    origins = " and ".join(offer.origin for offer in offers)
    places = [repr(offer.target) for offer in offers if offer.origin.startswith("package")]
    way_out = f", or name the one you mean by its place: {' or '.join(places)}" if places else ""
    return ConfigError(
        f"{_who(kind, offers[0].name)} is provided more than once: {origins}. Rename one{way_out}."
    )
