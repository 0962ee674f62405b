"""The demo's story for a real agent: what a scripted model has it do and say in each lap."""

from __future__ import annotations

from typing import Any

from untilgreen.testing.demo.agent import STORIES
from untilgreen.testing.demo.project import CART


def answers(story: str) -> list[dict[str, Any]]:
    """Two answers for each lap: the edit, made by a command, and then the text."""
    code, turns = CART, list[dict[str, Any]]()
    for said, edits in STORIES[story]:
        for old, new in edits:
            code = code.replace(old, new)
        command = f"cat > cart.py <<'END_OF_CART'\n{code}END_OF_CART"
        turns += [{"text": "I look at cart.py and change it.", "calls": [{"shell": command}]}, {"text": said}]
    return turns
