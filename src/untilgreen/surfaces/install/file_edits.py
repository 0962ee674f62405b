"""What an installation changes: each file before and after, and nothing that is not ours."""

from __future__ import annotations

import difflib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from untilgreen.errors import UserError
from untilgreen.regex import regex
from untilgreen.surfaces.install.command_files import MARK, commands, script
from untilgreen.surfaces.install.targets import Target

_FOLDERS = {"SKILL.md": 1, "openai.yaml": 2}
"""A skill is a folder: how many folders around a file are removed with it when they are empty."""
_OURS = regex(r"untilgreen['\"]? hook [a-z]+ --agent ")


class Edit(Struct, frozen=True, kw_only=True):
    """The change of one file; None if there is no file."""

    path: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            difflib.unified_diff(
                (self.before or "").splitlines(keepends=True),
                (self.after or "").splitlines(keepends=True),
                str(self.path) if self.before is not None else os.devnull,
                str(self.path) if self.after is not None else os.devnull,
            )
        )

    def write(self) -> None:
        """Replace the file as a whole; a link stays a link, and the mode stays the same."""
        path = self.path.resolve()
        if self.after is None:
            path.unlink(missing_ok=True)
            for folder in path.parents[: _FOLDERS.get(path.name, 0)]:
                with suppress(OSError):
                    folder.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        draft.write_text(self.after, encoding="utf-8")
        if path.exists():
            draft.chmod(path.stat().st_mode)
        draft.replace(path)


class OurHook(Struct, frozen=True, kw_only=True):
    """A hook of ours in a settings file: its event, and its place among the others."""

    event: str
    group: int
    place: int
    command: str
    entry: dict[str, Any]


def our_hooks(path: Path) -> tuple[OurHook, ...]:
    """All our hooks in a file; a plugin counts as one."""
    if path.suffix != ".json":
        text = _text(path) or ""
        plugin = OurHook(event="plugin", group=0, place=0, command=text.partition("\n")[0], entry={})
        return (plugin,) if MARK in text else ()
    return ours_in(_read(path))


def ours_in(settings: dict[str, Any]) -> tuple[OurHook, ...]:
    """All our hooks in the content of a file."""
    return tuple(
        OurHook(event=event, group=group, place=place, command=_command(hook), entry=hook)
        for event, entries in settings.get("hooks", {}).items()
        for group, entry in enumerate(entries)
        for place, hook in enumerate(_hooks(entry))
        if _is_ours(hook)
    )


def edits_to_install(
    target: Target, root: Path, program: str, seconds: int, state_dir: str = ""
) -> list[Edit]:
    """The edits that make the agent call us."""
    files = [_edit(path, text) for path, text in commands(target, root)]
    if target.script:
        return _changes([_edit(root / target.settings, script(target, program, seconds, state_dir)), *files])
    settings = {**target.own_file, **_without_ours(_read(root / target.settings))}
    hooks = settings.setdefault("hooks", {})
    for name, entry in target.entries(program, seconds, state_dir).items():
        hooks[name] = [*hooks.get(name, []), entry]
    for name, value in target.env.items():
        settings.setdefault("env", {}).setdefault(name, value)
    return _changes([_edit(root / target.settings, _written(settings)), *files])


def edits_to_remove(target: Target, root: Path) -> list[Edit]:
    """The edits that remove everything of ours."""
    path = root / target.settings
    files = [_edit(each, None) for each, _ in commands(target, root) if MARK in (_text(each) or "")]
    if target.script:
        return _changes([*([_edit(path, None)] if MARK in (_text(path) or "") else []), *files])
    settings = _without_ours(_read(path))
    env = settings.get("env")
    for name, value in target.env.items():
        if isinstance(env, dict) and env.get(name) == value:
            del env[name]
    for name in ("env", "hooks"):
        if settings.get(name) == {}:
            del settings[name]
    left = None if settings == target.own_file else _written(settings)
    return _changes([*([_edit(path, left)] if path.exists() else []), *files])


def _changes(edits: list[Edit]) -> list[Edit]:
    foreign = [each for each in edits if each.before is not None and not _may_write(each)]
    if foreign:
        raise UserError(f"{foreign[0].path} exists and was not written by untilgreen. Move it away first.")
    return [each for each in edits if each.before != each.after]


def _may_write(edit: Edit) -> bool:
    return edit.path.suffix == ".json" or MARK in (edit.before or "") or edit.before == edit.after


def _edit(path: Path, after: str | None) -> Edit:
    return Edit(path=path, before=_text(path), after=after)


def _without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hooks; an event without other hooks is removed, too."""
    hooks = settings.get("hooks", {})
    for event, entries in list(hooks.items()):
        if not any(_is_ours(hook) for entry in entries for hook in _hooks(entry)):
            continue
        kept = [_others(entry) for entry in entries]
        hooks[event] = [entry for entry in kept if entry is not None]
        if not hooks[event]:
            del hooks[event]
    return settings


def _others(entry: Any) -> Any:
    """The entry without our hooks; None if nothing else was in it."""
    if _is_ours(entry):
        return None
    left = [hook for hook in _hooks(entry) if not _is_ours(hook)]
    if len(left) == len(_hooks(entry)):
        return entry
    return {**entry, "hooks": left} if left else None


def _hooks(entry: Any) -> list[Any]:
    """The hooks of a group; a single hook is its own group."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return inner if isinstance(inner, list) else [entry]


def _is_ours(hook: Any) -> bool:
    return _OURS.search(_command(hook)) is not None


def _command(hook: Any) -> str:
    """The command of a hook, under the name that its agent uses."""
    return str(hook.get("command", hook.get("bash", ""))) if isinstance(hook, dict) else ""


def _read(path: Path) -> dict[str, Any]:
    text = _text(path)
    if text is None or not text.strip():
        return {}
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{path} is not valid JSON, so nothing was changed: {error}. Fix it first."
        ) from error
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(each, list) for each in hooks.values()):
        raise UserError(f"In {path}, 'hooks' is not a table of lists, so nothing was changed. Fix it first.")
    return found


def _written(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} can't be read, so nothing was changed: {error}. Fix that first.") from error
