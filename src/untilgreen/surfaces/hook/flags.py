"""The flags of a hook, parsed without the command line's parser, which is slower than most hooks."""

from __future__ import annotations

from pathlib import Path

from untilgreen.engine.store.runs import Store
from untilgreen.errors import UserError, nearest
from untilgreen.surfaces.hook.call import Call, answer
from untilgreen.surfaces.install.targets import target_of
from untilgreen.surfaces.text.printing import print_problem

_FLAGS = ("--agent", "--deadline", "--state-dir")
_FAILED = 1  # agents read 2 as "do not stop"


def answered(words: list[str], data: bytes, entered: float) -> int:
    """Answer a call of `untilgreen hook`; a wrong flag is reported, and lets the session stop."""
    try:
        flags = _flags(words[1:])
        agent = target_of(flags.get("--agent", "")).name
        where = flags.get("--state-dir")
        call = Call(
            event=words[0],
            agent=agent,
            store=Store(Path(where) if where else None),
            deadline=_seconds(flags.get("--deadline")),
            entered=entered,
        )
    except UserError as error:
        print_problem(str(error), "untilgreen hook --help")
        return _FAILED
    return answer(call, data)


def _flags(words: list[str]) -> dict[str, str]:
    flags: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in _FLAGS:
            raise UserError(f"A hook has no flag {name!r}. {nearest(name, _FLAGS)}")
        flags[name] = value if equals else next(rest, "")
    return flags


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError as error:
        raise UserError(f"--deadline {text!r} is not a number of seconds.") from error
