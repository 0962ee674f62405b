"""The clean room: the verdict that may end a run is reached on the snapshot alone.

Caches, nested repositories and ignored files that an agent made or changed are in no snapshot; a gate that is
green only with them is not green.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from anyio import to_thread
from msgspec import Struct

from untilgreen.core.briefing.excerpt import trim
from untilgreen.core.values.model import Change, Finding, Verdict
from untilgreen.core.values.units import show_duration
from untilgreen.gates.integrity.trial_rooms.rooms import Contents, Room
from untilgreen.gates.integrity.trial_rooms.trials import (
    Trial,
    Trials,
    Verdicts,
    excerpt,
    fails_alike,
    passed,
)
from untilgreen.gates.integrity.trial_rooms.unkept_files import compare, files_outside

NOT_CLEAN = "red-in-the-clean-room"
NO_CLEAN_ROOM = "does-not-work-in-a-clean-room"
LEAVES = "link-out-of-the-tree"
OUTSIDE = "configuration-outside"
REWRITES = "rewritten-by-a-gate"
MANIFESTS = (
    *("requirements*.txt", "requirements*.in", "pyproject.toml", "setup.py", "setup.cfg", "uv.lock"),
    *("poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "environment*.yml", "package.json"),
    *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
    *("Cargo.toml", "Cargo.lock", "go.mod", "go.sum", "Gemfile", "Gemfile.lock", "composer.json"),
    *("composer.lock", "CMakeLists.txt", "pom.xml", "build.gradle*", "mix.exs", "mix.lock"),
)
"""Files that say what has to be installed or configured: only if one changed does `setup` run."""
_MOST_NAMES = 10
_LEAVES = (
    "is a new link that leads out of the workspace, where no snapshot reaches. "
    "Replace it with a copy of the file."
)
_OUTSIDE = (
    "is outside the workspace, configures tools in it, and changed during the run. Put it back as it was."
)
_REWRITES = (
    "is protected, and a gate changes it while it runs, which it did not do on the untouched tree. "
    "Remove what changes it."
)

_MAKES = (
    "was created by a gate while it ran, which did not happen on the untouched tree, and the gates are red "
    "if it is empty. Check what is written to it, and list it in integrity.allow if that is part of the work."
)


class CleanRoom(Struct, frozen=True, kw_only=True):
    """Runs the gates in a clean room, and explains why they are red there."""

    trials: Trials
    original: str
    changes: Sequence[Change]
    caches: Collection[str] = ()
    """New and changed cache files that the snapshot has and the room leaves out."""
    setup: Sequence[str] = ()
    watched: Collection[str] | None = None
    """Protected files: a gate that turns green by changing one is not green."""
    same_tests: bool = False
    """Whether no protected file changed, so that the tests are those of the untouched tree."""

    async def verdict(self) -> Verdict:
        """A pass says how long it took; a gate that is red only here is explained."""
        trial = await self.trials.run(
            "in the clean room",
            self._contents(),
            watched=self.watched,
            setup=self._setup(),
            links=self._new_paths(),
            same_tests=self.same_tests,
        )
        if trial.leaving:
            return _red(LEAVES, trial.leaving, _LEAVES)
        if rewritten := await self.trials.newly_rewritten(trial, self.original):
            return _rewritten(rewritten)
        if outside := await to_thread.run_sync(self._changed_outside):
            return _red(OUTSIDE, outside, _OUTSIDE, inside=False)
        if not trial.red:
            return passed(f"The gates are green in the clean room ({show_duration(trial.seconds)}).")
        if trial.room.too_large:
            findings = tuple(finding for each in trial.red.values() for finding in each.findings)
            return Verdict(status="error", findings=findings, excerpt=excerpt(trial.red))
        again = await self.trials.run(
            "in the clean room, again",
            self._contents(),
            setup=self._setup(),
            only=trial.red,
            same_tests=self.same_tests,
        )
        red = {name: each for name, each in trial.red.items() if fails_alike(each, again.verdicts[name])}
        if not red:
            return Verdict(
                status="pass",
                score=1.0,
                excerpt=f"Flaky: {', '.join(trial.red)} failed in the clean room, then passed.",
                flaky=True,
            )
        return await self._explained(red, trial)

    def _changed_outside(self) -> list[str]:
        """Configuration outside the workspace that is new or changed; a room can't restore it."""
        rooms = self.trials.rooms
        top = Path(os.path.realpath(self.trials.context.root))
        return compare(top, files_outside(top), rooms.before, rooms.keep).hidden

    def _contents(self) -> Contents:
        snapshot = self.trials.context.snapshot
        return Contents(snapshot=snapshot, originals=self.original, paths=self.caches)

    def _new_paths(self) -> list[str]:
        return [change.path for change in self.changes if change.status != "deleted"]

    def _manifests(self) -> list[str]:
        """Changed files that say what to install."""
        names = [(change.path, posixpath.basename(change.path)) for change in self.changes]
        return [path for path, name in names if any(fnmatchcase(name, each) for each in MANIFESTS)]

    def _setup(self) -> Sequence[str]:
        return self.setup if self._manifests() else ()

    async def _explained(self, red: Verdicts, trial: Trial) -> Verdict:
        """The untouched files show whether the gate can work here at all."""
        untouched = await self.trials.run(
            "on the untouched tree, in the clean room", Contents(snapshot=self.original), only=red
        )
        known = self.trials.context.baseline
        broken = {
            name: each for name, each in red.items() if differs(known.get(name), untouched.verdicts[name])
        }
        if broken:
            findings = tuple(unable(name, each, trial.room) for name, each in broken.items())
            return Verdict(status="error", findings=findings, excerpt=excerpt(broken))
        unknown = {name: each for name, each in red.items() if name not in known}
        alike = {name: each for name, each in unknown.items() if fails_alike(each, untouched.verdicts[name])}
        if alike:
            findings = tuple(_without_baseline(name, each, trial.room) for name, each in alike.items())
            return Verdict(status="error", findings=findings, excerpt=excerpt(alike))
        if self._manifests() and not self.setup:
            return Verdict(status="error", findings=self._needs_setup(red), excerpt=excerpt(red))
        left_out = (*trial.room.left_out, *sorted(self.caches))
        findings = tuple(_not_clean(name, each, left_out) for name, each in red.items())
        return Verdict(status="fail", findings=findings, excerpt=excerpt(red))

    def _needs_setup(self, red: Verdicts) -> tuple[Finding, ...]:
        changed = ", ".join(self._manifests()[:_MOST_NAMES])
        return tuple(
            Finding(
                id=f"{NO_CLEAN_ROOM}: {name}",
                message=f"Gate {name!r} is red in the clean room, and nothing was installed there after "
                f"{changed} changed. "
                'Set clean_room.setup to the command that installs it, such as "npm ci".',
            )
            for name in red
        )


def differs(before: Verdict | None, now: Verdict) -> bool:
    """Whether a gate gives a different verdict on the same files; an unknown one counts as the same."""
    if before is None or before.status == "skip":
        return False
    if (before.status == "pass") != (now.status == "pass"):
        return True
    if before.status == "pass" or before.findings or now.findings:
        return before.status != "pass" and not _named_alike(before, now)
    return before.digest != now.digest


def _named_alike(before: Verdict, now: Verdict) -> bool:
    return bool({each.id for each in before.findings} & {each.id for each in now.findings})


def _red(kind: str, paths: Sequence[str], about: str, *, inside: bool = True) -> Verdict:
    """A red verdict with the same message for each of these paths."""
    findings = tuple(
        Finding(id=f"{kind}: {path}", message=f"{path} {about}", file=path if inside else None)
        for path in paths[:_MOST_NAMES]
    )
    return Verdict(status="fail", findings=findings)


def _rewritten(paths: Sequence[str]) -> Verdict:
    """If all of them are `.env` files, a person says whether they are part of the product."""
    if any(not posixpath.basename(path).startswith(".env") for path in paths):
        return _red(REWRITES, paths, _REWRITES)
    return msgspec.structs.replace(_red(REWRITES, paths, _MAKES), status="error")


def _words(verdict: Verdict) -> str:
    first = verdict.findings[0].message if verdict.findings else verdict.excerpt.strip()
    return trim(first, 500)


def _left_out(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - _MOST_NAMES} more" if len(paths) > _MOST_NAMES else ""
    names = f"{', '.join(paths[:_MOST_NAMES])}{more}"
    return f"Left out there, because they are caches, or changed since the run began: {names}. "


def unable(name: str, verdict: Verdict, room: Room, needed: Sequence[str] = ()) -> Finding:
    """The finding about a gate that can't work in a clean room, with what it needs, if known."""
    begin = f"Gate {name!r} does not work in a clean room: "
    if needed:
        paths = ", ".join(needed[:_MOST_NAMES])
        keep = ", ".join(f'"{path}"' for path in needed[:_MOST_NAMES])
        fix = f"this gate needs {paths}: name it in clean_room.keep, as in keep = [{keep}]."
        return Finding(
            id=f"{NO_CLEAN_ROOM}: {name}", message=f"{begin}{fix} The gate says: {_words(verdict)}"
        )
    large = f"Too large to copy there: {', '.join(room.too_large)}. " if room.too_large else ""
    message = (
        f"{begin}even the untouched files get a different verdict there. "
        f"{_left_out(room.left_out)}{large}The gate says: {_words(verdict)} "
        "If it needs files that git ignores, name them in clean_room.keep; if something has to be installed "
        "first, set clean_room.setup."
    )
    return Finding(id=f"{NO_CLEAN_ROOM}: {name}", message=message)


def _without_baseline(name: str, verdict: Verdict, room: Room) -> Finding:
    """Without a verdict from before the first lap, either the gate or the work may be to blame."""
    message = (
        f"Gate {name!r} is green in the workspace, and in a clean room it fails as it does on the untouched "
        f"tree. {_left_out(room.left_out)}The gate says: {_words(verdict)} "
        "If it needs files that git ignores, name them in clean_room.keep; if something has to be installed "
        "first, set clean_room.setup. With baseline = true this is found before the first lap."
    )
    return Finding(id=f"{NO_CLEAN_ROOM}: {name}", message=message)


def _not_clean(name: str, verdict: Verdict, left_out: Sequence[str]) -> Finding:
    message = (
        f"Gate {name!r} is green in the workspace and red in a clean room, which has the snapshot alone. "
        f"{_left_out(left_out)}The gate says: {_words(verdict)} "
        "Make it pass without files that git ignores; a person can name what it needs in clean_room.keep."
    )
    return Finding(id=f"{NOT_CLEAN}: {name}", message=message)
