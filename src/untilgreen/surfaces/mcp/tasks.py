"""Runs as tasks, for clients that know the extension `io.modelcontextprotocol/tasks`.

A task's id is the run's, so nothing is stored here: a task exists as long as its run, even after the
server was restarted. A question makes it `input_required`; the person's answer comes with `tasks/update`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import mcp_types as types
import msgspec
from anyio import to_thread
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

from untilgreen.core.loop.receive import question_id
from untilgreen.core.values.model import Outcome
from untilgreen.core.values.state import RunState
from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.errors import UntilgreenError, UserError
from untilgreen.surfaces.mcp.question_forms import form, run_around, take
from untilgreen.surfaces.mcp.task_params import TASKS, TaskParams, UpdateParams
from untilgreen.surfaces.mcp.tools import Runs, cancel_run, status_line

POLL_MILLISECONDS = 1_000
_ONLY_VIEW = "You may only view runs here."
Status = Literal["working", "input_required", "completed", "failed", "cancelled"]


class Tasks:
    """The methods of the extension."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def begun(self, run: str) -> Mapping[str, Any]:
        """What `run_start` answers to a client that knows tasks."""
        return {**await self._task(self._find(run)), "resultType": "task"}

    async def get(self, context: Any, params: TaskParams) -> dict[str, Any]:
        """Its status, with the question or the result."""
        return {**await self._task(self._find(params.task_id)), "resultType": "complete"}

    async def update(self, context: Any, params: UpdateParams) -> dict[str, Any]:
        """A person's answer; a closed form does not count."""
        record = self._find(params.task_id)
        if not self._runs.may("steer"):
            raise MCPError(types.INVALID_REQUEST, _ONLY_VIEW)
        if run := await to_thread.run_sync(run_around, self._runs.store):
            detail = f"This server runs inside run {run}, and an agent must not answer for a person."
            raise MCPError(types.INVALID_REQUEST, detail)
        for key, given in params.input_responses.items():
            await take(record, self._runs.store, key, TypeAdapter(types.ElicitResult).validate_python(given))
        return {"resultType": "complete"}

    async def cancel(self, context: Any, params: TaskParams) -> dict[str, Any]:
        """End the run now."""
        if not self._runs.may("steer"):
            raise MCPError(types.INVALID_REQUEST, _ONLY_VIEW)
        try:
            await cancel_run(self._runs, params.task_id)
        except UntilgreenError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return {"resultType": "complete"}

    def _find(self, run: str) -> FolderRecord:
        try:
            return self._runs.find(run)
        except UserError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def _task(self, record: FolderRecord) -> dict[str, Any]:
        state = (await record.load()).state
        status, about = status_of(state)
        task: dict[str, Any] = {
            "taskId": state.run,
            "status": status,
            "statusMessage": about,
            "createdAt": _moment(state.started),
            "lastUpdatedAt": _moment(state.now),
            "ttlMs": None,
            "pollIntervalMs": POLL_MILLISECONDS,
        }
        if status == "input_required" and (shown := form(state)) is not None:
            asked = types.ElicitRequest(params=shown).model_dump(
                by_alias=True, mode="json", exclude_none=True
            )
            task["inputRequests"] = {question_id(state): asked}
        if state.outcome is not None:
            answer = status_line(state)  # clients validate it against the schema of run_start
            task["result"] = {
                "content": [{"type": "text", "text": msgspec.json.encode(answer).decode()}],
                "structuredContent": msgspec.to_builtins(answer),
                "isError": not state.outcome.good,
            }
        return task


def knows_tasks(context: Any) -> bool:
    """Whether the client declared the extension."""
    can = context.session.client_capabilities
    return can is not None and TASKS in (can.extensions or {})


def status_of(state: RunState) -> tuple[Status, str]:
    """A run's status as a task, with a message; a run that is over is completed, unless it was cancelled."""
    if state.outcome is Outcome.CANCELLED:
        return "cancelled", state.reason
    if state.outcome is not None:
        return "completed", f"{state.outcome}: {state.reason}"
    if form(state) is not None:
        return "input_required", "a person has to answer"
    return "working", f"lap {len(state.laps) + 1}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
