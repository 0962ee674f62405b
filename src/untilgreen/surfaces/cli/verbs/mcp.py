"""mcp: the verb for other agents and apps."""

from __future__ import annotations

from untilgreen.errors import UserError
from untilgreen.surfaces.cli.options import HERE, LocalPlace


def mcp(*, place: LocalPlace = HERE) -> int:
    """Serve runs to other agents and apps through MCP, on stdin and stdout.

    Add it to a client, for example: claude mcp add untilgreen -- untilgreen mcp

    Needs the extra: pip install 'untilgreen[mcp]'
    """
    try:
        from untilgreen.surfaces.mcp.server import serve_stdio
    except ModuleNotFoundError as error:
        raise UserError(
            f"`untilgreen mcp` needs {error.name}. Install it with: pip install 'untilgreen[mcp]'"
        ) from error
    serve_stdio(place.store(), place.start)
    return 0
