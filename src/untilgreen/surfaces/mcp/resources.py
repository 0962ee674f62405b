"""Runs as resources: the list, a run, a lap, what a lap changed, and what a gate printed."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from untilgreen.core.values.state import Lap
from untilgreen.engine.worktree.snapshots import lap_diff
from untilgreen.errors import UntilgreenError, UserError
from untilgreen.surfaces.json.lap import lap_view
from untilgreen.surfaces.mcp.tools import Runs
from untilgreen.surfaces.text.summary import as_json

RUNS = "untilgreen://runs"
MOST_OUTPUT = 200_000
"""Bytes of a gate's output, from its end; a model reads no more."""
_JSON, _TEXT, _DIFF = "application/json", "text/plain", "text/x-diff"
_LAP = f"{RUNS}/{{run}}/laps/{{lap}}"
TEMPLATES = {
    "run": (f"{RUNS}/{{run}}", _JSON, "A run: outcome, laps, gates, what it used."),
    "lap": (_LAP, _JSON, "One lap: what the agent said, the verdicts, the decision."),
    "diff": (f"{_LAP}/diff", _DIFF, "What a lap changed."),
    "output": (f"{_LAP}/output/{{gate}}", _TEXT, "What a gate printed, at its end."),
}


class Resources:
    """What can be read by address."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def list_all(self, context: Any, params: Any) -> types.ListResourcesResult:
        """The list of runs; each run has its own address."""
        resource = types.Resource(
            name="runs", uri=RUNS, description="All runs, newest first.", mime_type=_JSON
        )
        return types.ListResourcesResult(resources=[resource])

    async def list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        """The templates of the addresses."""
        found = [
            types.ResourceTemplate(name=name, uri_template=uri, mime_type=kind, description=about)
            for name, (uri, kind, about) in TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read one resource."""
        uri = str(params.uri)
        path = [unquote(part) for part in uri.removeprefix(RUNS).strip("/").split("/")]
        try:
            kind, text = await self._read(path)
        except UntilgreenError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        content = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _read(self, path: list[str]) -> tuple[str, str]:
        match path:
            case [""]:
                return _JSON, _encoded(await self._list())
            case [run]:
                loaded = await self._runs.find(run).load()
                return _JSON, _encoded(as_json(loaded.state, loaded.head))
            case [run, "laps", lap]:
                return _JSON, _encoded(lap_view(await self._lap(run, lap)))
            case [run, "laps", lap, "diff"]:
                record = self._runs.find(run)
                state = (await record.load()).state
                return _DIFF, await lap_diff(state, record.scratch, await self._lap(run, lap))
            case [run, "laps", lap, "output", gate]:
                return _TEXT, await self._output(run, await self._lap(run, lap), gate)
            case _:
                raise UserError(f"There is no resource {'/'.join(path)[:200]!r}. Begin with {RUNS}.")

    async def _list(self) -> list[dict[str, Any]]:
        """All runs; one that can't be read is left out, and those that are over are not read again."""
        return [
            {
                "run": name,
                "uri": f"{RUNS}/{name}",
                "status": row.status,
                "laps": row.laps,
                "task": row.title,
            }
            async for name, row in self._runs.store.rows()
        ]

    async def _lap(self, run: str, text: str) -> Lap:
        state = (await self._runs.find(run).load()).state
        for lap in state.baseline_and_laps:
            if str(lap.number) == text:
                return lap
        raise UserError(f"Run {state.run} has no lap {text[:20]!r}; it has {len(state.laps)}.")

    async def _output(self, run: str, lap: Lap, gate: str) -> str:
        """What a gate printed; the file is named by the run, not by the request."""
        verdict = lap.verdicts.get(gate)
        if verdict is None:
            raise UserError(f"Lap {lap.number} has no verdict of a gate {gate[:80]!r}.")
        kept = await self._runs.find(run).kept(verdict.output) if verdict.output else None
        data = kept if kept is not None else (verdict.excerpt or "").encode("utf-8", "replace")
        return data[-MOST_OUTPUT:].decode("utf-8", "replace")


def _encoded(value: Any) -> str:
    return msgspec.json.encode(value).decode()
