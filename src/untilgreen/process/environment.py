"""Our own environment, and its secrets, which every process tree is given and which seldom change.

To read `os.environ` and to look for secrets in it takes as long as everything else at the start of a child.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from untilgreen.core.values.secrets import Secrets


class _Last(Struct):
    """What was read last, and what it was read from."""

    own: tuple[object, Mapping[str, str]] = (None, {})
    secrets: tuple[Mapping[str, str], Secrets] | None = None


_last = _Last()


def own_variables() -> Mapping[str, str]:
    """Our own variables as they are now; not to be changed."""
    raw = getattr(os.environ, "_data", None)  # what it keeps them in, which is compared in a moment
    known, variables = _last.own
    if raw is None or raw != known:
        variables = dict(os.environ)
        _last.own = (None if raw is None else dict(raw), variables)
    return variables


def secrets_in(variables: Mapping[str, str]) -> Secrets:
    """The secrets of an environment; most children have the same one as the child before."""
    if _last.secrets is None or _last.secrets[0] != variables:
        _last.secrets = (dict(variables), Secrets(variables))
    return _last.secrets[1]
