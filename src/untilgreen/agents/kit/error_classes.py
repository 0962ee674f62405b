"""Classifies failures by the words and status codes of agents and providers; the patterns are data.

Only what an agent reports as an error is searched, never what a model says about the work.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from untilgreen.core.values.model import ErrorClass
from untilgreen.regex import regex


class Cause(NamedTuple):
    """One class of failure, and how it is recognized."""

    error: ErrorClass
    statuses: frozenset[int]
    words: re.Pattern[str]


def _cause(error: ErrorClass, statuses: tuple[int, ...], *words: str) -> Cause:
    return Cause(error, frozenset(statuses), regex("|".join(words), re.IGNORECASE))


CAUSES = (
    _cause(
        "quota",
        (402,),
        r"insufficient[_ ]quota",
        r"exceeded your current quota",
        r"(usage|session|weekly|daily|monthly|5-hour|spending|spend|opus) limit",
        r"usage_limit",
        r"hit your( \w+)? limit",
        r"credit balance is too low",
        r"(out of|insufficient|not enough|no) (credits?|funds|balance)",
        r"billing[_ ](hard[_ ]limit|error)",
        r"quota (will|has been|is) (reset|exceeded|exhausted|reached)",
        r"premium requests? (limit|allowance)",
        r"payment required",
    ),
    _cause(
        "auth",
        (401, 403),
        r"\b40[13]\b.{0,20}(unauthori[sz]ed|forbidden)",
        r"(unauthori[sz]ed|forbidden)\b.{0,20}\b40[13]\b",
        r"(invalid|incorrect|missing|no|bad|expired|revoked)( \w+)?[ _-](x-)?api[ _-]?key",
        r"api[ _-]?key.{0,20}(not valid|not found|invalid|missing|expired|required)",
        r"authentication[_ ](error|failed|required)|failed to authenticate|not authenticated|unauthenticated",
        r"not able to authenticate",
        r"not (currently )?(logged|signed) in|(please )?(run|use)\W+[\w ]*/?login\b",
        r"log(ged)? ?in (again|required)",
        r"(oauth|access|refresh) token (has )?(expired|been revoked|is invalid)",
        r"set an auth method|no auth(entication)? (type|method) is selected",
    ),
    _cause(
        "rate_limited",
        (429, 503, 529),
        r"rate[ _-]?limit",
        r"too many requests",
        r"overloaded|over capacity|at capacity|high demand|model is busy|service unavailable",
        r"resource[_ ](has been )?exhausted",
    ),
    _cause(
        "network",
        (408, 500, 502, 504, 520, 521, 522, 523, 524),
        r"ECONN(REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE",
        r"connection (error|refused|reset|closed|aborted|lost|timed out|dropped)",
        r"(can ?not|unable to|could not|failed to) connect|connection was closed",
        r"stream (disconnected|closed|ended|error)|incomplete (chunked )?read",
        r"error: terminated|error (decoding|reading)[\w ]{0,20} body",
        r"(fetch|network|request|dns) (failed|error|timed out|timeout)|socket hang up|other side closed",
        r"error sending request|premature(ly)? close|peer closed|server disconnected|mid-response",
        r"internal server error|bad gateway|gateway timeout|server[_ ]error|api_error\b",
    ),
)


_END = 4_000
_STATUS = regex(r"(?:status|error|http|code)\W{0,4}(?:code\W{0,3})?([45]\d\d)\b", re.IGNORECASE)


def ends_of(words: str) -> str:
    """The beginning and end of a long message, where its cause is named.

    Messages can have any length, and searching takes more than linear time.
    """
    return words if len(words) <= 2 * _END else f"{words[:_END]}\n{words[-_END:]}"


def status_in(words: str) -> int | None:
    """The status of a provider's answer, if the message names one."""
    found = _STATUS.search(ends_of(words))
    return int(found[1]) if found else None


def cause_of(words: str, status: int | None = None) -> ErrorClass | None:
    """The class of a failure that passes or that a person must fix; None for any other.

    The status decides, except for those that mean both "wait" and "pay".
    """
    quota, words = CAUSES[0], ends_of(words)
    if status is not None:
        if status in (403, 429) and quota.words.search(words):
            return quota.error
        known = next((each.error for each in CAUSES if status in each.statuses), None)
        if known is not None:
            return known
        if 400 <= status < 500:
            return None
    return next((each.error for each in CAUSES if each.words.search(words)), None)
