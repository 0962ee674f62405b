"""Options in, plugin out: every option is known and of its type, and the result can do its one thing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import msgspec

from untilgreen.errors import ConfigError, UntilgreenError, nearest
from untilgreen.plugins.kinds import Contract
from untilgreen.plugins.places import Factory, in_words

_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_NO_SIGNATURE = (NameError, AttributeError, TypeError, ValueError, SyntaxError)


def make(factory: Factory, options: Mapping[str, Any], contract: Contract, who: str) -> Any:
    """Call the factory with its options as keywords; `who` begins the error sentences."""
    signature = _signature(factory)
    given = dict(options) if signature is None else _checked(signature, options, who)
    try:
        made = factory(**given)
    except UntilgreenError:
        raise
    except Exception as error:  # other people's constructors may raise anything to refuse a value
        named = f" ({', '.join(options)})" if options else ""
        raise ConfigError(
            f"{who} can't be made from its options{named}: {in_words(error)}. Correct them."
        ) from error
    _fulfils(made, contract, who)
    return made


def _signature(factory: Factory) -> Signature | None:
    """What it takes, with real types where they can be had; None where Python itself does not know."""
    for resolved in (True, False):
        try:
            return inspect.signature(factory, eval_str=resolved)
        except _NO_SIGNATURE:
            continue
    return None


def _checked(signature: Signature, options: Mapping[str, Any], who: str) -> dict[str, Any]:
    parameters = signature.parameters
    keywords = {name: each for name, each in parameters.items() if each.kind in _BY_KEYWORD}
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    for name in options:
        if name not in keywords and not takes_any:
            raise ConfigError(f"{who} has no option {name!r}. {nearest(name, keywords)}")
    for name, each in keywords.items():
        if each.default is Parameter.empty and name not in options:
            raise ConfigError(f"{who} needs the option {name!r}. Add it to the spec.")
    return {
        name: _typed(value, keywords[name].annotation, name, who) if name in keywords else value
        for name, value in options.items()
    }


class _Unchecked(Exception):
    """Not every type can be checked: callables and Protocols are the plugin's own business."""


def _typed(value: Any, wanted: Any, name: str, who: str) -> Any:
    """The value as the type that was asked for: a list from TOML becomes a tuple, but "3" is no number."""
    if wanted is Parameter.empty:
        return value
    try:
        return msgspec.convert(value, wanted, dec_hook=_other_type)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{who} can't take that as its option {name!r}: {error}. Correct it.") from error
    except (_Unchecked, TypeError):
        return value


def _other_type(wanted: Any, value: Any) -> Any:
    """What TOML has no type for: a path is written as text, the rest has to be there already."""
    if not isinstance(wanted, type) or getattr(wanted, "_is_protocol", False):
        raise _Unchecked
    if isinstance(value, str) and issubclass(wanted, Path):
        return wanted(value)
    if not isinstance(value, wanted):
        raise TypeError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
    return value


def _fulfils(made: object, contract: Contract, who: str) -> None:
    """Complain now about what could only fail later, after the first lap was paid for."""
    method = getattr(made, contract.method, None)
    if not callable(method):
        raise ConfigError(
            f"{who} gives a {type(made).__name__!r} without the method {contract.method!r}. "
            f"Add `{contract}`, as {contract.protocol} says."
        )
    if inspect.iscoroutinefunction(method) and not contract.awaited:
        raise ConfigError(f"{who} has an async {contract.method!r}, which nobody awaits. Write `{contract}`.")
    try:
        inspect.signature(method).bind(*contract.arguments)
    except TypeError as error:
        raise ConfigError(
            f"{who} has a method {contract.method!r} with other arguments ({error}). "
            f"Write `{contract}`, as {contract.protocol} says."
        ) from error
    except ValueError:  # a method without a signature that Python could read
        return
