"""Portable tool calls, translated to the tools that the agent offers in the request."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

from msgspec import Struct, field

from untilgreen.testing.model.request import Asked, Tool, ToolKind
from untilgreen.testing.model.scenario import Answer, Call, Scenario, Write

_WRITERS = (
    "write",
    "write_file",
    "writefile",
    "create",
    "create_file",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "file_editor",
    "text_editor",
    "developer__text_editor",
    "developer__write",
    "fs_write",
)
_SHELLS = (
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "run_shell_command",
    "terminal",
    "execute_bash",
    "run_command",
    "developer__shell",
    "local_shell",
    "powershell",
)
_PATHS = ("file_path", "filepath", "path", "absolute_path", "filename", "target_file")
_CONTENTS = ("content", "contents", "file_text", "text")
_COMMANDS = ("command", "cmd", "script")
_BLANKS: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}


class Use(Struct, frozen=True, kw_only=True):
    """One tool call as an API will write it."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    kind: ToolKind = "function"
    namespace: str | None = None
    input: str = ""
    id: str = field(default_factory=lambda: uuid4().hex[:20])


def resolve(answer: Answer, asked: Asked, scenario: Scenario) -> tuple[str, list[Use]]:
    """The text and the tool calls of an answer; a call that no tool fits is described in the text."""
    text, uses = answer.text, []
    for call in answer.calls:
        if not asked.tools:
            text = "\n\n".join(part for part in (text, _in_words(call, scenario.no_tools_as)) if part)
            continue
        use = _use(call, asked.tools, scenario.vars.get("cwd"))
        if use is None:
            offered = ", ".join(tool.name for tool in asked.tools)
            text += f"\n[scripted model: none of the tools {offered} fits {call}]"
        else:
            uses.append(use)
    return text, uses


def filled(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The given arguments, and some value for whatever else the schema requires."""
    args, properties = dict(given), schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name in args:
            continue
        wanted = properties.get(name) or {}
        kind = wanted.get("type", "string")
        kind = str(kind[0] if isinstance(kind, list) and kind else kind).lower()
        args[name] = wanted["enum"][0] if wanted.get("enum") else _BLANKS.get(kind, "scripted")
    return args


def _use(call: Call, tools: Sequence[Tool], cwd: str | None) -> Use | None:
    if call.write is not None:
        return _writing(call.write, tools, cwd)
    if call.shell is not None:
        return _running(call.shell, tools)
    tool, name = _find(tools, ((call.name or "").lower(),)), call.name or ""
    namespace = tool.namespace if tool else None
    if call.input is not None:
        return Use(name=name, kind="custom", input=call.input, namespace=namespace)
    return Use(name=name, args=call.args, namespace=namespace)


def _find(tools: Sequence[Tool], names: Sequence[str]) -> Tool | None:
    by_name = {tool.name.lower(): tool for tool in tools}
    return next((by_name[name] for name in names if name in by_name), None)


def _key(properties: dict[str, Any], wanted: Sequence[str]) -> str | None:
    by_lower = {name.lower(): name for name in properties}
    return next((by_lower[name] for name in wanted if name in by_lower), None)


def _running(command: str, tools: Sequence[Tool]) -> Use | None:
    tool = _find(tools, _SHELLS)
    if tool is None:
        return None
    words = ["bash", "-lc", command]
    if tool.kind == "local_shell":
        return Use(name=tool.name, kind="local_shell", args={"command": words})
    properties = tool.schema.get("properties") or {}
    key = _key(properties, _COMMANDS) or "command"
    listed = "array" in str((properties.get(key) or {}).get("type", "")).lower()
    args = filled(tool.schema, {key: words if listed else command})
    return Use(name=tool.name, args=args, namespace=tool.namespace)


def _writing(file: Write, tools: Sequence[Tool], cwd: str | None) -> Use | None:
    tool = _find(tools, _WRITERS)
    if tool is not None and tool.kind == "function":
        properties = tool.schema.get("properties") or {}
        path_key, content_key = _key(properties, _PATHS), _key(properties, _CONTENTS)
        if path_key and content_key:
            # Some agents refuse a relative path, and say so in the schema only.
            absolute = cwd and "absolute" in json.dumps(tool.schema).lower()
            path = str(PurePosixPath(cwd or "", file.path)) if absolute else file.path
            args = {path_key: path, content_key: file.content}
            if "command" in properties:
                known = (properties["command"] or {}).get("enum") or ["create"]
                args["command"] = next((each for each in known if each in ("create", "write")), known[0])
            return Use(name=tool.name, args=filled(tool.schema, args), namespace=tool.namespace)
    patch = _find(tools, ("apply_patch",))
    if patch is not None:
        return _patching(file, patch)
    content = file.content.rstrip("\n")
    return _running(f"cat > {shlex.quote(file.path)} <<'SCRIPTED_EOF'\n{content}\nSCRIPTED_EOF", tools)


def _patching(file: Write, tool: Tool) -> Use:
    """A patch that writes the whole file."""
    added = "".join(f"+{line}\n" for line in file.content.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {file.path}\n{added}*** End Patch\n"
    if tool.kind == "custom":
        return Use(name=tool.name, kind="custom", input=patch, namespace=tool.namespace)
    key = next(iter(tool.schema.get("properties") or {"input": None}))
    return Use(name=tool.name, args={key: patch}, namespace=tool.namespace)


def _in_words(call: Call, how: str) -> str:
    """A tool call written as text, for an agent that reads its calls from the text."""
    if call.write is not None:
        content = call.write.content.rstrip("\n")
        if how == "bash":
            return f"```bash\ncat > {call.write.path} <<'EOF'\n{content}\nEOF\n```"
        return f"{call.write.path}\n```\n{content}\n```"
    return f"```bash\n{call.shell}\n```" if call.shell is not None else f"{call.name} {json.dumps(call.args)}"
