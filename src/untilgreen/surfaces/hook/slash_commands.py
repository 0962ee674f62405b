"""Commands that a person types into a session: /ralph, /cancel-ralph and /untilgreen.

The task is taken from the prompt exactly as it was typed. A flag is a word that begins with two dashes,
outside quotes; an unknown flag is an error, never a part of the task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from untilgreen.config.sources.from_text import gates_from
from untilgreen.engine import session_loop, session_start
from untilgreen.engine.session_plan import LoopRequest
from untilgreen.engine.store.runs import Store
from untilgreen.engine.store.session_runs import found
from untilgreen.errors import UntilgreenError, UserError, nearest
from untilgreen.regex import regex
from untilgreen.surfaces.hook import answers
from untilgreen.surfaces.hook.answers import Answer
from untilgreen.surfaces.hook.payload import Payload
from untilgreen.surfaces.text.questions import choices_of

VALUES = ("--max-iterations", "--completion-promise", "--description", "--gate", "--strategy")
SWITCHES = ("--replace", "--take")
VERBS = ("start", "go", "answer", "cancel", "state", "resume")

_NAMES = "(ralph|cancel-ralph|untilgreen)"
_COMMAND = regex(rf"\s*[/$](?:[\w-]+:)?{_NAMES}(?=\s|$)[ \t]*\r?\n?(.*)", re.DOTALL)
_HANDED_ON = (
    # Gemini CLI and Qwen Code put the command's text before what was typed, and omit that if it is empty.
    regex(rf"\s*(?:<!--[^\n]*-->\n)?untilgreen: /{_NAMES}\n[^\n]*(?:\n\n/\1(?=\s|$)[ \t]*(.*))?", re.DOTALL),
    # GitHub Copilot CLI wraps a skill around it.
    regex(
        rf'[^\n]*\n+<skill-context name="{_NAMES}">\n.*?\nuntilgreen: /\1\n[^\n]*\s*?'
        r"(?:\nARGUMENTS: (.*?))?\n</skill-context>\s*",
        re.DOTALL,
    ),
)
"""Commands from agents that expand them before they call their hooks."""
_QUOTED = regex(r"""("(?:[^"\\]|\\.)*"|'[^']*')(?=\s|$)""", re.DOTALL)
_FLAG = regex(r"--[A-Za-z][\w-]*|--(?=\s|$)")
_WORD = regex(r"\S+")


class Command(Struct, frozen=True, kw_only=True):
    """A command and everything after it."""

    name: str
    rest: str = ""


class Parsed(Struct, kw_only=True):
    """The task as it was typed, and its flags."""

    task: str = ""
    values: dict[str, list[str]] = field(default_factory=dict)

    def one(self, flag: str) -> str | None:
        """The value of a flag that may be given once."""
        given = self.values.get(flag, [])
        if len(given) > 1:
            raise UserError(f"{flag} was given twice. Keep one.")
        return given[0] if given else None


def command_of(prompt: str) -> Command | None:
    """The command in a prompt, if it is one of ours."""
    for form in (_COMMAND, *_HANDED_ON):
        if found := form.fullmatch(prompt):
            return Command(name=found[1], rest=found[2] or "")
    return None


async def run_command(
    command: Command, payload: Payload, agent: str, store: Store, seconds: float | None
) -> Answer:
    """Run the command; a command that fails says why, and does not reach the model."""
    try:
        name, rest = command.name, command.rest
        if name == "untilgreen":
            verb, _, rest = rest.strip().partition(" ")
            name = verb or "state"
        if name in ("ralph", "start"):
            return await _start(rest, payload, agent, store, seconds)
        if name == "go":
            return answers.of(await session_loop.go(payload.session, store, seconds=seconds))
        if name in ("cancel", "cancel-ralph"):
            return await _cancel(payload, store)
        if name == "resume":
            directory = (payload.directory or Path()).absolute()
            parsed = parse(rest)
            run = store.find(parsed.task or "@last", directory)
            take = "--take" in parsed.values
            adopted = session_loop.adopt(run, payload.session, agent, store, take=take, seconds=seconds)
            return answers.of(await adopted)
        if name == "answer":
            return await _answer(rest, payload, store, seconds)
        if name == "state":
            return await _state(payload, store)
        raise UserError(f"There is no `/untilgreen {name}`. {nearest(name, VERBS)}")
    except UntilgreenError as error:
        return Answer(refused=str(error))


def parse(text: str) -> Parsed:
    """Cut the flags out of what was typed; everything else is the task, spaces and quotes included."""
    parsed, kept, place = Parsed(), [""], 0
    while place < len(text):
        fresh = place == 0 or text[place - 1].isspace()
        quoted = _QUOTED.match(text, place) if fresh else None
        flag = _FLAG.match(text, place) if fresh and quoted is None else None
        if flag is None:
            piece = quoted[0] if quoted else text[place]
            kept.append(piece)
            place += len(piece)
        elif flag[0] == "--":  # everything from here on is the task
            kept.append(text[flag.end() :].lstrip(" "))
            break
        else:
            place = _take(parsed, text, flag, kept)
    parsed.task = _unquoted("".join(kept).strip())
    return parsed


def _take(parsed: Parsed, text: str, flag: re.Match[str], kept: list[str]) -> int:
    name, place = flag[0], flag.end()
    if name in SWITCHES:
        parsed.values.setdefault(name, []).append("")
    elif name in VALUES:
        value, place = _value(text, place, name)
        parsed.values.setdefault(name, []).append(value)
    else:
        near = nearest(name, (*VALUES, *SWITCHES))
        raise UserError(
            f"There is no flag {name!r}. {near} If it belongs to the task, put the task in quotes."
        )
    while place < len(text) and text[place] in " \t" and (not kept[-1] or kept[-1][-1:].isspace()):
        place += 1
    return place


def _value(text: str, place: int, name: str) -> tuple[str, int]:
    place += 1 if text[place : place + 1] == "=" else len(text[place:]) - len(text[place:].lstrip())
    found = _QUOTED.match(text, place) or _WORD.match(text, place)
    if found is None or (found[0].startswith("--")):
        raise UserError(f"{name} needs a value, for example {name}=…")
    return _unquoted(found[0]), found.end()


def _unquoted(text: str) -> str:
    whole = _QUOTED.fullmatch(text)
    if whole is None:
        return text
    inner = text[1:-1]
    return re.sub(r'\\(["\\])', r"\1", inner) if text[0] == '"' else inner


async def _start(rest: str, payload: Payload, agent: str, store: Store, seconds: float | None) -> Answer:
    parsed = parse(rest)
    wish = LoopRequest(
        session=payload.session,
        agent=agent,
        task=parsed.task,
        directory=(payload.directory or Path()).absolute(),
        max_iterations=parsed.one("--max-iterations"),
        promise=parsed.one("--completion-promise"),
        description=parsed.one("--description") or "",
        gates=gates_from(parsed.values.get("--gate", [])),
        strategy=parsed.one("--strategy"),
        replace="--replace" in parsed.values,
        take="--take" in parsed.values,
        transcript=payload.transcript,
    )
    session_run = await session_start.begin(wish, store, seconds=seconds)
    said = answers.of(session_run, begun=True)
    return said if said.brief else Answer(refused=said.toast)


async def _answer(rest: str, payload: Payload, store: Store, seconds: float | None) -> Answer:
    """`answer 1`, `answer cancel`, or `answer 1 with a few words about it`."""
    session_run = found(store, payload.session)
    choices = choices_of(session_run.state) if session_run else ()
    if not choices:
        raise UserError("No question is open in this session.")
    word, argument = _split(rest.strip(), choices)
    if not word:
        raise UserError(f"Answer with a number or a word: {_numbered(choices)}.")
    if word.isdecimal() and not 1 <= int(word) <= len(choices):
        raise UserError(f"There is no choice {word}. Choose one of: {_numbered(choices)}.")
    choice = choices[int(word) - 1] if word.isdecimal() else word
    answer = session_loop.answer(
        payload.session, choice, argument.strip() or None, store, by="session", seconds=seconds
    )
    return answers.of(await answer)


def _split(text: str, choices: Sequence[str]) -> tuple[str, str]:
    """The choice, which may be two words, and what is said with it."""
    named = [each for each in choices if f"{text} ".startswith(f"{each} ")]
    word = max(named, key=len, default="") or text.partition(" ")[0]
    return word, text[len(word) :]


def _numbered(choices: Sequence[str]) -> str:
    return ", ".join(f"{number} {choice}" for number, choice in enumerate(choices, 1))


async def _cancel(payload: Payload, store: Store) -> Answer:
    session_run = await session_loop.cancel(payload.session, store)
    return Answer(
        refused=answers.resting(session_run.state) if session_run else "no loop is active in this session."
    )


async def _state(payload: Payload, store: Store) -> Answer:
    session_run = found(store, payload.session)
    if session_run is None:
        return Answer(refused="no loop is active in this session. Start one with: /ralph TASK")
    lap = session_run.state.open
    if lap is not None and lap.in_session:
        return Answer(refused=f"lap {lap.number} of run {session_run.note.run} is in progress")
    return Answer(refused=answers.resting(session_run.state))
