"""The gate's verdict: on the clean room first, then on the original files, joined into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from anyio import current_time
from msgspec.structs import replace

from untilgreen.core.values.model import Finding, Verdict
from untilgreen.gates.integrity.gate import IntegrityGate
from untilgreen.gates.integrity.protected.protection import Protection
from untilgreen.gates.integrity.trial_rooms.trials import Trials, passed, repeatable
from untilgreen.ports import CheckContext

if TYPE_CHECKING:  # imported by the first green lap, as only green laps need it
    from untilgreen.gates.integrity.tampering import Tampering

NO_ORIGINAL = "no-original"


async def judged(gate: IntegrityGate, context: CheckContext) -> Verdict:
    """The verdict on a lap, or before the first one on whether the gates work in a clean room."""
    if context.lap == 0:
        return await _before_the_first_lap(gate, context)
    original = context.base or await gate.trees.first()
    if not original:
        message = "The untouched tree is unknown, so there is nothing to compare with."
        return Verdict(status="error", findings=(Finding(id=NO_ORIGINAL, message=message),))
    if context.output is not None:
        context.output.unlink(missing_ok=True)
    return _accepted(gate, await _judge(gate, await _trials(gate, context), original))


async def _before_the_first_lap(gate: IntegrityGate, context: CheckContext) -> Verdict:
    """Nothing can be weakened yet; but can the gates work in a clean room at all?"""
    if not gate.clean_room or all(each.status == "pass" for each in context.baseline.values()):
        return passed("The untouched tree is the original.")
    from untilgreen.gates.integrity.early_trial import EarlyTrial  # noqa: PLC0415 - used once in a run

    trial = EarlyTrial(trials=await _trials(gate, context), snapshot=context.snapshot)
    return _accepted(gate, await trial.verdict())


async def _trials(gate: IntegrityGate, context: CheckContext) -> Trials:
    specs = [spec for spec in repeatable(gate.gates) if context.claim or spec.when != "claimed"]
    below = await _below(gate, context)
    contained = context.sandbox is not None and bool(context.sandbox.engine)
    # The engine's own process makes a container, and does not see a room at the workspace's path.
    rooms = replace(gate.rooms(), at_home=False) if contained else gate.rooms()
    return Trials(
        rooms=rooms,
        specs=specs,
        make=gate.make,
        context=context,
        below=below,
        lets_through=_protection(gate, context, below).lets_through,
    )


def _accepted(gate: IntegrityGate, verdict: Verdict) -> Verdict:
    return _warned(verdict) if verdict.status == "error" and gate.unproven == "accept" else verdict


async def _judge(gate: IntegrityGate, trials: Trials, original: str) -> Verdict:
    """Judge the tree as it is in a clean room; then with the originals, if something protected changed."""
    from untilgreen.gates.integrity.canary import Canary  # noqa: PLC0415 - as above
    from untilgreen.gates.integrity.clean_room import CleanRoom  # noqa: PLC0415 - as above
    from untilgreen.gates.integrity.comparison import Comparison  # noqa: PLC0415 - as above
    from untilgreen.gates.integrity.early_trial import CHEAP_SECONDS  # noqa: PLC0415 - as above
    from untilgreen.gates.integrity.tampering import Tampering, caches_among  # noqa: PLC0415 - as above

    if gate.originals:
        found = await _tampering(gate, trials)
    else:
        changes = await gate.trees.changes(original, trials.context.snapshot)
        found = Tampering(original=original, changes=changes, caches=caches_among(changes, gate.keep))
    clean, quick = passed(""), False
    if gate.clean_room:
        began = current_time()
        room = CleanRoom(
            trials=trials,
            original=original,
            changes=found.changes,
            caches=found.caches,
            setup=gate.setup,
            watched=found.known if gate.originals else None,
            same_tests=gate.originals and not (found or found.accepted),
        )
        clean = await room.verdict()
        quick = current_time() - began < CHEAP_SECONDS
    if clean.status == "fail" or not gate.originals:
        return clean
    comparison = Comparison(trials=trials, found=found, clean=gate.clean_room)
    if clean.status == "error":
        explained = await comparison.explained() if found else ()
        return msgspec.structs.replace(clean, findings=(*clean.findings, *explained))
    compared = passed("No protected file differs from its original.")
    if found:
        compared = await comparison.verdict()
    if compared.status == "pass":
        canary = Canary(trials=trials, found=found, contents=comparison.put_back(()), quick=quick)
        compared = await canary.verdict() or compared
    return _joined(clean, compared)


async def _tampering(gate: IntegrityGate, trials: Trials) -> Tampering:
    from untilgreen.gates.integrity.tampering import find_tampering  # noqa: PLC0415 - as above

    protection = _protection(gate, trials.context, trials.below)
    return await find_tampering(gate.trees, trials.context, protection, trials.specs, gate.keep)


def _protection(gate: IntegrityGate, context: CheckContext, below: str) -> Protection:
    return Protection(
        protect=gate.protect,
        allow=gate.allow,
        allowed=context.allowed,
        editable=gate.editable,
        below=below,
    )


async def _below(gate: IntegrityGate, context: CheckContext) -> str:
    top = await gate.trees.top()
    below = context.root.resolve().relative_to(top.resolve()).as_posix()
    return "" if below == "." else f"{below}/"


def _joined(clean: Verdict, compared: Verdict) -> Verdict:
    """One verdict from two; if the originals fail, theirs alone."""
    if compared.status != "pass":
        return compared
    words = f"{compared.excerpt} {clean.excerpt}".strip()
    return msgspec.structs.replace(compared, excerpt=words, flaky=clean.flaky or compared.flaky)


def _warned(verdict: Verdict) -> Verdict:
    """Turn an error into a pass, as the spec asks; it still says what was not proven."""
    why = " ".join(finding.message for finding in verdict.findings)
    return passed(f"Not proven: {why}")
