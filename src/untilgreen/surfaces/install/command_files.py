"""Our slash commands, in the form that each agent has for them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import assert_never

from untilgreen.surfaces.install.targets import PROMPT_SECONDS, QUICK_SECONDS, Form, Target

MARK = "installed by untilgreen"
"""Marks a file as ours."""
_FENCE = "---\n"


def commands(target: Target, root: Path) -> Iterator[tuple[Path, str]]:
    """Each command's file and its content."""
    form, place = target.commands
    for file in resources.files(__package__).joinpath("commands").iterdir():
        name = Path(file.name).stem
        yield root / place.format(name), _written(form, name, file.read_text(encoding="utf-8"))
        if target.command_extra is not None:
            path, text = target.command_extra
            yield root / path.format(name), f"# {MARK}\n{text}"


def script(target: Target, program: str, seconds: int, state_dir: str = "") -> str:
    """The plugin that calls us, with the path of our program filled in."""
    words = {
        "PROGRAM": json.dumps(program),
        "QUOTED": shlex.quote(program),
        "SECONDS": str(seconds),
        "PROMPT_SECONDS": str(min(seconds, PROMPT_SECONDS)),
        "QUICK_SECONDS": str(QUICK_SECONDS),
        "STATE_DIR": json.dumps(["--state-dir", state_dir] if state_dir else []),
        "QUOTED_STATE_DIR": f" --state-dir {shlex.quote(state_dir)}" if state_dir else "",
    }
    text = resources.files(__package__).joinpath(target.script).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_]+)@", lambda found: words[found[1]], text)


def _written(form: Form, name: str, text: str) -> str:
    """One command; the source is in the form of Claude Code: front matter, our mark, and the text."""
    _, head, body = text.split(_FENCE, 2)
    mark, _, words = body.partition("\n")
    match form:
        case "markdown":
            return text
        case "toml":  # Gemini appends what was typed; {{args}} would break `$&` and the like
            return f"# {MARK}\ndescription = {_described(head)}\nprompt = {json.dumps(_told(name, words))}\n"
        case "template":
            return f"{_FENCE}description: {_described(head)}\n{_FENCE}{mark}\n{_told(name, words)}\n"
        case "skill":
            about = f"name: {name}\ndescription: {_described(head)}\nuser-invocable: true\n"
            return f"{_FENCE}{about}disable-model-invocation: true\n{_FENCE}{mark}\n{_told(name, words)}\n"
        case _:
            assert_never(form)


def _described(head: str) -> str:
    line = next(line for line in head.splitlines() if line.startswith("description: "))
    return json.dumps(line.partition(": ")[2])


def _told(name: str, words: str) -> str:
    """The name comes first, for the hook, then one line for a model that reads it without a hook."""
    return f"untilgreen: /{name}\n{' '.join(words.split())}"
