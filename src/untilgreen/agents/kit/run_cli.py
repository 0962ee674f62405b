"""Finds and runs a program in a turn's directory; enough for a simple adapter."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from untilgreen.agents.kit.throttle import Throttle
from untilgreen.errors import AgentUnavailable, ConfigError
from untilgreen.ports import TurnContext
from untilgreen.process.capture import LONGEST_LINE
from untilgreen.process.run import Ran, run
from untilgreen.process.start import CannotStart
from untilgreen.process.talk import Talk

__all__ = ["Ran", "find_program", "run_cli", "split_command"]


async def run_cli(
    argv: Sequence[str],
    context: TurnContext,
    *,
    stdin: str | bytes | Talk | None = None,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
    on_error_line: Callable[[str], None] | None = None,
    longest_line: int = LONGEST_LINE,
    install: str = "",
) -> Ran:
    """Run a program in the turn's directory until it ends, stalls or is cancelled; none of it stays running.

    Without listeners its lines are reported as output. The raw output goes to the turn's transcript, errors
    to a file beside it. A program that can't be started raises AgentUnavailable, which names the command to
    `install` it. A turn runs one program at a time.
    """
    variables = {**context.env, **(env or {})}
    program = find_program(argv[0], context.root, variables, install)
    shown = Throttle(context.report)
    try:
        return await run(
            [program, *argv[1:]],
            cwd=context.root,
            env=variables,
            stdin=stdin.encode(errors="replace") if isinstance(stdin, str) else stdin,
            keep=context.transcript,
            keep_errors=_beside(context.transcript),
            on_line=on_line or shown.line,
            on_error_line=on_error_line or shown.line,
            longest_line=longest_line,
            silence=context.silence,
            note=context.tree,
            sandbox=context.sandbox,
        )
    except CannotStart as error:
        raise AgentUnavailable(str(error)) from error
    finally:
        shown.close()


def _beside(transcript: Path | None) -> Path | None:
    return transcript.with_name(f"{transcript.stem}.stderr.txt") if transcript else None


def split_command(command: str) -> list[str]:
    """The words of a command that no shell starts, split as a shell would."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ConfigError(
            f"The agent command {command!r} can't be split into words: {error}. Check its quotes."
        ) from None


def find_program(word: str, root: Path, env: Mapping[str, str], install: str = "") -> str:
    """Find the program that a command's first word means, as a shell in `root` would."""
    if os.sep not in word and (os.altsep is None or os.altsep not in word):
        path = env.get("PATH", os.environ.get("PATH", os.defpath))
        if found := shutil.which(word, path=path):
            return found
        how = f"Install it with `{install}`" if install else "Install it"
        raise AgentUnavailable(
            f"There is no program {word!r} on your PATH. {how}, or give its full path.{_no_shell(word)}"
        )
    place = root / word
    if not place.exists():
        raise AgentUnavailable(
            f"There is no program {word!r}: {str(place)!r} does not exist. "
            f"Create it, or choose another.{_no_shell(word)}"
        )
    if not place.is_file():
        raise AgentUnavailable(f"{str(place)!r} is a directory, not a program. Choose the program in it.")
    if not os.access(place, os.X_OK):
        raise AgentUnavailable(
            f"{str(place)!r} is not executable. Run `chmod +x {word}`, or start it with its interpreter, "
            f"as in 'cmd:sh {word}'."
        )
    return word


def _no_shell(word: str) -> str:
    if word.startswith("~") or "$" in word:
        return " `~` and `$NAME` are not expanded, because no shell is started."
    return ""
