"""Make a plugin from its options, checking their names and types, and the result's method."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import msgspec

from untilgreen.core.values.option_checks import OTHER, choices_of, type_in_words
from untilgreen.errors import ConfigError, UntilgreenError, nearest
from untilgreen.plugins.kinds import Contract
from untilgreen.plugins.locations import Factory, in_words

_BY_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_NO_SIGNATURE = (NameError, AttributeError, TypeError, ValueError, SyntaxError)


def make(factory: Factory, options: Mapping[str, Any], contract: Contract, who: str) -> Any:
    """Call the factory with its options as keywords; `who` starts the error sentences."""
    signature = _signature(factory)
    given = dict(options) if signature is None else _checked(signature, options, who)
    try:
        made = factory(**given)
    except UntilgreenError:
        raise
    except Exception as error:  # other people's constructors may raise anything to refuse a value
        named = f" ({', '.join(options)})" if options else ""
        raise ConfigError(
            f"{who} can't be created from its options{named}: {in_words(error)}. Correct them."
        ) from error
    _fulfils(made, contract, who)
    return made


def _signature(factory: Factory) -> Signature | None:
    """Its signature, with resolved types if possible; None if Python does not know it."""
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
    """Not every type can be checked: callables and Protocols are left to the plugin."""


def _typed(value: Any, wanted: Any, name: str, who: str) -> Any:
    """The value as the wanted type: a list from TOML becomes a tuple, but "3" is not a number."""
    if wanted is Parameter.empty:
        return value
    try:
        return msgspec.convert(value, wanted, dec_hook=_other_type)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{who}: the option {name!r} {_allowed(wanted, error)}") from error
    except (_Unchecked, TypeError):
        return value


def _allowed(wanted: Any, error: msgspec.ValidationError) -> str:
    """What the option may be. Its value is not shown: it may be a secret."""
    try:
        choices, words = choices_of(wanted), type_in_words(wanted)
    except (TypeError, _Unchecked):
        choices, words = (), OTHER
    if choices:
        return f"must be one of: {', '.join(choices)}."
    if words == OTHER or " - at `$" in str(error):  # deep inside a value, msgspec's message says more
        return f"does not fit: {error}. Correct it."
    return f"must be {words}."


def _other_type(wanted: Any, value: Any) -> Any:
    """Types that TOML does not have: a path is written as text, others must be objects already."""
    if not isinstance(wanted, type) or getattr(wanted, "_is_protocol", False):
        raise _Unchecked
    if isinstance(value, str) and issubclass(wanted, Path):
        return wanted(value)
    if not isinstance(value, wanted):
        raise TypeError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
    return value


def _fulfils(made: object, contract: Contract, who: str) -> None:
    """Refuse early what would otherwise fail after the first lap was paid for."""
    method = getattr(made, contract.method, None)
    if not callable(method):
        raise ConfigError(
            f"{who} makes a {type(made).__name__!r} without the method {contract.method!r}. "
            f"Add `{contract}`, as in {contract.protocol}."
        )
    if inspect.iscoroutinefunction(method) and not contract.awaited:
        raise ConfigError(
            f"{who} has an async {contract.method!r}, which is never awaited. Write `{contract}`."
        )
    try:
        inspect.signature(method).bind(*contract.arguments)
    except TypeError as error:
        raise ConfigError(
            f"{who} has a method {contract.method!r} with different arguments ({error}). "
            f"Write `{contract}`, as in {contract.protocol}."
        ) from error
    except ValueError:  # a method without a signature that Python could read
        return
