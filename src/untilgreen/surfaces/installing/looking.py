"""Whether the hooks that were installed are called, once, and as they would be installed today."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.engine.health import Row
from untilgreen.errors import UserError
from untilgreen.surfaces.installing import codex_trust
from untilgreen.surfaces.installing.agents import HOOK_NAME, TARGETS, Target
from untilgreen.surfaces.installing.edits import Edit, OurHook, installed, ours, ours_in

_PROGRAM = re.compile(r"exec (\S+|'[^']*') hook ")
_DEADLINE = re.compile(r" hook stop .*--deadline (\d+)")
_BY_NAME = "hooksConfig.disabled"
_MANAGED = {
    "darwin": Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    "linux": Path("/etc/claude-code/managed-settings.json"),
}


class Programs(Struct, frozen=True, kw_only=True):
    """How an agent finds us: in what a person installs for themselves, and in what a project shares."""

    own: str
    shared: str


class Place(Struct, frozen=True, kw_only=True):
    """One file that an agent reads hooks from, and ours in it."""

    target: Target
    scope: str
    root: Path
    """The agent's folder, of the person or of the project."""
    path: Path
    hooks: tuple[OurHook, ...] = ()

    @property
    def deadline(self) -> int | None:
        """The time limit that the hooks were installed with."""
        found = [_DEADLINE.search(hook.command) for hook in self.hooks]
        return next((int(each[1]) for each in found if each), None)

    def command(self, verb: str) -> str:
        """What installs or takes away exactly these."""
        if self.scope == "other":
            return f"take them out of {self.path}"
        words = ["untilgreen", verb, self.target.name, f"--{self.scope}"]
        if verb == "install" and self.deadline is not None:
            words += ["--deadline", str(self.deadline)]
        return " ".join(words)


def hook_rows(start: Path, programs: Programs, usual: int) -> Iterator[Row]:
    """One row for each agent that has hooks of ours, or for each thing that is wrong with them."""
    found = False
    for target in TARGETS.values():
        for row in _rows(target, start, programs, usual):
            found = True
            yield row
    if not found:
        detail = "none are installed, so no session has /ralph"
        yield Row(name="hooks", status="absent", detail=detail, fix="untilgreen install AGENT")


def _rows(target: Target, start: Path, programs: Programs, usual: int) -> Iterator[Row]:
    name = f"hooks {target.name}"
    try:
        places = [place for place in _places(target, start) if place.hooks]
    except UserError as error:
        yield Row(name=name, status="warn", detail=str(error), fix="mend the file, then look again")
        return
    if not places:
        return
    wrong = [
        *_twice(places),
        *(row for place in places for row in _stale(place, programs, usual)),
        *_skipped(target, start),
        *(row for place in places for row in _untrusted(place)),
    ]
    for detail, fix in wrong:
        yield Row(name=name, status="warn", detail=detail, fix=fix)
    if not wrong:
        (place,) = places
        events = ", ".join(sorted({hook.event for hook in place.hooks}))
        yield Row(name=name, detail=f"{events} in {place.path}")


def _places(target: Target, start: Path) -> Iterator[Place]:
    """The files that it reads, the person's own first."""
    own = target.root(None)
    known = [("user", own, own / target.settings)]
    if target.folder is not None:
        known.append(("project", target.root(start), target.root(start) / target.settings))
    known += [("other", start, start / name) for name in target.elsewhere]
    seen: set[Path] = set()
    for scope, root, path in known:
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield Place(target=target, scope=scope, root=root, path=path, hooks=ours(path))


def _twice(places: list[Place]) -> Iterator[tuple[str, str]]:
    for place in places:
        counted = Counter(hook.event for hook in place.hooks)
        twice = sorted(event for event, count in counted.items() if count > 1)
        if twice:
            yield f"{', '.join(twice)} is registered twice in {place.path}", place.command("install")
    first, *others = places
    for other in others:
        yield f"they are registered in {first.path} and in {other.path}", other.command("uninstall")


def _stale(place: Place, programs: Programs, usual: int) -> Iterator[tuple[str, str]]:
    """What the hooks call is gone, or another than `install` would write now."""
    gone = sorted({each for each in map(_program, place.hooks) if each and shutil.which(each) is None})
    if gone:
        yield (
            f"{place.path} calls {gone[0]!r}, which is not there, so that nothing happens",
            place.command("install"),
        )
    elif place.scope != "other":
        program = programs.shared if place.scope == "project" else programs.own
        try:
            edits = installed(place.target, place.root, program, place.deadline or usual)
        except UserError as error:
            yield str(error), place.command("install")
            return
        files = ", ".join(str(edit.path) for edit in edits if _matters(edit, place.target))
        if files:
            yield f"they are not as this version would install them: {files}", place.command("install")


def _matters(edit: Edit, target: Target) -> bool:
    """Blanks, and where among other people's hooks ours stand, are nobody's business."""
    if edit.before is None or edit.after is None or edit.path.suffix != ".json":
        return True
    return _essence(json.loads(edit.before), target) != _essence(json.loads(edit.after), target)


def _essence(settings: dict[str, Any], target: Target) -> list[str]:
    env = settings.get("env") or {}
    hooks = [json.dumps([hook.event, hook.entry], sort_keys=True) for hook in ours_in(settings)]
    return sorted([*hooks, *(name for name in target.env if name in env)])


def _program(hook: OurHook) -> str:
    found = _PROGRAM.search(hook.command)
    return shlex.split(found[1])[0] if found else ""


def _skipped(target: Target, start: Path) -> Iterator[tuple[str, str]]:
    """A setting with which the agent calls no hooks at all; of several files the last one holds."""
    if target.switch is None:
        return
    key, off = target.switch
    files = [place.path for place in _places(target, start)]
    said = [(path, value) for path in files if (value := _setting(path, key)) is not None]
    if said and said[-1][1] is off:
        path = said[-1][0]
        yield (
            f"{target.name} skips all hooks, since {path} has {key} = {json.dumps(off)}",
            (f"take {key} out of {path}"),
        )
    for path in files:
        if target.named and HOOK_NAME in (_setting(path, _BY_NAME) or ()):
            yield (
                f"{target.name} skips these hooks, since {path} has them in {_BY_NAME}",
                f"start {target.name}, and switch them on with /hooks enable {HOOK_NAME}",
            )
    managed = _MANAGED.get(sys.platform)
    if target.name == "claude" and managed is not None:
        yield from managed_off(managed)


def managed_off(path: Path) -> Iterator[tuple[str, str]]:
    """What an organization's own settings forbid, which nobody else can allow again."""
    for key in ("disableAllHooks", "allowManagedHooksOnly"):
        if _setting(path, key) is True:
            yield (
                f"claude skips these hooks, since {path} has {key} = true",
                "ask who manages this machine, or drive from outside: untilgreen run",
            )


def _setting(path: Path, key: str) -> Any:
    """The value of a dotted key in a file of JSON; None where there is none."""
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _untrusted(place: Place) -> Iterator[tuple[str, str]]:
    if place.target.name == "codex":
        yield from codex_trust.complaints(place.target.root(None), place.path, place.hooks)
