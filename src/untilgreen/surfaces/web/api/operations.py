"""The one table of operations: the routes and the OpenAPI document are both made from it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from untilgreen.surfaces.web.api import requests
from untilgreen.surfaces.web.people import Role

PREFIX = "/api/v1"
MCP = "/mcp"


class Operation(Struct, frozen=True, kw_only=True):
    """One thing that can be asked of the server."""

    name: str
    """Also the name of the function that does it."""
    module: str
    """The module of that function, imported when it is first asked for."""
    method: Literal["GET", "POST"] = "GET"
    path: str
    summary: str
    query: type[Struct] = requests.Nothing
    body: type[Struct] | None = None
    answer: str
    """The name of the answer's type; of each event where it is a stream. `answer_type` finds it."""
    media: str = "application/json"
    forms: tuple[str, ...] = ()
    """Further media types that a request may choose."""
    role: Role = "viewer"
    """The role that the caller needs."""
    light: bool = False
    """Whether it is answered before the runs are opened."""

    @property
    def changes(self) -> bool:
        """Whether it changes anything; only then do agents, roles and `--read-only` matter."""
        return self.method != "GET"

    @property
    def streams(self) -> bool:
        """Whether the answer is a stream of events."""
        return self.media == "text/event-stream"


def _get(name: str, path: str, summary: str, answer: str, **more: Any) -> Operation:
    given = {"module": "reading", **more}
    return Operation(name=name, path=PREFIX + path, summary=summary, answer=answer, **given)


def _post(name: str, path: str, summary: str, body: type[Struct], **more: Any) -> Operation:
    given = {"module": "control", "answer": "Done", "role": "operator", **more}
    return Operation(name=name, method="POST", path=PREFIX + path, summary=summary, body=body, **given)


TABLE: tuple[Operation, ...] = (
    _get("health", "/health", "Tell whether the server answers.", "Health", module="health", light=True),
    _get("version", "/version", "Name the server's version and limits.", "ServerVersion"),
    _get("list_runs", "/runs", "List runs, newest first.", "RunsPage", query=requests.Page),
    _get("show_run", "/runs/{run}", "Show one run.", "RunView"),
    _get("course", "/runs/{run}/progress", "Show how a run went, lap by lap.", "Course"),
    _get("why", "/runs/{run}/why", "Explain a run's last decision.", "Reasons"),
    _get("show_lap", "/runs/{run}/laps/{lap}", "Show one lap.", "LapPage"),
    _get(
        "gate_output",
        "/runs/{run}/laps/{lap}/output/{gate}",
        "Show what a gate printed.",
        "TextPart",
        query=requests.Offset,
    ),
    _get(
        "activity",
        "/runs/{run}/laps/{lap}/activity",
        "Show what the agent did.",
        "ActivityPart",
        query=requests.From,
    ),
    _get(
        "report",
        "/runs/{run}/report",
        "Write a report.",
        "str",
        query=requests.Format,
        media="text/plain",
        forms=("text/html", "text/markdown", "application/xml", "application/json"),
    ),
    _get("compare", "/compare", "Compare runs.", "Comparison", query=requests.Names),
    _get("inbox", "/inbox", "List the open questions of all runs.", "Inbox"),
    _get(
        "follow_run",
        "/runs/{run}/events",
        "Stream every event of a run, and each new one.",
        "EventLine",
        query=requests.After,
        module="streams",
        media="text/event-stream",
    ),
    _get(
        "follow_all",
        "/events",
        "Stream the runs that change.",
        "RunSummary",
        module="streams",
        media="text/event-stream",
    ),
    _get(
        "backtest",
        "/backtest",
        "Replay your runs with other strategies.",
        "Backtest",
        query=requests.Strategies,
        module="machine",
    ),
    _get("fleet", "/fleet", "Show the workers, queues and limits of the fleet.", "FleetView", module="fleet"),
    _get("plugins", "/plugins", "List what a spec can name.", "Plugins", module="machine"),
    _get("doctor", "/doctor", "Check what a run needs here.", "Checkup", module="machine"),
    _get("metrics", "/metrics", "Print metrics for Prometheus.", "str", media="text/plain"),
    _get(
        "spec_form",
        "/spec",
        "Show the schema of a spec, and which keys the directory's spec sets.",
        "SpecForm",
        query=requests.Place,
        module="start",
    ),
    _post(
        "plan",
        "/plan",
        "Show what a run would do and could cost.",
        requests.NewRun,
        answer="Planned",
        module="start",
        role="admin",
    ),
    _post("start_run", "/runs", "Start a run.", requests.NewRun, module="start", role="admin"),
    _post(
        "fork",
        "/runs/{run}/fork",
        "Start another run from the files of a lap.",
        requests.ForkRun,
        module="start",
        role="admin",
    ),
    _post(
        "restore",
        "/runs/{run}/restore",
        "Bring back the files of a lap.",
        requests.RestoreLap,
        answer="Restored",
        module="files",
        role="admin",
    ),
    _post(
        "apply",
        "/runs/{run}/apply",
        "Merge a run's result into your files.",
        requests.ApplyRun,
        answer="Applied",
        module="files",
        role="admin",
    ),
    _post("answer", "/runs/{run}/answer", "Answer a run's question.", requests.AnswerBody),
    _post("steer", "/runs/{run}/steer", "Leave a note for the agent's next brief.", requests.Note),
    _post("comment", "/runs/{run}/comment", "Comment on lines of a diff.", requests.LineComment),
    _post("pause", "/runs/{run}/pause", "Pause a run after the current turn.", requests.Reason),
    _post("resume", "/runs/{run}/resume", "Continue a paused or interrupted run.", requests.Reason),
    _post("stop", "/runs/{run}/stop", "Stop a run after the current lap.", requests.Reason),
    _post("cancel", "/runs/{run}/cancel", "Stop a run now, and kill the agent's turn.", requests.Reason),
)
