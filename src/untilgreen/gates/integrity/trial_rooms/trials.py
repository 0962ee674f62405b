"""Runs the gates of a run again in a room."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace
from msgspec.structs import replace as with_fields

from untilgreen.core.briefing.excerpt import EXCERPT_BYTES, trim
from untilgreen.core.scoring.gate_health import out_of_time
from untilgreen.core.scoring.gate_scores import remembered
from untilgreen.core.scoring.vanished_tests import doubt_skipped_tests, doubt_vanished_tests
from untilgreen.core.values.model import (
    APPROVAL_GATE,
    CLAIM_GATE,
    INTEGRITY_GATE,
    Finding,
    GateSpec,
    Verdict,
)
from untilgreen.gates.integrity.trial_rooms.file_copies import LARGEST
from untilgreen.gates.integrity.trial_rooms.made_files import files_in, settings_among, without_version
from untilgreen.gates.integrity.trial_rooms.rooms import Contents, Room, Rooms
from untilgreen.ports import CheckContext, Gate, Mount, allowance
from untilgreen.process.run import run
from untilgreen.process.start import shell

Make: TypeAlias = Callable[[GateSpec], Gate]
Verdicts: TypeAlias = dict[str, Verdict]

_NOT_IN_A_COPY = frozenset({CLAIM_GATE, INTEGRITY_GATE, APPROVAL_GATE, "judge", "ci"})
_SLACK_SECONDS = 120.0
LEFT_OUT = "left-out"
_MOST_NAMES = 10
_MOST_LINKS = 40
_RUNS = 16
"""For the clean room, the originals alone and with new tests, reruns to confirm a red one, and canaries."""


def repeatable(gates: Sequence[GateSpec]) -> tuple[GateSpec, ...]:
    """The gates that judge files in any directory, cheap stages first."""
    fitting = [gate for gate in gates if gate.required and gate.kind not in _NOT_IN_A_COPY]
    return tuple(sorted(fitting, key=lambda gate: gate.stage))


def seconds(gates: Sequence[GateSpec]) -> float | None:
    """The most time that all of this may take; None if a gate has no time limit."""
    total = _SLACK_SECONDS
    for gate in repeatable(gates):
        if gate.timeout is None:
            return None
        total += _RUNS * (1 + gate.retries) * gate.timeout
    return total


class Trial(Struct, frozen=True, kw_only=True):
    """The verdicts in one room, and what the gates did to it."""

    verdicts: Verdicts
    room: Room
    contents: Contents
    setup: Sequence[str] = ()
    files: frozenset[str] = frozenset()
    """The watched files that the room had."""
    rewritten: tuple[str, ...] = ()
    """Those of them that had changed when the gates were done."""
    made: tuple[str, ...] = ()
    """New files that configure a tool."""
    leaving: tuple[str, ...] = ()
    """Links that lead out of the tree."""

    @property
    def red(self) -> Verdicts:
        """The gates that did not pass."""
        return {name: verdict for name, verdict in self.verdicts.items() if verdict.status != "pass"}

    @property
    def at_home(self) -> bool:
        """Whether commands saw the room at the workspace's own path, so that no path led past it."""
        return self.room.view is not None or self.room.in_place

    @property
    def seconds(self) -> float:
        """How long the gates took."""
        return sum(verdict.duration for verdict in self.verdicts.values())


class Trials(Struct, frozen=True, kw_only=True):
    """Everything needed to run the gates of a run in a room."""

    rooms: Rooms
    specs: Sequence[GateSpec]
    make: Make
    context: CheckContext
    below: str
    lets_through: Callable[[str], bool] = lambda _: False
    """Whether the spec or a person accepts any change of a path."""

    async def run(
        self,
        title: str,
        contents: Contents,
        *,
        watched: Collection[str] | None = None,
        only: Collection[str] | None = None,
        setup: Sequence[str] = (),
        links: Collection[str] = (),
        emptied: Collection[str] = (),
        same_tests: bool = False,
    ) -> Trial:
        """Make a room, run the gates there, and record their verdicts.

        `watched` files should stay the same; unless it is None, new files that configure a tool are noted
        too. `only` names the gates to run, after the commands of `setup`. Of `links`, those that lead out of
        the tree are reported. Whatever is written to `emptied` files is lost. With `same_tests`, no test may
        be skipped that ran before the first lap.
        """
        specs = [spec for spec in self.specs if only is None or spec.name in only]
        async with self.rooms.open("room", contents) as room:
            leaving = await to_thread.run_sync(_leaving, room, links)
            failed = await self._set_up(room, setup)
            await to_thread.run_sync(_empty, room.path, emptied)
            before = await to_thread.run_sync(_marks, room.path, watched or ())
            there = await to_thread.run_sync(files_in, room.path) if watched is not None else frozenset()
            verdicts = {spec.name: failed for spec in specs} if failed is not None else {}
            verdicts = verdicts or await rerun(specs, self.make, room, self.below, self.context)
            verdicts = self._with_the_same_tests(verdicts) if same_tests else verdicts
            after = await to_thread.run_sync(_marks, room.path, watched or ())
            made = await to_thread.run_sync(_made, room.path, there) if watched is not None else []
        await to_thread.run_sync(write_down, self.context.output, title, verdicts)
        return Trial(
            verdicts=verdicts,
            room=room,
            contents=contents,
            setup=setup,
            files=frozenset(before),
            rewritten=tuple(path for path, mark in before.items() if after.get(path) != mark),
            made=tuple(made),
            leaving=leaving,
        )

    def _with_the_same_tests(self, verdicts: Verdicts) -> Verdicts:
        specs = {spec.name: spec for spec in self.specs}
        before = self.context.baseline
        return {
            name: doubt_skipped_tests(before.get(name), specs[name], each) for name, each in verdicts.items()
        }

    async def newly_rewritten(self, trial: Trial, original: str) -> list[str]:
        """Protected files that gates changed or made in a trial, and not on the untouched tree.

        A file that was made does no harm if the gates are green without its content.
        """
        suspects = [path for path in (*trial.rewritten, *trial.made) if not self.lets_through(path)]
        if not suspects:
            return []
        untouched = await self.run("on the untouched tree", Contents(snapshot=original), watched=suspects)
        also = {without_version(path) for path in (*untouched.rewritten, *untouched.made)}
        new = sorted(path for path in suspects if without_version(path) not in also)
        if not new:
            return []
        made = [path for path in new if path in trial.made]
        if len(made) < len(new) or trial.room.in_place:
            return new
        again = await self.run(
            "without what they make", trial.contents, watched=made, setup=trial.setup, emptied=made
        )
        return new if again.red or again.rewritten or set(again.made) & set(made) else []

    async def _set_up(self, room: Room, commands: Sequence[str]) -> Verdict | None:
        """Run the commands that install what the tree needs; None if they worked."""
        place = _place(room, self.below, self.context)
        for command in commands:
            ran = await run(
                shell(command),
                cwd=place.root,
                env=place.env,
                merge=True,
                note=place.tree,
                sandbox=place.sandbox,
                view=place.view,
            )
            if not ran.ok:
                message = f"clean_room.setup failed in the clean room: {command!r}, {ran.ending}. Correct it."
                finding = Finding(id="clean_room.setup", message=message)
                return Verdict(status="error", findings=(finding,), excerpt=trim(ran.stdout, EXCERPT_BYTES))
        return None


async def rerun(
    gates: Sequence[GateSpec], make: Make, room: Room, below: str, context: CheckContext
) -> Verdicts:
    """Run all gates, one after another: an early red gate must not hide a later one."""
    found: Verdicts = {}
    place = _place(room, below, context)
    known = remembered({}, context.baseline)
    for spec in gates:
        gate = make(with_fields(spec, options=room.relocated(spec.options)))
        for _ in range(1 + spec.retries):
            said = doubt_vanished_tests(known.get(spec.name, {}), spec, await _checked(gate, spec, place))
            found[spec.name] = _told(spec.name, with_fields(said, excerpt=room.shown(said.excerpt)), room)
            if found[spec.name].status == "pass":
                break
    return found


def _told(gate: str, verdict: Verdict, room: Room) -> Verdict:
    """In a room that lacks something, a verdict says what, and a red one proves nothing."""
    if not room.too_large:
        return verdict
    more = f" and {len(room.too_large) - _MOST_NAMES} more" if len(room.too_large) > _MOST_NAMES else ""
    names = f"{', '.join(room.too_large[:_MOST_NAMES])}{more}"
    why = f"Left out of the copy, since ignored files may take up only {LARGEST / 1e9:.0f} GB of it: {names}."
    if verdict.status == "pass":
        return with_fields(verdict, excerpt=f"{why}\n{verdict.excerpt}")
    message = f"Gate {gate!r} is red in a copy that lacks some files, which proves nothing. {why}"
    return with_fields(
        verdict, status="error", findings=(Finding(id=f"{LEFT_OUT}: {gate}", message=message),)
    )


def _place(room: Room, below: str, context: CheckContext) -> CheckContext:
    """The same context with the room in place of the workspace."""
    sandbox = context.sandbox
    if sandbox is not None and room.view is None:
        sandbox = sandbox.opened(Mount(path=room.path, way="write"))
    env = {**room.env(), **context.env}
    return replace(context, root=room.path / below, output=None, env=env, sandbox=sandbox, view=room.view)


async def _checked(gate: Gate, spec: GateSpec, context: CheckContext) -> Verdict:
    with anyio.move_on_after(allowance(gate, spec.timeout)):
        return await gate.check(replace(context, seconds=spec.timeout))
    return Verdict(status="error", findings=(out_of_time(spec.timeout or 0),))


def write_down(output: Path | None, title: str, verdicts: Verdicts) -> None:
    """Append the verdicts in a room to a file for people."""
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("a", encoding="utf-8", errors="replace") as file:
        for name, verdict in verdicts.items():
            file.write(f"== {name}, {title}: {verdict.status}\n{verdict.excerpt}\n")


def _leaving(room: Room, paths: Collection[str]) -> tuple[str, ...]:
    """The paths that are links to a place outside the tree."""
    return tuple(path for path in paths if (room.path / path).is_symlink() and _leads_out(room, path))


def _leads_out(room: Room, path: str) -> bool:
    """Follow all links on the way, as the gates do: `folder/..` may be anywhere if the folder is a link."""
    within, top = os.path.realpath(room.path), os.path.realpath(room.top)
    for _ in range(_MOST_LINKS):
        aim = os.path.realpath(os.path.join(within, path))  # noqa: PTH118 - a path that may be anywhere
        if aim == within or aim.startswith(f"{within}/"):
            return False
        path = posixpath.relpath(aim, top)  # gates see the room at the workspace's own path
        if path == ".." or path.startswith("../"):
            return True
    return True


def _marks(room: Path, paths: Collection[str]) -> Mapping[str, bytes]:
    """A mark of each watched file's content, since a gate may touch one without changing it."""
    found = {}
    for path in paths:
        with suppress(OSError):
            place = room / path
            found[path] = os.fsencode(place.readlink()) if place.is_symlink() else _digest(place)
    return found


def _empty(room: Path, paths: Collection[str]) -> None:
    """Link these paths to the null device, so that the program that writes to them carries on."""
    for path in paths:
        with suppress(OSError):
            (room / path).parent.mkdir(parents=True, exist_ok=True)
            (room / path).unlink(missing_ok=True)  # an overlay's device that hides a file of the workspace
            (room / path).symlink_to(os.devnull)


def _made(room: Path, before: Collection[str]) -> list[str]:
    return settings_among(room, files_in(room) - set(before))


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").digest()


def fails_alike(one: Verdict, other: Verdict) -> bool:
    """Whether two red verdicts have a failure in common, if both name failures."""
    if other.status == "pass":
        return False
    ids = {finding.id for finding in one.findings}, {finding.id for finding in other.findings}
    return not all(ids) or bool(ids[0] & ids[1])


def passed(words: str) -> Verdict:
    """A pass, with a note about its basis."""
    return Verdict(status="pass", score=1.0, excerpt=words)


def excerpt(verdicts: Verdicts) -> str:
    """What the gates printed, gate by gate."""
    return trim("\n".join(f"{name}:\n{each.excerpt}" for name, each in verdicts.items()), EXCERPT_BYTES)
