"""Whether the installed hooks are called, only once, and are as this version would install them."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.engine.operations.doctor import Row
from untilgreen.errors import UserError
from untilgreen.regex import regex
from untilgreen.surfaces.install import codex_trust
from untilgreen.surfaces.install.file_edits import Edit, OurHook, edits_to_install, our_hooks, ours_in
from untilgreen.surfaces.install.targets import HOOK_NAME, TARGETS, Target

_PROGRAM = regex(r"exec (\S+|'[^']*') hook ")
_DEADLINE = regex(r" hook stop .*--deadline (\d+)")
_STATE_DIR = regex(r""" --state-dir ((?:'[^']*'|"[^"]*"|[^\s'"])+)""")
_BY_NAME = "hooksConfig.disabled"
_MANAGED = {
    "darwin": Path("/Library/Application Support/ClaudeCode/managed-settings.json"),
    "linux": Path("/etc/claude-code/managed-settings.json"),
}


class Programs(Struct, frozen=True, kw_only=True):
    """How hooks call us: from a user's own settings, and from those that a project shares."""

    own: str
    shared: str


class Place(Struct, frozen=True, kw_only=True):
    """One file from which an agent reads hooks, and our hooks in it."""

    target: Target
    scope: str
    root: Path
    """The agent's folder, of the user or of the project."""
    path: Path
    hooks: tuple[OurHook, ...] = ()

    @property
    def deadline(self) -> int | None:
        """The time limit that the hooks were installed with."""
        found = [_DEADLINE.search(hook.command) for hook in self.hooks]
        return next((int(each[1]) for each in found if each), None)

    @property
    def state_dir(self) -> str:
        """The state directory that the hooks were installed with."""
        found = [_STATE_DIR.search(hook.command) for hook in self.hooks]
        return next((shlex.split(each[1])[0] for each in found if each), "")

    def command(self, verb: str) -> str:
        """The command that installs or removes exactly these hooks."""
        if self.scope == "other":
            return f"remove them from {self.path}"
        words = ["untilgreen", verb, self.target.name, f"--{self.scope}"]
        if verb == "install" and self.deadline is not None:
            words += ["--deadline", str(self.deadline)]
        if verb == "install" and self.state_dir:
            words += ["--state-dir", shlex.quote(self.state_dir)]
        return " ".join(words)


def hook_rows(start: Path, programs: Programs, usual: int) -> Iterator[Row]:
    """One row for each agent that has our hooks, or one for each problem with them."""
    found = False
    for target in TARGETS.values():
        for row in _rows(target, start, programs, usual):
            found = True
            yield row
    if not found:
        detail = "not installed, so /ralph is not available in any session"
        yield Row(name="hooks", status="absent", detail=detail, fix="untilgreen install AGENT")


def _rows(target: Target, start: Path, programs: Programs, usual: int) -> Iterator[Row]:
    name = f"hooks {target.name}"
    try:
        places = [place for place in _places(target, start) if place.hooks]
    except UserError as error:
        yield Row(
            name=name,
            status="warn",
            detail=str(error),
            fix="fix the file, then run `untilgreen doctor` again",
        )
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
    """The files that the agent reads hooks from, the user's own first."""
    own = target.root(None)
    known = [("user", own, own / target.settings)]
    if target.folder is not None:
        known.append(("project", target.root(start), target.root(start) / target.settings))
    known += [("other", start, start / name) for name in target.elsewhere]
    seen: set[Path] = set()
    for scope, root, path in known:
        if path.resolve() not in seen:
            seen.add(path.resolve())
            yield Place(target=target, scope=scope, root=root, path=path, hooks=our_hooks(path))


def _twice(places: list[Place]) -> Iterator[tuple[str, str]]:
    for place in places:
        counted = Counter(hook.event for hook in place.hooks)
        twice = sorted(event for event, count in counted.items() if count > 1)
        if twice:
            yield f"{', '.join(twice)} is installed twice in {place.path}", place.command("install")
    first, *others = places
    for other in others:
        yield f"they are installed in both {first.path} and {other.path}", other.command("uninstall")


def _stale(place: Place, programs: Programs, usual: int) -> Iterator[tuple[str, str]]:
    """Hooks that call a missing program, or differ from what `install` would write now."""
    gone = sorted({each for each in map(_program, place.hooks) if each and shutil.which(each) is None})
    if gone:
        yield (
            f"{place.path} calls {gone[0]!r}, which does not exist, so nothing happens",
            place.command("install"),
        )
    elif place.scope != "other":
        program = programs.shared if place.scope == "project" else programs.own
        try:
            edits = edits_to_install(
                place.target, place.root, program, place.deadline or usual, place.state_dir
            )
        except UserError as error:
            yield str(error), place.command("install")
            return
        files = ", ".join(str(edit.path) for edit in edits if _matters(edit, place.target))
        if files:
            yield f"they are out of date: {files}", place.command("install")


def _matters(edit: Edit, target: Target) -> bool:
    """Whether an edit changes more than white space and the position of our hooks among others."""
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
    """A setting that turns off all hooks of the agent; of several files, the last one decides."""
    if target.off_switch is None:
        return
    key, off = target.off_switch
    files = [place.path for place in _places(target, start)]
    said = [(path, value) for path in files if (value := _setting(path, key)) is not None]
    if said and said[-1][1] is off:
        path = said[-1][0]
        yield (
            f"{target.name} skips all hooks, because {path} has {key} = {json.dumps(off)}",
            f"remove {key} from {path}",
        )
    for path in files:
        if target.named_hooks and HOOK_NAME in (_setting(path, _BY_NAME) or ()):
            yield (
                f"{target.name} skips these hooks, because {path} has them in {_BY_NAME}",
                f"start {target.name} and turn them on with /hooks enable {HOOK_NAME}",
            )
    managed = _MANAGED.get(sys.platform)
    if target.name == "claude" and managed is not None:
        yield from managed_off(managed)


def managed_off(path: Path) -> Iterator[tuple[str, str]]:
    """What an organization's managed settings forbid; a user can't override them."""
    for key in ("disableAllHooks", "allowManagedHooksOnly"):
        if _setting(path, key) is True:
            yield (
                f"claude skips these hooks, because {path} has {key} = true",
                "ask your administrator, or drive the agent from outside: untilgreen run",
            )


def _setting(path: Path, key: str) -> Any:
    """The value of a dotted key in a JSON file, or None."""
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _untrusted(place: Place) -> Iterator[tuple[str, str]]:
    if place.target.name == "codex":
        yield from codex_trust.problems(place.target.root(None), place.path, place.hooks)
