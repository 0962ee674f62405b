"""The lines of `verify --json`."""

from __future__ import annotations

from untilgreen.engine.operations.verify import Compared, Verified
from untilgreen.surfaces.json.lines import Line


class ComparedLine(Line, Compared, frozen=True, kw_only=True, tag="verified"):
    """One gate, run again."""


class VerifiedLine(Line, Verified, frozen=True, kw_only=True, tag="verify_result"):
    """The last line of `verify`."""

    exit_code: int
