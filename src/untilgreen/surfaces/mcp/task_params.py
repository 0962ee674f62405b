"""What requests about tasks carry; on their own, so that offering tasks loads nothing else."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from pydantic import Field

TASKS = "io.modelcontextprotocol/tasks"


class TaskParams(types.RequestParams):  # type: ignore[misc] # an extra, whose types need not be there
    """Which task."""

    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    """Which task, and what people said."""

    input_responses: dict[str, Any] = Field(default_factory=dict, alias="inputResponses")
