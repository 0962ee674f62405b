"""What an agent tells its hooks, in one shape for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

_OVER = frozenset({"completed", "complete", "done", "failed", "killed", "stopped", "cancelled", "exited"})
"""States of a background task that has ended."""


class Payload(Struct, frozen=True, kw_only=True):
    """The part of a hook's input that matters here; what an agent does not send is empty."""

    session: str = ""
    directory: Path | None = None
    text: str = ""
    """The agent's own last words."""
    prompt: str = ""
    kept_going: bool | None = None
    background: str = ""
    transcript: str = ""
    stamp: int | None = None
    """When the agent called its hooks, in milliseconds, where it sends that as a number."""
    error: str = ""
    aborted: bool = False
    """The person aborted the turn."""


def read(data: bytes) -> Payload:
    """The payload; unknown fields, and fields of another type, are ignored."""
    try:
        said: Any = msgspec.json.decode(data.strip() or b"{}")
    except (ValueError, RecursionError):
        try:
            said = msgspec.json.decode(data.decode("utf-8-sig", "replace").encode())
        except (ValueError, RecursionError):
            said = {}
    if not isinstance(said, Mapping):
        said = {}
    cwd = _text(said, "cwd", "directory")
    error, stamp = said.get("error"), said.get("timestamp")
    return Payload(
        session=_text(said, "session_id", "sessionId", "sessionID"),
        directory=Path(cwd) if cwd else None,
        text=_text(said, "last_assistant_message", "text", "prompt_response"),
        prompt=_text(said, "prompt", "user_prompt", "initial_prompt"),
        kept_going=_flag(said, "stop_hook_active"),
        background=_running(said.get("background_tasks")),
        transcript=_text(said, "transcript_path", "transcriptPath"),
        stamp=stamp if isinstance(stamp, int) and not isinstance(stamp, bool) else None,
        error=error if isinstance(error, str) else _error(error),
        aborted="abort" in _error_name(error).lower(),
    )


def _text(said: Mapping[str, Any], *names: str) -> str:
    return next((said[name] for name in names if isinstance(said.get(name), str)), "")


def _flag(said: Mapping[str, Any], name: str) -> bool | None:
    value = said.get(name)
    return value if isinstance(value, bool) else None


def _running(tasks: Any) -> str:
    """The background tasks that are still running, by name."""
    if not isinstance(tasks, list):
        return ""
    names = [_name(task) for task in tasks if not _is_over(task)]
    return ", ".join(names)


def _is_over(task: Any) -> bool:
    return isinstance(task, Mapping) and str(task.get("status", "")).lower() in _OVER


def _name(task: Any) -> str:
    if not isinstance(task, Mapping):
        return str(task)
    return _text(task, "description", "command", "name", "id", "task_id") or "a task"


def _error(error: Any) -> str:
    if not isinstance(error, Mapping):
        return ""
    data = error.get("data")
    data = data if isinstance(data, Mapping) else {}
    said = ": ".join(
        word for word in (_error_name(error), _text(data, "message") or _text(error, "message")) if word
    )
    return said + _response(data)


def _response(data: Mapping[str, Any]) -> str:
    """The provider's status, and when it wants to be asked again; both decide what follows."""
    status, headers = data.get("statusCode"), data.get("responseHeaders")
    wait = _text(headers, "retry-after") if isinstance(headers, Mapping) else ""
    known = [f"status {status}"] if isinstance(status, int) and not isinstance(status, bool) else []
    known += [f"retry-after: {wait}"] if wait else []
    return f" ({', '.join(known)})" if known else ""


def _error_name(error: Any) -> str:
    return _text(error, "name", "type") if isinstance(error, Mapping) else ""
