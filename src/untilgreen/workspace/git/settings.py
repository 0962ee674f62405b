"""Which of git's settings a run uses: those it began with, and no program that a repository itself names.

An agent can write the configuration of a repository it made itself, and without a sandbox that of any
repository and of the home directory. So snapshots use the settings that were there when the run began.
Filters have to come from the user's own configuration, unless they are well-known programs such as git-lfs:
otherwise a repository that an agent made could start any program, outside the sandbox.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from untilgreen.regex import regex
from untilgreen.workspace.git.command import Git

KNOWN_PROGRAMS = frozenset({("git-lfs",), ("git-crypt",), ("git-annex",), ("git", "lfs"), ("git", "annex")})
"""Filters that a repository may configure itself: they only store and encrypt."""
_INERT = regex(
    r"core\.(filemode|symlinks|ignorecase|precomposeunicode|protectntfs|protecthfs|longpaths|bigfilethreshold)"
    r"|core\.sparsecheckout(cone)?"
    r"|extensions\.partialclone"
    r"|remote\..*\.(url|promisor|partialclonefilter)"
    r"|(lfs|annex|git-crypt|user|author|committer)\..*",
    re.IGNORECASE,
)
_FILTER = regex(r"filter\.(.*)\.(clean|smudge|process|required)", re.IGNORECASE | re.DOTALL)
_OWN_FILES = ("system", "global")
"""Scopes that the user can set and no repository can."""
_SHELL = regex(r"[;&|<>`$(){}\\\n]")
_HARMLESS = (
    (regex(r"core\.sshcommand"), "ssh"),
    (regex(r"core\.(gitproxy|askpass|alternaterefscommand)|credential\..*helper"), ""),
    (regex(r"(diff|merge)\..*\.(command|textconv|driver)"), ""),
    (regex(r"protocol\..*allow"), "never"),
    (regex(r"remote\..*\.uploadpack"), "git-upload-pack"),
    (regex(r"remote\..*\.vcs"), "none"),
    (regex(r"gpg\..*program"), "false"),
)
"""Other settings by which a repository makes git start programs, and values that start nothing new."""


class Setting(NamedTuple):
    """One line of git's configuration, and which kind of file it comes from."""

    scope: str
    key: str
    value: str

    @property
    def filter(self) -> str:
        """The name of the filter that it configures; empty for any other setting."""
        found = _FILTER.fullmatch(self.key)
        return found[1] if found else ""


async def read_settings(git: Git) -> list[Setting]:
    """All settings that git sees there, also from included files; this starts no other program."""
    listed = (await git("config", "--list", "--show-scope", "--includes", "-z")).split(b"\0")[:-1]
    found = []
    for scope, line in zip(listed[::2], listed[1::2], strict=True):
        key, _, value = line.decode(errors="surrogateescape").partition("\n")
        found.append(Setting(scope.decode(), key, value))
    return found


def refused_filters(settings: Iterable[Setting], top: Path) -> list[str]:
    """Filters that the repository itself configures and that are not well known, so they are not run."""
    named = [each for each in settings if each.filter and not each.key.lower().endswith(".required")]
    refused = (each.filter for each in named if each.scope not in _OWN_FILES and not _known(each.value, top))
    return list(dict.fromkeys(refused))


def overrides(settings: Sequence[Setting], top: Path) -> tuple[str, ...]:
    """Settings for the command line that switch off what the repository itself would run."""
    lines = []
    for name in refused_filters(settings, top):
        # git prefers `process` to the other two, and does nothing if it is empty.
        lines += [f"filter.{name}.{part}=" for part in ("process", "clean", "smudge")]
        lines.append(f"filter.{name}.required=false")
    for each in settings:
        if each.scope not in _OWN_FILES:
            harmless = next((value for key, value in _HARMLESS if key.fullmatch(each.key.lower())), None)
            lines += [] if harmless is None else [f"{each.key}={harmless}"]
    return tuple(dict.fromkeys(line for line in lines if "=" not in line.partition("=")[0]))


def frozen(settings: Sequence[Setting], top: Path, known: Iterable[str] | None = None) -> list[Setting]:
    """The settings that a run's snapshots use; `known` are the filters it began with, if it has begun."""
    refused = set(refused_filters(settings, top))
    allowed = None if known is None else set(known)
    kept = []
    for each in settings:
        if each.filter:
            if each.filter not in refused and (allowed is None or each.filter in allowed):
                kept.append(each)
        elif _INERT.fullmatch(each.key):
            kept.append(each)
    return kept


def written(settings: Iterable[Setting]) -> str:
    """Settings as a configuration file."""
    lines = []
    for each in settings:
        section, _, name = each.key.rpartition(".")
        head, _, part = section.partition(".")
        lines += [f"[{head} {_quoted(part)}]" if part else f"[{head}]", f"\t{name} = {_quoted(each.value)}"]
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _known(command: str, top: Path) -> bool:
    if not command or _SHELL.search(command):
        return not command
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    program = words[0]
    if "/" in program and (not program.startswith("/") or _lies_in(program, top)):
        return False
    name = program.rpartition("/")[2]
    return (name,) in KNOWN_PROGRAMS or (name, *words[1:2]) in KNOWN_PROGRAMS


def _lies_in(program: str, top: Path) -> bool:
    real = os.path.realpath(top)
    return any(way == real or way.startswith(f"{real}/") for way in (program, os.path.realpath(program)))
