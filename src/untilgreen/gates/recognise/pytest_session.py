"""One session of pytest as it was read: how many tests came out how, and what is to be said about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from untilgreen.core.model import Finding
from untilgreen.gates.recognise.pytest_lines import Complaint, Counts
from untilgreen.gates.seen import gist, steady

SUMMARY = "short test summary info"

_BARE_NAME = re.compile(r"[^\[ ]*")


@dataclass
class Block:
    """One failure as it is explained between the progress and the summary."""

    name: str
    said: str = ""
    places: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Session:
    """One run of pytest; an output may hold several."""

    begun: bool = False
    section: str = ""
    found: int = 0
    counts: Counts | None = None
    summary: list[Complaint] = field(default_factory=list)
    outcomes: list[Complaint] = field(default_factory=list)
    results: Counter[str] = field(default_factory=Counter)
    blocks: list[Block] = field(default_factory=list)
    running: str = ""
    stopped: str = ""
    internal: str = ""
    coverage: str = ""

    @property
    def is_one(self) -> bool:
        """Whether anything was seen that only pytest prints."""
        return bool(self.begun or self.counts or self.summary or self.blocks or self.internal) or (
            self.section == SUMMARY
        )

    @property
    def nothing_ran(self) -> bool:
        """It came to its end without a single test."""
        return self.counts is not None and self.counts.empty

    @property
    def crashed(self) -> bool:
        """It began, and ended before it could say how it went."""
        return self.begun and self.counts is None and not self.section and not self.internal


def tally(session: Session) -> tuple[int, int, int, int]:
    """Passed, failed, skipped and all; counted from the progress where no last line counts them."""
    if session.counts:
        passed, failed, skipped = session.counts.passed, session.counts.failed, session.counts.skipped
    else:
        seen = session.results
        passed = sum(seen[word] for word in (".", "X", "PASSED", "XPASS"))
        failed = sum(seen[word] for word in ("F", "E", "FAILED", "ERROR")) or len(session.summary)
        skipped = sum(seen[word] for word in ("s", "x", "SKIPPED", "XFAIL"))
    return passed, failed, skipped, max(session.found, passed + failed + skipped)


def complaints(session: Session, fatal: str) -> Iterator[Finding]:
    """The summary names the tests best, then verbose progress, then the blocks."""
    named = session.summary or session.outcomes
    explanations = _by_place(session.blocks)
    yield from (_explained(complaint, explanations) for complaint in named)
    if not named:
        yield from (_from_block(block) for block in session.blocks)
    if session.internal:
        kind = session.internal.partition(":")[0]
        yield Finding(id=f"INTERNALERROR: {steady(kind)}", message=session.internal)
    if session.coverage:
        yield Finding(id="coverage", message=session.coverage)
    if session.crashed:
        message = fatal or "pytest ended here, before it could say how the tests went."
        yield Finding(id=steady(session.running) or "crash", message=message)
    elif session.stopped and not (named or session.blocks or session.internal):
        yield Finding(id=steady(session.stopped), message=session.stopped)


def _by_place(blocks: list[Block]) -> dict[tuple[str, str], tuple[Block, int | None]]:
    """Blocks and lines by test and file; by the test alone, too, where a block names no file of ours."""
    known: dict[tuple[str, str], tuple[Block, int | None]] = {}
    for block in blocks:
        for file, line in block.places:
            known.setdefault((block.name, file), (block, line))
        known.setdefault((block.name, ""), (block, None))
    return known


def _explained(complaint: Complaint, known: dict[tuple[str, str], tuple[Block, int | None]]) -> Finding:
    file, _, rest = complaint.test.partition("::")
    name = f"{rest.replace('::', '.') or file} {complaint.part}".rstrip()
    block, line = known.get((name, file)) or known.get((name, "")) or (Block(name=name), None)
    message = complaint.message
    if not message or message.endswith("..."):
        message = block.said or message
    return Finding(
        id=steady(f"{complaint.test} {complaint.part}"), message=gist(message), file=file, line=line
    )


def _from_block(block: Block) -> Finding:
    """Without a summary the first place named in the block is where the test stands."""
    file, line = block.places[0] if block.places else (None, None)
    bare = _BARE_NAME.match(block.name)
    test = bare[0].replace(".", "::") + block.name[bare.end() :] if bare else block.name
    if file is None or block.name.endswith(".py"):
        return Finding(id=steady(block.name), message=gist(block.said), file=file, line=line)
    return Finding(id=steady(f"{file}::{test}"), message=gist(block.said), file=file, line=line)
