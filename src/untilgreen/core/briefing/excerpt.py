"""What an event keeps of long texts: head and tail, and a digest to compare the whole."""

from __future__ import annotations

from msgspec import json
from msgspec.structs import replace

from untilgreen.core.values.fingerprint import fingerprint, output_fingerprint, sketch
from untilgreen.core.values.model import Finding, Reply, Verdict

REPLY_BYTES = 24_000
DETAIL_BYTES = 4_000
FINDINGS_BYTES = 32_000
MESSAGE_BYTES = 1_000
EXCERPT_BYTES = 12_000
MOST_DENIALS = 50
MOST_TOOLS = 20
_LONGEST_ESCAPE = 6
DENIAL_BYTES = 200


def trim(text: str, budget: int) -> str:
    """Head and tail of a text that is too long, and how much was left out between them."""
    if len(text) <= budget:
        return text
    head = max(budget, 0) // 3
    rest = len(text) - (max(budget, 0) - head)
    return f"{text[:head]}\n[… {rest - head:,} characters left out …]\n{text[rest:]}"


def without_surrogates(text: str) -> str:
    """The text without lone surrogates, which file names and outputs can have and JSON can't."""
    return text.encode("utf-8", "replace").decode()


def fit(text: str, budget: int) -> str:
    """The text without lone surrogates, trimmed to at most `budget` bytes of JSON, escapes included."""
    text = kept = without_surrogates(text)
    length = len(text)
    if length * _LONGEST_ESCAPE + 2 <= budget:
        return kept
    while len(json.encode(kept)) > budget:
        length = min(length, budget) * 3 // 4
        kept = trim(text, length)
    return kept


def kept_reply(reply: Reply) -> Reply:
    """A reply that fits an event and can still be compared as a whole."""
    return replace(
        reply,
        text=fit(reply.text, REPLY_BYTES),
        detail=fit(reply.detail, DETAIL_BYTES),
        denied=tuple(fit(name, DENIAL_BYTES) for name in reply.denied[:MOST_DENIALS]),
        size=len(reply.text),
        digest=fingerprint(reply.text),
        sketch=sketch(reply.text),
    )


def kept_verdict(verdict: Verdict) -> Verdict:
    """A verdict that fits an event; findings that don't are counted, and the digest stands for all."""
    kept: list[Finding] = []
    room = FINDINGS_BYTES
    for finding in verdict.findings:
        short = replace(
            finding,
            id=fit(finding.id, MESSAGE_BYTES),
            message=fit(finding.message, MESSAGE_BYTES),
            file=None if finding.file is None else fit(finding.file, MESSAGE_BYTES),
        )
        room -= len(json.encode(short))
        if room < 0:
            break
        kept.append(short)
    said = "\n".join(sorted(finding.id for finding in verdict.findings)) or verdict.excerpt
    bare = verdict.status in ("fail", "error") and not verdict.findings
    return replace(
        verdict,
        findings=tuple(kept),
        tools=tuple(replace(each, tool=fit(each.tool, DENIAL_BYTES)) for each in verdict.tools[:MOST_TOOLS]),
        more=verdict.more + len(verdict.findings) - len(kept),
        digest=verdict.digest or (fingerprint(said) if verdict.findings else output_fingerprint(said)),
        sketch=sketch(verdict.excerpt) if bare else (),
        excerpt=fit(verdict.excerpt, EXCERPT_BYTES),
    )
