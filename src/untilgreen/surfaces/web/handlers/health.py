"""The operation that needs nothing: whether the server answers."""

from __future__ import annotations

from untilgreen.surfaces.web.api.requests import Health


async def health() -> Health:
    """It answers, so it is healthy."""
    return Health()
