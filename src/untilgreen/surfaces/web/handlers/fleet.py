"""The operation that shows the server's fleet: workers, queues, limits, takeovers."""

from __future__ import annotations

import anyio

from untilgreen.core.values.fleet_view import FleetView
from untilgreen.surfaces.web.guard import Refusal
from untilgreen.surfaces.web.handlers.call import Call

FRESH_SECONDS = 2.0
"""How long an overview of the fleet is reused."""


class _LastLook:
    """One overview for everybody who asks at about the same time."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.url = ""
        self.at = 0.0
        self.seen: FleetView | None = None


_last = _LastLook()


async def fleet(call: Call) -> FleetView:
    """The fleet at this moment."""
    url = call.service.fleet
    if not url:
        detail = "This server has no fleet. Set UNTILGREEN_FLEET and start it again."
        raise Refusal(404, "Not found", detail)
    async with _last.lock:
        now = anyio.current_time()
        if _last.seen is None or _last.url != url or now - _last.at > FRESH_SECONDS:
            _last.seen, _last.url, _last.at = await _look(url), url, now
        return _last.seen


async def _look(url: str) -> FleetView:
    try:
        from untilgreen.fleet.overview import overview
    except ModuleNotFoundError as error:
        detail = f"A fleet needs the package {error.name}: pip install 'untilgreen[fleet]'"
        raise Refusal(409, "Not installed", detail) from error
    return await overview(url)
