"""What a lap changed, as the diffs of its tool call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from untilgreen.core.values.state import Lap, Open, RunState
from untilgreen.engine.store.scratch import Scratch
from untilgreen.engine.worktree.setup import top_of
from untilgreen.engine.worktree.snapshots import lap_diff
from untilgreen.errors import UntilgreenError
from untilgreen.surfaces.acp.updates import Update, lap_call, text_content, words_of
from untilgreen.surfaces.text.safe_text import inert_lines

MOST_DIFFS = 100
MOST_CHARACTERS = 500_000
"""How much of a lap's diffs is shown; editors keep the whole conversation in memory."""


async def lap_changes(state: RunState, scratch: Scratch, lap: Lap | Open) -> Update | None:
    """The update that completes a lap's tool call with its diffs; None if it changed nothing."""
    if lap.base is None or lap.snapshot in (None, lap.base):
        return None
    words = [text_content(words_of(lap.reply))] if lap.reply is not None else []
    update: Update = {"sessionUpdate": "tool_call_update", "toolCallId": lap_call(state.run, lap.number)}
    try:
        top = await top_of(state.plan, scratch)
        diff = await lap_diff(state, scratch, lap)
    except UntilgreenError as error:  # its snapshots are gone; the rest of the run can still be shown
        return {**update, "content": [*words, text_content(f"The diff can't be shown: {error}")]}
    shown = diff[:MOST_CHARACTERS].rpartition("\n")[0] if len(diff) > MOST_CHARACTERS else diff
    diffs = list(hunks(shown, top))
    left_out = len(diffs) > MOST_DIFFS or len(shown) < len(diff)
    more = f"There is more: untilgreen diff {state.run}@{lap.number}"
    return {
        **update,
        "content": [*words, *diffs[:MOST_DIFFS], *([text_content(more)] if left_out else [])],
        "locations": [{"path": path} for path in dict.fromkeys(each["path"] for each in diffs[:MOST_DIFFS])],
    }


def hunks(diff: str, top: Path) -> Iterator[dict[str, Any]]:
    """Each hunk of a unified diff as the text before and after; a file that was added has none before."""
    path, added, in_head = "", False, True
    hunk = _Hunk()
    for line in [*diff.split("\n"), "@@"]:
        if line.startswith(("diff --git ", "@@")):
            if hunk.changed:
                yield {"type": "diff", "path": path, **hunk.texts(added=added)}
            hunk, in_head = _Hunk(), line[0] == "d"
            path, added = ("", False) if in_head else (path, added)
        elif not in_head:
            hunk.add(line)
        elif line.startswith(("--- ", "+++ ")):
            added = added or line == "--- /dev/null"
            path = path if line.endswith("/dev/null") else str(top / _unquoted(line[4:].rstrip("\t"))[2:])


class _Hunk:
    """The lines of both sides."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._after: list[str] = []
        self._last: tuple[list[str], ...] = ()
        """The sides that have the last line."""

    @property
    def changed(self) -> bool:
        return bool(self._before or self._after)

    def add(self, line: str) -> None:
        if line.startswith("\\"):  # the line before this one has no end
            for side in self._last:
                side[-1] = side[-1].removesuffix("\n")
        elif line:
            sides = {"-": (self._before,), "+": (self._after,), " ": (self._before, self._after)}
            self._last = sides.get(line[0], ())
            for side in self._last:
                side.append(line[1:] + "\n")

    def texts(self, *, added: bool) -> dict[str, str | None]:
        old, new = (inert_lines("".join(side)) for side in (self._before, self._after))
        return {"oldText": None if added else old, "newText": new}


def _unquoted(path: str) -> str:
    """The path itself; git writes unusual ones as C strings."""
    if not path.startswith('"'):
        return path
    raw = path[1:-1].encode("latin-1", "replace").decode("unicode_escape")
    return raw.encode("latin-1", "replace").decode(errors="replace")
