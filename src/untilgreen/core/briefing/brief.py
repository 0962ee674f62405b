"""Everything the agent is told in a lap: the task, what still fails, hints and notes.

Instructions are never cut. What is quoted (outputs, findings) shares one budget; its head and tail are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from untilgreen.core.briefing.claims import tag
from untilgreen.core.briefing.excerpt import trim
from untilgreen.core.briefing.session_template import TEMPLATE, fill, with_head
from untilgreen.core.scoring.gate_health import failing_words
from untilgreen.core.scoring.measure import judged
from untilgreen.core.values.limits import money_left
from untilgreen.core.values.model import CLAIM_GATE, GateSpec, Permissions, Promise, Usage, Verdict
from untilgreen.core.values.state import Lap, RunState
from untilgreen.core.values.units import several
from untilgreen.regex import regex

QUOTE_BUDGET = 16_000
"""Characters of quoted output and findings in one brief."""
MOST_FINDINGS = 25
LONGEST_MESSAGE = 300
MOST_CHANGES = 20

# Alone on a line the promise is always a claim, so a brief that an agent may quote never shows it alone.
_TAG = regex(r"<promise>\s*([^\n]*?)\s*</promise>", re.IGNORECASE)
_LONE_TAG = regex(
    r"^((?:(?!\n)[\W_])*)(<promise>[^\n]*</promise>)(?=(?:(?!\n)[\W_])*$)", re.IGNORECASE | re.MULTILINE
)
_WITHOUT_GATES = "Only you judge this work: the loop ends when you say that the task is done."
_RULES = (
    "When your turn ends, the gates run where you can't change them; only they decide whether it is done.\n"
    "Do not weaken, skip or remove tests or checks to make them pass: the originals are run as well."
)
_TURN_FAILED = {
    "crash": "Your last turn ended with an error before it was finished",
    "timeout": "Your last turn ran out of time; work in smaller steps",
    "stalled": "Your last turn went silent and was ended",
    "interrupted": "Your last turn was interrupted; check what is already there before you continue",
    "permission": "Your last turn tried something that is not permitted",
    "question": "You asked a question, but nobody is here to answer it; decide yourself and continue",
}


class Brief(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent gets for one lap."""

    lap: int
    text: str
    session: str | None = None
    """The conversation to continue, if the run keeps one."""
    budget: float | None = None
    """Dollars that are left, for agents that accept a budget."""
    commands: tuple[str, ...] = ()
    """The gates' commands, so that the agent can be allowed to run them too."""
    permissions: Permissions = "gates"
    counted: Usage = Usage()
    """What the conversation had used when its last turn ended, for agents that report totals."""


def compose(state: RunState) -> Brief:
    """The brief for the lap that is about to start; the same state gives the same brief."""
    lap = state.open
    number = lap.number if lap else len(state.laps) + 1
    keeps_session = state.plan.session == "continue" and not (lap and lap.fresh)
    session = state.sessions.get(state.agent) if keeps_session else None
    told = _in_session(state, number) if state.seat == "session" else _joined(_sections(state, number))
    text = _TAG.sub(r"<promise>\1</promise>", "\n".join(told.splitlines()))
    return Brief(
        lap=number,
        text=_LONE_TAG.sub(r"\1(quoted) \2", text),
        session=session,
        budget=money_left(state),
        commands=tuple(gate.shown_as for gate in state.plan.gates if gate.shown_as),
        permissions=state.plan.permissions,
        counted=state.counted.get(state.agent, Usage()) if session else Usage(),
    )


def _joined(sections: Iterable[str]) -> str:
    return "\n\n".join(section for section in sections if section)


def _in_session(state: RunState, number: int) -> str:
    """The brief for a live conversation, which knows what it did: the status, in the template's words."""
    last, promise, most = state.last, state.plan.promise, state.plan.most_laps
    failing = (_still_failing(state, last), _last_turn(state, last)) if last else ()
    values = {
        "ITERATION": str(number),
        "MAX": str(most or "unlimited"),
        "PROMISE": promise.text if promise else "",
        "PROMPT": state.plan.task.strip(),
        "STATUS": _status(state, last),
        "CLAIM": _how_to_claim(promise) if promise else "When it is fully complete, end your turn.",
        "FAILING": _joined(failing),
        "NOTES": _joined((_hint(state), _notes(state))),
        "RULES": _rules(state),
    }
    template = with_head(state.plan.template) if state.plan.template else TEMPLATE
    rejected = "" if "{{STATUS}}" in template else _rejected_claim(state, last)  # the agent is always told
    return _joined((fill(template, values), rejected))


def _status(state: RunState, last: Lap | None) -> str:
    """What the last lap led to, its claim first."""
    if last is None or last.number == 0:
        return "This is the first lap. Work on the task below."
    if told := _rejected_claim(state, last) or _only_the_claim_is_missing(state, last):
        return told
    if state.plan.promise is None:
        return "Your last attempt did not turn the gates green. Continue working on the task."
    return "Your last attempt did not give the completion promise. Continue working on the task."


def _sections(state: RunState, number: int) -> Iterator[str]:
    last = state.last
    yield _rejected_claim(state, last)
    yield f"# Task\n\n{state.plan.task.strip()}"
    if last is not None:
        yield _only_the_claim_is_missing(state, last)
        yield _still_failing(state, last)
        yield _last_turn(state, last)
    yield _hint(state)
    yield _notes(state)
    yield _how_it_works(state, number)


def _rejected_claim(state: RunState, last: Lap | None) -> str:
    if last is None or not last.claim or last.awaiting_claim:
        return ""
    ours = [gate.name for gate in state.plan.gates if gate.kind != CLAIM_GATE and gate.name in last.verdicts]
    red = [name for name in ours if last.verdicts[name].status in ("fail", "error")]
    are, they = ("is", "it is") if len(red) == 1 else ("are", "they are")
    return (
        f"Your claim was rejected: you said that the task is done, but {len(red)} of "
        f"{several(len(ours), 'gate')} {are} red: {', '.join(red)}. "
        f"Claim it again only when {they} green."
    )


def _only_the_claim_is_missing(state: RunState, last: Lap) -> str:
    if not last.awaiting_claim or state.plan.promise is None:
        return ""
    early = state.plan.promise.min - last.number
    if last.claim and early > 0:
        counts = last.number + early
        return f"# Everything is green\n\nYour claim came too early; it counts from lap {counts} on."
    if not judged(state.plan):
        return ""
    return (
        "# Everything is green\n\nAll gates pass. If the task is done, say so as shown below; "
        "if not, do what is left and say what it was."
    )


def _still_failing(state: RunState, last: Lap) -> str:
    red = [
        (gate, last.verdicts[gate.name])
        for gate in sorted(state.plan.gates, key=lambda gate: (not gate.required, gate.stage))
        if gate.kind != CLAIM_GATE and gate.name in last.verdicts
        if last.verdicts[gate.name].status in ("fail", "error")
    ]
    if not red:
        return ""
    before = state.before_last
    known = before.failing if before is not None else frozenset[str]()
    share = QUOTE_BUDGET // len(red)
    return "# What still fails\n\n" + "\n\n".join(_gate(gate, verdict, known, share) for gate, verdict in red)


def _gate(gate: GateSpec, verdict: Verdict, known: frozenset[str], budget: int) -> str:
    """New findings come first: the last turn caused them."""
    title = f"## {gate.name}: {failing_words(verdict)}" + ("" if gate.required else " (not required)")
    command = f"\n\nRun it with: `{gate.shown_as}`" if gate.shown_as else ""
    findings = sorted(verdict.findings, key=lambda finding: f"{gate.name}: {finding.id}" in known)
    lines = []
    for finding in findings[:MOST_FINDINGS]:
        fresh = known and f"{gate.name}: {finding.id}" not in known
        said = trim(finding.message.strip(), LONGEST_MESSAGE)
        lines.append(f"- {'(new) ' if fresh else ''}{finding.id}" + (f": {said}" if said else ""))
    hidden = verdict.count - len(lines) if findings else 0
    if hidden > 0:
        lines.append(f"- and {hidden} more")
    listed = trim("\n".join(lines), budget // 2)
    excerpt = trim(verdict.excerpt.strip(), budget - len(listed))
    quoted = f"\n\n{_fenced(excerpt)}" if excerpt else ""
    return title + command + (f"\n\n{listed}" if listed else "") + quoted


def _last_turn(state: RunState, last: Lap) -> str:
    if last.number == 0:
        return ""
    lines = []
    if last.reply.error in _TURN_FAILED:
        detail = trim(last.reply.detail.strip(), LONGEST_MESSAGE)
        lines.append(_TURN_FAILED[last.reply.error] + (f": {detail}" if detail else "") + ".")
    if last.reply.denied:
        lines.append(f"Not permitted: {', '.join(last.reply.denied[:MOST_FINDINGS])}. Work without it.")
    if last.changes:
        paths = [f"{change.status} {change.path}" for change in last.changes[:MOST_CHANGES]]
        more = len(last.changes) - len(paths)
        lines.append("It changed: " + ", ".join(paths) + (f" and {more} more" if more else "") + ".")
    elif not last.moved:
        lines.append("It changed no file.")
    before = state.before_last
    if before is not None and (fixed := before.failing - last.failing):
        lines.append(f"It fixed: {', '.join(sorted(fixed)[:MOST_FINDINGS])}.")
    return "# Your last turn\n\n" + "\n".join(lines) if lines else ""


def _hint(state: RunState) -> str:
    return f"# Hint\n\n{state.open.hint.strip()}" if state.open and state.open.hint else ""


def _notes(state: RunState) -> str:
    unread = state.notes[state.notes_told :]
    if not unread:
        return ""
    return "# From the person you work for\n\n" + "\n\n".join(note.text.strip() for note in unread)


def _how_it_works(state: RunState, number: int) -> str:
    most = state.plan.most_laps
    lines = [
        f"# How this works\n\nThis is lap {number}{f' of {most}' if most else ''}. {_rules(state)}",
    ]
    if state.plan.promise is not None:
        lines.append(_how_to_claim(state.plan.promise))
    return "\n".join(lines)


def _rules(state: RunState) -> str:
    return _RULES if judged(state.plan) else _WITHOUT_GATES


def _how_to_claim(promise: Promise) -> str:
    return (
        f"When the task is done and you have checked it, write {tag(promise)} "
        "on its own line at the end of your answer. Write it only then."
    )


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
