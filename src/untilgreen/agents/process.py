"""What every adapter of a command line agent starts with: run it at the desk, and hear what it says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from untilgreen.agents.output import Shown
from untilgreen.errors import AgentUnavailable
from untilgreen.ports import Desk
from untilgreen.process.capture import LONGEST_LINE
from untilgreen.process.run import Ran, run
from untilgreen.process.start import CannotStart

__all__ = ["Ran", "find_program", "run_cli"]


async def run_cli(
    argv: Sequence[str],
    desk: Desk,
    *,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    on_error_line: Callable[[str], None] | None = None,
    longest_line: int = LONGEST_LINE,
) -> Ran:
    """Run a program in the desk's directory until it ends, stalls or is cancelled; nothing of it stays alive.

    Without listeners its lines are reported as output. The raw output goes to the desk's transcript, errors
    to a file beside it. A program that can't be started raises AgentUnavailable. One at a time for each desk.
    """
    variables = {**desk.env, **(env or {})}
    program = find_program(argv[0], desk.root, variables)
    shown = Shown(desk.report)
    try:
        return await run(
            [program, *argv[1:]],
            cwd=desk.root,
            env=variables,
            stdin=stdin.encode(errors="replace") if isinstance(stdin, str) else stdin,
            keep=desk.transcript,
            keep_errors=_beside(desk.transcript),
            on_line=on_line or shown.line,
            on_error_line=on_error_line or shown.line,
            longest_line=longest_line,
            silence=desk.silence,
            note=desk.tree,
            walls=desk.walls,
        )
    except CannotStart as error:
        raise AgentUnavailable(str(error)) from error
    finally:
        shown.close()


def _beside(transcript: Path | None) -> Path | None:
    return transcript.with_name(f"{transcript.stem}.stderr.txt") if transcript else None


def find_program(word: str, root: Path, env: Mapping[str, str]) -> str:
    """The program that a command's first word means, found as a shell in `root` would find it."""
    if os.sep not in word and (os.altsep is None or os.altsep not in word):
        path = env.get("PATH", os.environ.get("PATH", os.defpath))
        if found := shutil.which(word, path=path):
            return found
        raise AgentUnavailable(
            f"There is no program {word!r} in any directory of PATH ({path}). "
            f"Install it, or give its path.{_no_shell(word)}"
        )
    place = root / word
    if not place.exists():
        raise AgentUnavailable(
            f"There is no program {word!r}: {str(place)!r} does not exist. "
            f"Create it, or name another one.{_no_shell(word)}"
        )
    if not place.is_file():
        raise AgentUnavailable(f"{str(place)!r} is a directory, not a program. Name the program in it.")
    if not os.access(place, os.X_OK):
        raise AgentUnavailable(
            f"{str(place)!r} is not executable. Run `chmod +x {word}`, or start it with its interpreter, "
            f"as in 'cmd:sh {word}'."
        )
    return word


def _no_shell(word: str) -> str:
    if word.startswith("~") or "$" in word:
        return " `~` and `$NAME` are not expanded, since no shell is started."
    return ""
