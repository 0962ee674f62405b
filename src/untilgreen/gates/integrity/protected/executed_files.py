"""The files that a gate's command runs: changing one changes the gate."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

from untilgreen.gates.integrity.protected.patterns import INTERPRETERS, RUN_BY, RUNNERS
from untilgreen.regex import regex

_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")
_PATH = regex(r"\bPATH=(\S{1,2000})")
_HERE = regex(r"^(?:\$\{?PWD\}?|\$\(pwd\)|`pwd`)/?")
_ENDS = regex(r"[;&|()<>\n]+")
_SUBSTITUTED = regex(r"\$\(([^()]{1,2000})\)|`([^`]{1,2000})`")
_ARITHMETIC = regex(r"\$\(\([^()]{1,2000}\)\)")
_RUN_IN = {"uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run", "bundle": "exec"}
_WORDS = frozenset({"!", "then", "do", "if", "elif", "else", "while", "until", "{", "("})
_PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    "env": (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    "nice": (frozenset({"-n", "--adjustment"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "timeout": (frozenset({"-k", "-s", "--signal", "--kill-after"}), 1),
    "gtimeout": (frozenset({"-k", "-s"}), 1),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "sudo": (frozenset({"-u", "-g", "-C"}), 0),
    "xargs": (frozenset({"-n", "-P", "-I", "-d", "-L"}), 0),
    "taskset": (frozenset({"-c"}), 1),
    "flock": (frozenset({"-w"}), 1),
    "time": (frozenset({"-f", "-o"}), 0),
    "exec": (frozenset({"-a"}), 0),
    "xvfb-run": (frozenset({"-s", "-n", "-f"}), 0),
    **dict.fromkeys(("nohup", "command", "setsid", "unbuffer", "npx", "pnpx", "bunx"), (frozenset(), 0)),
}
"""Prefix commands: their options that take a value, and the number of words before the command."""
_TAKES_A_VALUE = frozenset({"-W", "-X", "-I", "-M", "-O", "--rcfile", "--init-file", "--env-file", "-d"})
"""Options of interpreters that are followed by something that is not the script."""
_LOADS = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader"})
"""Options of node and similar tools that load a file before anything else."""
_SHELL = regex(r"(?:sh|bash|dash|ksh|zsh|fish)")
_INTERPRETER = regex(INTERPRETERS)
_RUNNER = regex(RUNNERS)
_PACKAGE_SCRIPTS = frozenset({"npm", "yarn", "pnpm", "bun"})
_DIRECTORY = frozenset({"-C", "--directory", "--prefix", "--cwd"})
_SETS = regex(
    r"--?(?:[\w-]*(?:config|rcfile|rc-file|nycrc|settings|setup|require|import|loader|plugin|env-?file|tsconfig|"
    r"project|preset|reporter|environment|rulesdir|ignore-path|baseline)[\w-]*|c|f|file)"
)
"""Options that name a file that configures a tool, or that it loads."""
_LONGEST = 20_000
"""Characters; the lexer takes quadratic time for a long word, and real commands are shorter."""


def files_run_by(command: str, cwd: str = "") -> set[str]:
    """Paths that the command may run, or hand to a test runner; callers check which of them exist."""
    found: set[str] = set()
    places = [cwd]
    for words in _simple_commands(command):
        if words[0] == "cd" and len(words) > 1:
            places.append(posixpath.join(places[-1], words[1]))
            continue
        for name in (*_named(words), *_set_by(words)):
            found |= {posixpath.normpath(posixpath.join(place, name)) for place in places}
    return found


def folders_of_programs(command: str, cwd: str = "") -> set[str]:
    """Directories of the tree that the command looks for programs in."""
    return {
        posixpath.normpath(posixpath.join(cwd, _HERE.sub("", place) or "."))
        for path in _PATH.findall(command[:_LONGEST])
        for place in path.strip("\"'").split(":")
        if not place.startswith("/") and "$PATH" not in place and "${PATH" not in place
    }


def without_substitutions(command: str) -> str:
    """The command without its substitutions: a program that runs only for its output may be the work."""
    before = ""
    while command != before:
        before, command = command, _SUBSTITUTED.sub("", _ARITHMETIC.sub("0", command))
    return command


def _simple_commands(command: str) -> Iterator[list[str]]:
    for inner in _SUBSTITUTED.finditer(command[:_LONGEST]):
        yield from _simple_commands(inner[1] or inner[2])
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
        for assigned in words:
            if _ASSIGNMENT.match(assigned):
                yield [assigned, *assigned.partition("=")[2].split()]
        if inner_words := _bare(words):
            yield inner_words
        words = []


def _tokens(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _bare(words: list[str]) -> list[str]:
    """The command itself, without prefix commands."""
    start = 0
    while start < len(words):
        first = words[start]
        if _ASSIGNMENT.match(first) or first in _WORDS:
            start += 1
        elif posixpath.basename(first) in _PREFIXES:
            start = _after_prefix(words, start)
        elif len(words) - start > 2 and _RUN_IN.get(first) == words[start + 1]:
            start += 2
            while start < len(words) and words[start].startswith("-"):
                start += 1
        else:
            break
    return words[start:]


def _after_prefix(words: list[str], start: int) -> int:
    """Where the prefixed command begins."""
    values, skipped = _PREFIXES[posixpath.basename(words[start])]
    start += 1
    while start < len(words) and (words[start].startswith("-") or _ASSIGNMENT.match(words[start])):
        start += 2 if words[start] in values else 1
    return start + skipped


def _named(words: list[str]) -> Iterator[str]:
    program, rest = words[0], words[1:]
    name = posixpath.basename(program)
    if "/" in program:
        yield program
    if name in RUN_BY or name in _PACKAGE_SCRIPTS:
        yield from _read_by(name, rest)
    elif _RUNNER.fullmatch(name):
        yield from _arguments(rest)
    elif _SHELL.fullmatch(name):
        yield from _run_by_shell(rest)
    elif _INTERPRETER.fullmatch(name):
        yield from _interpreted(rest)


def _set_by(words: list[str]) -> Iterator[str]:
    """Files that options of any program name, including options that a variable holds."""
    for before, word in pairwise(words):
        option, equals, value = word.partition("=")
        after_option = not word.startswith("-") and _SETS.fullmatch(before)
        if equals and _SETS.fullmatch(option):
            yield value
        elif after_option or (_ASSIGNMENT.match(before) and ("/" in word or "." in word)):
            yield word


def _read_by(name: str, rest: Sequence[str]) -> Iterator[str]:
    """The files that a tool reads by default, in its own directory or in a named one."""
    folders = [after for option, after in pairwise(rest) if option in _DIRECTORY]
    folders += [word.partition("=")[2] for word in rest if word.startswith(("--directory=", "--prefix="))]
    folders += [word[2:] for word in rest if word.startswith("-C") and len(word) > 2]
    files = [after for option, after in pairwise(rest) if option in ("-f", "--file", "--makefile")]
    usual = RUN_BY.get(name, ("package.json",))
    for folder in folders or [""]:
        yield from (posixpath.join(folder, file) for file in (*usual, *files))


def _run_by_shell(rest: list[str]) -> Iterator[str]:
    """The script or command that a shell gets; `-euo pipefail` takes a word, and so does `-c` in `-ec`."""
    place = 0
    while place < len(rest):
        word = rest[place]
        if not word.startswith(("-", "+")):
            yield word
            return
        if not word.startswith("--") and "c" in word and place + 1 < len(rest):
            yield from files_run_by(rest[place + 1])
            return
        takes_a_value = word in _TAKES_A_VALUE or (not word.startswith("--") and word.endswith(("o", "O")))
        place += 2 if takes_a_value else 1


def _interpreted(rest: list[str]) -> Iterator[str]:
    """What an interpreter is given: a script, a module, or tests."""
    place = 0
    while place < len(rest):
        word, following = rest[place], rest[place + 1 :]
        if word == "-m" and following:
            path = following[0].replace(".", "/")
            yield from (f"{path}.py", f"{path}/__main__.py")
            if _RUNNER.fullmatch(following[0]):
                yield from _arguments(following[1:])
            return
        if word == "--test":
            yield from _arguments(following)
            return
        if word in _LOADS and following:
            yield following[0]
            place += 2
        elif word in _TAKES_A_VALUE:
            place += 2
        elif word in ("-c", "-e", "-p", "--eval", "--print"):
            return
        elif word == "run" or word.startswith("-"):
            place += 1
        else:
            yield word
            return


def _arguments(rest: list[str]) -> Iterator[str]:
    """The named tests, directories of tests, and plugins."""
    for before, word in pairwise(["", *rest]):
        if word != "-p" and (before == "-p" or word.startswith("-p")):
            module = word.removeprefix("-p").removeprefix("no:").replace(".", "/")
            yield from (f"{module}.py", f"{module}/__init__.py")
        elif not word.startswith("-"):
            yield word.partition("::")[0]
            if "/" not in word and re.fullmatch(r"[A-Za-z_][\w.]*", word):  # unittest takes modules
                yield f"{word.replace('.', '/')}.py"
