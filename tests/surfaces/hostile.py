"""Text that tries to escape its context, in every field that an agent, a tool or a repository fills."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.core.helpers import Run, Turn, gate
from untilgreen.core.detectors.cycle import Cycle
from untilgreen.core.strategies.hybrid import Hybrid
from untilgreen.core.values.events import Event
from untilgreen.core.values.limits import Limits
from untilgreen.core.values.model import Change, Finding, PartSpec, Reply, Verdict
from untilgreen.core.values.state import RunState

PIECES = (
    *("<script>alert(1)</script>", "</title>", "</pre>", "</style>", "<img src=x onerror=a>"),
    *("<!--", "-->", "]]>", "'", '"', "&", "&lt;", "&#60;", "<", ">", "=", "/", "<svg onload=a>"),
    *("javascript:", "<?php", "<![CDATA[", "`", "``", "```", "~~~", "|", "\\|", "\\", "*", "_"),
    *("#", "- ", "> ", "1. ", "[x](http://e.example)", "![i](http://e.example/i)"),
    *("<http://e.example>", "http://e.example", "www.e.example", "@all", "x@e.example", "\n"),
    *("\n\n", "\r", "\r\n", "\n# ", "\n---\n", "\n    ", "\t", "[r]: http://e.example", "$x$"),
    *("~~", "<br>", "\n::error::x", "::set-output name=a::b", "%0A::warning::x", "%0D%0A"),
    *("##[add-path]x", "::stop-commands::x", "\x1b[2J", "\x1b]0;t\x07"),
    *("\x1b]8;;http://e.example\x1b\\", "\x1b", "\x1bP", "\x9b31m", "\x9d0;t\x9c", "\x07"),
    *("\x08", "\x00", "\x7f", "\x85", "\u202e", "\u2066", "\u2069", "\u2028", "\x0b", "\x0c"),
    *("\x1c", "洞", "e\u0301", "\u200b", "a", " ", "word", "--flag", "$(id)", ";", "\ufffe"),
    *("\U0001f7e2",),
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8"), max_size=3), max_size=8).map(
    "".join
)
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that no line on a terminal may contain."""
UNSAFE_BUT_LINES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def played(text: str) -> Run:
    """A run that got stuck, with this text in every field that others fill."""
    name = text or "gate"
    run = Run(
        gate(name, shown_as=text, options={"run": text}),
        gate(f"{name} too", required=False),
        strategy=Hybrid(),
        detectors=[Cycle()],
        task=text or "task",
        agents=(PartSpec(name=name), PartSpec(name=f"cmd:{text}")),
        labels={text: text},
        remedies=("hint",),
    )
    finding = Finding(id=name, message=text, file=text, line=3)
    verdicts = {
        name: Verdict(status="fail", findings=(finding,), excerpt=text),
        f"{name} too": Verdict(status="error", findings=(finding,), excerpt=text, flaky=True),
    }
    while run.state.ending is None:
        turn = Turn(reply=Reply(text=text, detail=text), changes=(Change(path=text),), tree="t")
        run.lap(turn, **verdicts)
    run.end()
    return run


def ended(text: str) -> RunState:
    """The state at the end of that run, with commits by the agent and files that were changed before it."""
    state = played(text).state
    where = {"mode": "worktree", "dirty": [text, text], "forked": text}
    plan = msgspec.structs.replace(state.plan, workspace=where)
    return msgspec.structs.replace(state, plan=plan, commits=(text,), commit="c" * 40)


def events(text: str) -> Iterator[Event]:
    """Every type of event, in each of its forms, with this text in every text field."""
    union = msgspec.inspect.type_info(Event)
    assert isinstance(union, msgspec.inspect.UnionType)
    for kind in union.types:
        for form in range(4):
            yield msgspec.convert(_filled(kind, text, form), Event)


def _filled(kind: Any, text: str, form: int) -> Any:  # noqa: C901 - one case per kind of type
    """A value of this type, as JSON has it; `form` selects among alternatives."""
    inspect = msgspec.inspect
    match kind:
        case inspect.StrType() | inspect.AnyType():
            return text
        case inspect.BoolType():
            return form % 2 == 0
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.NoneType():
            return None
        case inspect.LiteralType(values=values):
            return values[form % len(values)]
        case inspect.EnumType(cls=cls):
            members: list[enum.Enum] = list(cls)
            return members[form % len(members)].value
        case inspect.UnionType(types=types):
            told = [each for each in types if not isinstance(each, inspect.NoneType)]
            return _filled(told[form % len(told)], text, form)
        case inspect.ListType() | inspect.VarTupleType() | inspect.CollectionType() | inspect.SetType():
            return [_filled(kind.item_type, text, form)]
        case inspect.TupleType(item_types=types):
            return [_filled(each, text, form) for each in types]
        case inspect.DictType(key_type=key, value_type=value):
            return {_filled(key, text, form): _filled(value, text, form)}
        case inspect.StructType(fields=fields):
            if kind.cls is Limits:  # its strings are numbers with units
                return {}
            tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
            return tag | {each.encode_name: _filled(each.type, text, form) for each in fields}
        case _:
            raise AssertionError(f"There is no hostile value of {kind} yet.")
