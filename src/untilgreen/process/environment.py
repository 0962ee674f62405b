"""Caches our environment variables and the secrets in them, which every child needs and which seldom change.

Reading `os.environ` and searching it for secrets takes as long as the rest of starting a child.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from untilgreen.core.values.secrets import Secrets


class _Last(Struct):
    """The last results, each with what it was computed from."""

    own: tuple[object, Mapping[str, str]] = (None, {})
    secrets: tuple[Mapping[str, str], Secrets] | None = None


_last = _Last()


def own_variables() -> Mapping[str, str]:
    """Our own variables as they are now; don't modify the result."""
    raw = getattr(os.environ, "_data", None)  # its internal dict, which is quick to compare
    known, variables = _last.own
    if raw is None or raw != known:
        variables = dict(os.environ)
        _last.own = (None if raw is None else dict(raw), variables)
    return variables


def secrets_in(variables: Mapping[str, str]) -> Secrets:
    """The secrets in an environment; cached, since most children have the same one as the child before."""
    if _last.secrets is None or _last.secrets[0] != variables:
        _last.secrets = (dict(variables), Secrets(variables))
    return _last.secrets[1]
