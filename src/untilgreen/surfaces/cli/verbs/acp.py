"""acp: untilgreen as an agent in editors."""

from __future__ import annotations

import anyio

from untilgreen.surfaces.cli.caller import refuse_agents
from untilgreen.surfaces.cli.options import HERE, LocalPlace


def acp(*, place: LocalPlace = HERE) -> int:
    """Act as an agent for editors that speak ACP: a prompt starts a run in its project.

    Speaks the Agent Client Protocol on stdin and stdout; editors start it themselves.
    """
    refuse_agents("acp", place.store().state_dir)
    from untilgreen.surfaces.acp.server import Server

    anyio.run(Server(place.store()).serve)
    return 0
