"""The files that a gate's command executes: who changes them changes the gate."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from untilgreen.gates.integrity.names import INTERPRETERS, RUN_BY, RUNNERS, WRAPPERS

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ENDS = re.compile(r"[;&|()<>\n]+")
_RUN_IN = {"uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run", "bundle": "exec"}
_LOADS = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader"})
"""Options of node and its like that load a file before anything else."""
_INTERPRETER = re.compile(INTERPRETERS)
_RUNNER = re.compile(RUNNERS)
_LONGEST = 20_000
"""Characters; the lexer takes time squared for a long word, and nobody writes such a command."""


def executed(command: str, cwd: str = "") -> set[str]:
    """Paths that the command may run, or hand to a test runner; which of them exist is for others to see."""
    found: set[str] = set()
    places = [cwd]
    for words in _simple_commands(command):
        if words[0] == "cd" and len(words) > 1:
            places.append(posixpath.join(places[-1], words[1]))
            continue
        for name in _named(words):
            found |= {posixpath.normpath(posixpath.join(place, name)) for place in places}
    return found


def _simple_commands(command: str) -> Iterator[list[str]]:
    command = command.replace("\\\n", " ").replace("\n", " ; ")
    words: list[str] = []
    try:
        tokens = _tokens(command) if len(command) <= _LONGEST else command.split()
    except ValueError:  # a quote that never ends; the shell will say so
        tokens = command.split()
    for token in [*tokens, ";"]:
        if not _ENDS.fullmatch(token):
            words.append(token)
            continue
        if inner := _bare(words):
            yield inner
        words = []


def _tokens(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _bare(words: list[str]) -> list[str]:
    """The command itself, without what is put in front of it."""
    start = 0
    while start < len(words):
        first = words[start]
        if _ASSIGNMENT.match(first) or first in WRAPPERS or first.startswith("-"):
            start += 1
        elif len(words) - start > 2 and (first == "timeout" or _RUN_IN.get(first) == words[start + 1]):
            start += 2
        else:
            break
    return words[start:]


def _named(words: list[str]) -> Iterator[str]:
    program, rest = words[0], words[1:]
    name = posixpath.basename(program)
    if "/" in program:
        yield program
    if name in RUN_BY:
        yield from RUN_BY[name]
        yield from (after for option, after in pairwise(rest) if option in ("-f", "--file"))
    elif _RUNNER.fullmatch(name):
        yield from _arguments(rest)
    elif _INTERPRETER.fullmatch(name):
        yield from _interpreted(rest)


def _interpreted(rest: list[str]) -> Iterator[str]:
    """What an interpreter is given: a script, a module, tests, or another line of shell."""
    for place, word in enumerate(rest):
        following = rest[place + 1 :]
        if word in ("-c", "-lc", "-ec", "-xc") and following:
            yield from executed(following[0])
            return
        if word == "-m" and following:
            path = following[0].replace(".", "/")
            yield from (f"{path}.py", f"{path}/__main__.py")
            if _RUNNER.fullmatch(following[0]):
                yield from _arguments(following[1:])
            return
        if word == "--test":
            yield from _arguments(following)
            return
        if place and rest[place - 1] in _LOADS:
            yield word
            continue
        if word == "run" or word.startswith("-"):
            continue
        yield word
        return


def _arguments(rest: list[str]) -> Iterator[str]:
    """Tests and directories of tests, and plugins that are named."""
    for before, word in pairwise(["", *rest]):
        if word != "-p" and (before == "-p" or word.startswith("-p")):
            module = word.removeprefix("-p").removeprefix("no:").replace(".", "/")
            yield from (f"{module}.py", f"{module}/__init__.py")
        elif not word.startswith("-"):
            yield word.partition("::")[0]
