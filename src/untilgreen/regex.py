"""Regular expressions that are compiled when they are first used.

A verb imports many modules and uses few of their patterns; compiling all of them was a fifth of its time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "pattern",
    "groupindex",
)


class _Uncompiled:
    """A pattern until its first use; from then on its methods are those of the compiled one."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"A lazy pattern has no {name!r}.")
        compiled = re.compile(*self._source)
        self.__dict__.update({each: getattr(compiled, each) for each in _METHODS})
        return self.__dict__[name]


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern like that of `re.compile`, compiled when it is first used."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))
