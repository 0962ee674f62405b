"""Where the code of a plugin is: `acme.rules:Patient` in a module, `./rules.py:Patient` in a file."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from untilgreen.errors import ConfigError, UnknownPlugin, nearest
from untilgreen.regex import regex

Factory = Callable[..., Any]
"""A class or function that makes a plugin from its options."""

_WRITTEN = regex(r"(?P<where>(?:[A-Za-z]:[\\/])?[^:]*)(?::(?P<attribute>[^:]*))?")
_ALONE = "A plugin file is loaded alone: put everything it needs into it, or install that as a package."


class InFile(Struct, frozen=True, kw_only=True):
    """A name such as `./rules.py:Patient`."""

    path: str
    attribute: str

    def source(self, base: Path | None) -> Path:
        """A relative path starts at `base`, or at the current directory."""
        return (base or Path()).joinpath(Path(self.path).expanduser()).resolve()


class InModule(Struct, frozen=True, kw_only=True):
    """A name such as `acme.rules:Patient`."""

    module: str
    attribute: str


def place_of(name: str) -> InFile | InModule | None:
    """Read a name as a place; None for a short name, and for anything else with a colon."""
    match = _WRITTEN.fullmatch(name)
    if match is None:
        return None
    where, attribute = match["where"], match["attribute"] or ""
    if where.endswith(".py") or "/" in where or "\\" in where:
        return InFile(path=where, attribute=attribute)
    if all(part.isidentifier() for part in (*where.split("."), *attribute.split("."))):
        return InModule(module=where, attribute=attribute)
    return None


def is_place(name: str) -> bool:
    """Whether a name says where code is; otherwise it is the short name of something installed."""
    return place_of(name) is not None


def source_of(name: str, base: Path | None = None) -> Path | None:
    """The file that a name points to, which a run copies; None for what is installed."""
    place = place_of(name)
    return place.source(base) if isinstance(place, InFile) else None


def from_file(path: Path, attribute: str, who: str) -> Factory:
    """The class or function of that name in a file; `who` starts the error sentences."""
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        beside = [other.name for other in path.parent.glob("*.py")]
        hint = nearest(path.name, beside) if beside else "Write it absolute, or relative to the spec."
        raise UnknownPlugin(f"{who} names the file '{path}', which does not exist. {hint}") from error
    except OSError as error:
        raise ConfigError(f"{who} can't be read: {error}. Make the file readable.") from error
    _check_defined(path, content, attribute, who)
    return _attribute(_module(path, content, who), attribute, str(path), who)


def _check_defined(path: Path, content: bytes, attribute: str, who: str) -> None:
    """A file that doesn't define the name is not run: it may be a script that was mistaken for a plugin."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError):
        return  # loading it says where
    own = [each.name for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    if attribute and any(isinstance(each, ast.ImportFrom | ast.Assign | ast.If | ast.Try) for each in body):
        return  # the name may come from there
    if attribute.partition(".")[0] not in own:
        raise _not_there(attribute, sorted(name for name in own if name[0] != "_"), str(path), who)


def from_module(module: str, attribute: str, who: str) -> Factory:
    """The class or function of that name in a module that can be imported."""
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # other people's code may raise anything while it is imported
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise UnknownPlugin(
                f"{who} needs the module {module!r}, but there is no module {error.name!r}. Install "
                "its package, or name a file, for example './rules.py:Patient'."
            ) from error
        raise _broken(who, error) from error
    return _attribute(found, attribute, module, who)


def in_words(error: BaseException) -> str:
    """An exception as the part of a sentence before its full stop."""
    return f"{type(error).__name__}: {error}".rstrip(".: \n")


def _module(path: Path, content: bytes, who: str) -> ModuleType:
    """Run the content of a file as its own module, and only once.

    Neither sys.path nor the bytecode next to the file is used: the workspace stays clean,
    and code that an agent left in `__pycache__` is never run.
    """
    identity = hashlib.sha256(bytes(path) + b"\0" + content).hexdigest()[:16]
    name = f"_untilgreen_{path.stem.replace('.', '_')}_{identity}"
    if name in sys.modules:
        return sys.modules[name]
    module = module_from_spec(ModuleSpec(name, None, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their own module up there while it is still running
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:  # other people's code may raise anything while it is imported
        del sys.modules[name]
        raise _broken(who, error, _ALONE if isinstance(error, ImportError) else "") from error
    return module


def _broken(who: str, error: BaseException, hint: str = "") -> ConfigError:
    file, line = _where(error)
    where = f"{file}, line {line}: " if file else ""
    return ConfigError(
        f"{who} can't be loaded: {where}{in_words(error)}. {hint or 'Correct that, and try again.'}"
    )


def _where(error: BaseException) -> tuple[str, int]:
    """The file that was being imported, and the last of its lines on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    steps = [step for step in _steps(error) if not step[0].startswith("<frozen ")]
    theirs = [step for step in steps if step[0] not in (__file__, importlib.__file__)]
    return [step for step in theirs if step[0] == theirs[0][0]][-1] if theirs else ("", 0)


def _steps(error: BaseException) -> Iterator[tuple[str, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def _attribute(module: ModuleType, attribute: str, where: str, who: str) -> Factory:
    names = _public(module)
    if not attribute:
        raise _not_there(attribute, names, where, who)
    try:
        found = reduce(getattr, attribute.split("."), module)
    except AttributeError as error:
        raise _not_there(attribute, names, where, who) from error
    if not callable(found):
        raise ConfigError(
            f"{who} is a value of type {type(found).__name__!r}, not a class or a function that makes one. "
            f"{_known(names)} Name one of them."
        )
    return found


def _not_there(attribute: str, names: list[str], where: str, who: str) -> UnknownPlugin:
    known = _known(names)
    if not attribute:
        return UnknownPlugin(f"{who} names '{where}', but no class in it. {known} Add ':' and its name.")
    hint = nearest(attribute, names)
    return UnknownPlugin(
        f"{who} can't be found: there is no {attribute!r} in '{where}'. {known}"
        + (f" {hint}" if hint.startswith("Did") else "")
    )


def _known(names: list[str]) -> str:
    return f"It has {', '.join(names)}." if names else "It has no public class."


def _public(module: ModuleType) -> list[str]:
    """Its own classes and functions, or those it re-exports from its package."""
    homes = {
        name: str(value.__module__)
        for name, value in sorted(vars(module).items())
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value))
    }
    own = [name for name, home in homes.items() if home == module.__name__]
    family = module.__name__.partition(".")[0]
    return own or [name for name, home in homes.items() if home.partition(".")[0] == family]
