"""The flags of a hook, read without the parser of the command line, which takes longer than most hooks."""

from __future__ import annotations

from pathlib import Path

from untilgreen.engine.store import Store
from untilgreen.errors import UserError, nearest
from untilgreen.surfaces.cli.say import complain
from untilgreen.surfaces.hook.call import Call, answer

AGENTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode")
_FLAGS = ("--agent", "--deadline", "--state-dir")
_FAILED = 1  # agents take 2 for "don't stop"


def answered(words: list[str], data: bytes, entered: float) -> int:
    """Answer a call of `untilgreen hook`; what is wrong with it is said, and lets the session stop."""
    try:
        flags = _flags(words[1:])
        agent = flags.get("--agent", "")
        if agent not in AGENTS:
            raise UserError(f"--agent {agent!r} has no hooks that are known here. {nearest(agent, AGENTS)}")
        where = flags.get("--state-dir")
        call = Call(
            event=words[0],
            agent=agent,
            store=Store(Path(where) if where else None),
            deadline=_seconds(flags.get("--deadline")),
            entered=entered,
        )
    except UserError as error:
        complain(str(error), "untilgreen hook --help")
        return _FAILED
    return answer(call, data)


def _flags(words: list[str]) -> dict[str, str]:
    flags: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in _FLAGS:
            raise UserError(f"There is no flag {name!r} for a hook. {nearest(name, _FLAGS)}")
        flags[name] = value if equals else next(rest, "")
    return flags


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError as error:
        raise UserError(f"--deadline {text!r} is no number of seconds.") from error
