"""One comparison: the originals alone, then with the new tests added, then the tree as it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from untilgreen.core.briefing.excerpt import trim
from untilgreen.core.scoring.gate_health import TIMEOUT
from untilgreen.core.values.model import Finding, Verdict
from untilgreen.gates.command import BARE, CANNOT_RUN, REPORT
from untilgreen.gates.integrity.explanations import explain, find_renamed
from untilgreen.gates.integrity.tampering import Tampering, Touched
from untilgreen.gates.integrity.trial_rooms.rooms import Contents
from untilgreen.gates.integrity.trial_rooms.trials import (
    Trial,
    Trials,
    Verdicts,
    excerpt,
    fails_alike,
    passed,
)
from untilgreen.gates.output.tool_result import NO_TESTS

CHANGED = "changed"
ORIGINAL = "original"
REWRITTEN = "rewritten"
NO_COPY = "does-not-work-in-a-copy"
LOOKS_ELSEWHERE = "looks-elsewhere"
_ABOUT_THE_COMMAND = frozenset({CANNOT_RUN, NO_TESTS, REPORT, TIMEOUT})
_MOST_FILES = 40
_MOST_NEW_FILES = 200
_LONGEST_TEXT = 200_000
_GARBAGE = b"}{ ( untilgreen ) }{\n"
"""Valid in no language that a gate reads."""


class Comparison(Struct, frozen=True, kw_only=True):
    """Everything needed to find out whether the originals still pass."""

    trials: Trials
    found: Tampering
    clean: bool = False
    """Whether the gates are known to be green in a room with the tree as it is."""

    async def verdict(self) -> Verdict:
        """Green with the originals is a pass; otherwise it depends on the verdict without them."""
        alone = await self._originals(self.found.new_tests)
        red = alone.red
        if red and self.found.new_tests:
            red = await self._red_beside_new_tests(red)
        if rewritten := await self.trials.newly_rewritten(alone, self.found.original):
            return self._rewritten(rewritten)
        if not red:
            return await self._green(alone)
        if self.clean:
            return await self._weakened(red)
        control = await self.trials.run("as it is", self._as_it_is())
        weakened = {name: each for name, each in red.items() if control.verdicts[name].status == "pass"}
        if weakened:
            return await self._weakened(weakened)
        if not self.found.touched:
            return passed("Only tests were added, and the gates do not work in a copy.")
        broken = {name: control.verdicts[name] for name in red}
        return Verdict(
            status="error", findings=(*_broken(broken), *await self.explained()), excerpt=excerpt(broken)
        )

    async def _weakened(self, red: Verdicts) -> Verdict:
        """A test that fails now and passes on a retry is flaky, not weakened."""
        again = await self._originals(())
        beside = await self._originals(self.found.new_tests) if self.found.new_tests else again
        confirmed = {
            name: verdict
            for name, verdict in red.items()
            if fails_alike(verdict, again.verdicts[name]) or fails_alike(verdict, beside.verdicts[name])
        }
        if not confirmed:
            names = ", ".join(red)
            return replace(passed(f"Flaky: with the originals {names} failed, then passed."), flaky=True)
        return Verdict(
            status="fail",
            findings=(*await self.explained(), *_named(confirmed)),
            excerpt=excerpt(confirmed),
        )

    async def _green(self, trial: Trial) -> Verdict:
        """If commands could read outside the room, garbage in place of the originals must turn them red."""
        if trial.at_home or not self.found.touched or not trial.verdicts:
            return passed("The gates are green with the originals put back.")
        garbled = {path: _GARBAGE for path in (*self.found.known, *self.found.paths) if path in trial.files}
        canary = await self.trials.run("with garbage for originals", self.put_back((), garbled))
        if canary.red or not garbled:
            return passed("The gates are green with the originals put back.")
        message = (
            "The gates are green even with garbage in the copy's protected files, so they read other files: "
            "through an absolute path, an editable install or a build directory outside the workspace. "
            "Look at the changes and allow them, or give the gates relative paths."
        )
        findings = (Finding(id=LOOKS_ELSEWHERE, message=message), *await self.explained())
        return Verdict(status="error", findings=findings)

    def _rewritten(self, paths: Collection[str]) -> Verdict:
        findings = tuple(
            Finding(
                id=f"{REWRITTEN}: {path}",
                message=f"{path} was put back as it was, and a gate changed it while it ran. {_advice(path)}",
                file=path,
            )
            for path in sorted(paths)[:_MOST_FILES]
        )
        return Verdict(status="fail", findings=findings)

    async def _red_beside_new_tests(self, alone: Verdicts) -> Verdicts:
        """A gate may need the new tests, as for coverage; but they must not keep originals from failing."""
        together = (await self._originals(())).red
        return {
            name: verdict
            for name, verdict in alone.items()
            if name in together or self._names_an_original(verdict)
        }

    def _names_an_original(self, verdict: Verdict) -> bool:
        """Without the new tests, any named failure is an old test."""
        return any(
            finding.file in self.found.known if _is_about_a_place(finding) else _is_a_test(finding)
            for finding in verdict.findings
        )

    async def _originals(self, taken_out: Collection[str]) -> Trial:
        title = "with the originals and the new tests" if self.found.new_tests else "with the originals"
        title = "with the originals alone" if taken_out else title
        alone = not (self.found.accepted or set(self.found.new_tests) - set(taken_out))
        return await self.trials.run(
            title, self.put_back(taken_out), watched=self.found.known, same_tests=alone
        )

    def _as_it_is(self) -> Contents:
        return Contents(snapshot=self.trials.context.snapshot)

    def put_back(self, taken_out: Collection[str], garbled: Mapping[str, bytes] | None = None) -> Contents:
        """The tree with the originals put back, some paths taken out, and some files garbled."""
        found = self.found
        return Contents(
            snapshot=self.trials.context.snapshot,
            originals=found.original,
            paths=found.paths | set(taken_out),
            overlays={**found.overlays, **(garbled or {})},
            hidden=found.hidden,
        )

    async def explained(self) -> list[Finding]:
        """What was done to each protected file."""
        found = [await self._about(each) for each in self.found.touched[:_MOST_FILES]]
        if not found and self.found.new_tests:
            names = ", ".join(self.found.new_tests[:_MOST_FILES])
            message = f"The original tests fail without these new files, and do not run with them: {names}."
            found = [
                Finding(id=f"{CHANGED}: new tests", message=f"{message} {_advice(self.found.new_tests[0])}")
            ]
        left_out = len(self.found.touched) - len(found)
        if left_out > 0:
            found.append(Finding(id=f"{CHANGED}: more", message=f"{left_out} more protected files differ."))
        return found

    async def _about(self, each: Touched) -> Finding:
        old = await self._text(self.found.original, each.path)
        if each.status == "hidden":
            new = await to_thread.run_sync(_on_disk, await self.trials.rooms.trees.top(), each.path)
        else:
            new = await self._text(self.trials.context.snapshot, each.path)
        moved = await self._moved(old) if each.status == "deleted" else ""
        words = explain(each.path, each.status, old, new, part=each.part, moved_to=moved)
        return Finding(id=f"{CHANGED}: {each.path}", message=f"{words} {_advice(each.path)}", file=each.path)

    async def _moved(self, old: str) -> str:
        changes = await self.trials.rooms.trees.changes(self.found.original, self.trials.context.snapshot)
        new = [change.path for change in changes if change.status == "added"][:_MOST_NEW_FILES]
        snapshot = self.trials.context.snapshot
        return find_renamed(old, [(path, await self._text(snapshot, path)) for path in new])

    async def _text(self, snapshot: str, path: str) -> str:
        return _readable(await self.trials.rooms.trees.content(snapshot, path) or b"")


def _is_about_a_place(finding: Finding) -> bool:
    """A linter's finding: the file, and what is wrong there."""
    return finding.file is not None and finding.id.startswith(f"{finding.file}: ")


def _is_a_test(finding: Finding) -> bool:
    """Every other finding is about a test, except those about the command itself."""
    return finding.id not in _ABOUT_THE_COMMAND and not finding.id.startswith(BARE)


def _readable(content: bytes) -> str:
    return content[:_LONGEST_TEXT].decode(errors="replace")


def _on_disk(top: Path, path: str) -> str:
    try:
        if not (top / path).is_file():  # a link may lead to a pipe
            return ""
        with (top / path).open("rb") as file:
            return _readable(file.read(_LONGEST_TEXT))
    except OSError:
        return ""


def _advice(path: str) -> str:
    return f"Put it back as it was, or let a person accept it with `untilgreen answer RUN allow {path}`."


def _named(weakened: Verdicts) -> list[Finding]:
    """The findings of the gates, each with the gate's name in front."""
    named = []
    for name, verdict in weakened.items():
        bare = Finding(id="fails", message=trim(verdict.excerpt.strip(), 500))
        for finding in verdict.findings or (bare,):
            message = f"Gate {name!r} is red with the originals put back. {finding.message}".rstrip()
            named.append(
                Finding(
                    id=f"{ORIGINAL} {name}: {finding.id}",
                    message=message,
                    file=finding.file,
                    line=finding.line,
                )
            )
    return named


def _broken(control: Verdicts) -> list[Finding]:
    named = []
    for name, verdict in control.items():
        first = verdict.findings[0].message if verdict.findings else verdict.excerpt.strip()
        message = (
            f"Gate {name!r} is red in a copy of the files even with nothing put back, so weakened "
            f"tests would not show. The gate says: {trim(first, 500)} "
            "Look at the changes and allow them, or make the gate work in any directory."
        )
        named.append(Finding(id=f"{NO_COPY}: {name}", message=message))
    return named
