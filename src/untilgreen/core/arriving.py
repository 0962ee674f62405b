"""What everything that comes from outside has in common."""

from __future__ import annotations

from msgspec import Struct


class Arriving(Struct, frozen=True, kw_only=True, omit_defaults=True, tag=True):
    """When it was sent, and by whom."""

    at: float
    by: str = ""
