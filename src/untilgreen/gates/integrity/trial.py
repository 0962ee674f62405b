"""One comparison: the originals alone, then with the new tests beside them, then the tree as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from untilgreen.core.excerpt import EXCERPT_BYTES, trim
from untilgreen.core.model import Finding, GateSpec, Verdict
from untilgreen.core.standing import TIMEOUT
from untilgreen.gates.command import BARE, CANNOT_RUN, REPORT
from untilgreen.gates.integrity.copies import Copies, Copy
from untilgreen.gates.integrity.rerun import Make, Verdicts, rerun, write_down
from untilgreen.gates.integrity.tampering import Kept, Tampering, Touched
from untilgreen.gates.integrity.words import explained, renamed
from untilgreen.gates.seen import NO_TESTS
from untilgreen.ports import Site

CHANGED = "changed"
ORIGINAL = "original"
NO_COPY = "does-not-work-in-a-copy"
_ABOUT_THE_COMMAND = frozenset({CANNOT_RUN, NO_TESTS, REPORT, TIMEOUT})
_MOST_FILES = 40
_MOST_NEW_FILES = 200
_LONGEST_TEXT = 200_000


@dataclass(frozen=True, kw_only=True)
class Trial:
    """All that is needed to find out whether the originals still hold."""

    kept: Kept
    specs: Sequence[GateSpec]
    make: Make
    scratch: Path
    site: Site
    below: str
    found: Tampering

    async def verdict(self) -> Verdict:
        """Green with the originals is a pass; the rest depends on what the untouched copy says."""
        red = _red(await self._originals(self.found.fresh))
        if red and self.found.fresh:
            red = await self._red_beside_new_tests(red)
        if not red:
            return _passed("The gates are green with the originals put back.")
        control = await self._as_it_is()
        weakened = {name: verdict for name, verdict in red.items() if control[name].status == "pass"}
        if weakened:
            findings = (*await self._explained(), *_named(weakened))
            return Verdict(status="fail", findings=findings, excerpt=_excerpt(weakened))
        if not self.found.touched:
            return _passed("Only tests were added. The gates don't work in a copy, so no more is known.")
        broken = {name: control[name] for name in red}
        return Verdict(
            status="error", findings=(*_broken(broken), *await self._explained()), excerpt=_excerpt(broken)
        )

    async def _red_beside_new_tests(self, alone: Verdicts) -> Verdicts:
        """A gate may want the new tests, for its coverage; they may not keep originals from failing."""
        together = _red(await self._originals(()))
        return {
            name: verdict
            for name, verdict in alone.items()
            if name in together or self._names_an_original(verdict)
        }

    def _names_an_original(self, verdict: Verdict) -> bool:
        """Without the new tests, whatever fails by a name of its own is an old one."""
        return any(
            finding.file in self.found.known if _is_about_a_place(finding) else _is_a_test(finding)
            for finding in verdict.findings
        )

    async def _originals(self, taken_out: Collection[str]) -> Verdicts:
        title = "with the originals and the new tests" if self.found.fresh else "with the originals"
        copies = Copies(self.kept, self.site.snapshot, self.found, self.scratch)
        async with copies.put_back("originals", taken_out) as copy:
            return await self._rerun(copy, "with the originals alone" if taken_out else title)

    async def _as_it_is(self) -> Verdicts:
        copies = Copies(self.kept, self.site.snapshot, self.found, self.scratch)
        async with copies.as_it_is("control") as copy:
            return await self._rerun(copy, "in a copy as it is")

    async def _rerun(self, copy: Copy, title: str) -> Verdicts:
        verdicts = await rerun(self.specs, self.make, copy, self.below, self.site)
        await to_thread.run_sync(write_down, self.site.output, title, verdicts)
        return verdicts

    async def _explained(self) -> list[Finding]:
        """What was done to each protected file."""
        found = [await self._about(each) for each in self.found.touched[:_MOST_FILES]]
        if not found and self.found.fresh:
            names = ", ".join(self.found.fresh[:_MOST_FILES])
            message = (
                f"The original tests fail without these new files, and are not heard with them: {names}."
            )
            found = [Finding(id=f"{CHANGED}: new tests", message=f"{message} {_advice(self.found.fresh[0])}")]
        left_out = len(self.found.touched) - len(found)
        if left_out > 0:
            found.append(Finding(id=f"{CHANGED}: more", message=f"{left_out} more protected files differ."))
        return found

    async def _about(self, each: Touched) -> Finding:
        old = await self._text(self.found.original, each.path)
        if each.status == "hidden":
            new = await to_thread.run_sync(_on_disk, await self.kept.top(), each.path)
        else:
            new = await self._text(self.site.snapshot, each.path)
        moved = await self._moved(old) if each.status == "deleted" else ""
        words = explained(each.path, each.status, old, new, part=each.part, moved_to=moved)
        return Finding(id=f"{CHANGED}: {each.path}", message=f"{words} {_advice(each.path)}", file=each.path)

    async def _moved(self, old: str) -> str:
        changes = await self.kept.changes(self.found.original, self.site.snapshot)
        new = [change.path for change in changes if change.status == "added"][:_MOST_NEW_FILES]
        return renamed(old, [(path, await self._text(self.site.snapshot, path)) for path in new])

    async def _text(self, snapshot: str, path: str) -> str:
        return _readable(await self.kept.content(snapshot, path) or b"")


def _is_about_a_place(finding: Finding) -> bool:
    """A linter's complaint: the file, and what is wrong there."""
    return finding.file is not None and finding.id.startswith(f"{finding.file}: ")


def _is_a_test(finding: Finding) -> bool:
    """Every other complaint is about a test, but for those about the command itself."""
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


def _red(verdicts: Verdicts) -> Verdicts:
    return {name: verdict for name, verdict in verdicts.items() if verdict.status != "pass"}


def _passed(words: str) -> Verdict:
    return Verdict(status="pass", score=1.0, excerpt=words)


def _named(weakened: Verdicts) -> list[Finding]:
    """The complaints of the gates, each with the gate's name in front."""
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
            f"Gate {name!r} is red in a copy of the files even where nothing is put back, so that nobody can "
            f"tell whether protected files were weakened. It says: {trim(first, 500)} "
            "Look at the changes yourself and allow them, or make the gate work in any directory."
        )
        named.append(Finding(id=f"{NO_COPY}: {name}", message=message))
    return named


def _excerpt(verdicts: Verdicts) -> str:
    return trim("\n".join(f"{name}:\n{each.excerpt}" for name, each in verdicts.items()), EXCERPT_BYTES)
