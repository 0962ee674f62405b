"""The content blocks of a prompt as the text of a task: words, and the files that somebody mentioned."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FENCE = "```"


def prompt_text(blocks: Any) -> str:
    """Everything that can be said in words; images and sounds are left out."""
    parts = [_said(each) for each in blocks if isinstance(each, dict)] if isinstance(blocks, list) else []
    return "".join(parts).strip()


def _said(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "resource_link":
            return _place(str(block.get("uri", "")))
        case "resource" if isinstance(resource := block.get("resource"), dict):
            place = _place(str(resource.get("uri", "")))
            text = str(resource.get("text") or "")
            fence = FENCE
            while fence in text:
                fence += "`"
            return f"\n\n{place}:\n{fence}\n{text}\n{fence}\n\n" if text else place
    return ""


def _place(uri: str) -> str:
    """A file by its path, anything else by its address."""
    parts = urlsplit(uri)
    lines = f" ({parts.fragment})" if parts.fragment else ""
    return f"{Path(unquote(parts.path))}{lines}" if parts.scheme == "file" else uri
