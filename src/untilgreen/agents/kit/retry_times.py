"""Reads from an error message when to try again: "retry-after: 30", "in 1h 20m", "at 7pm", or an epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from untilgreen.agents.kit.error_classes import ends_of
from untilgreen.regex import regex

MOST_SECONDS = 366 * 86_400
"""No provider asks for a longer wait; a larger number means something else."""
_SLACK = 60.0
"""A reset time that passed this recently counts as now."""

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_ONE = r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|[dhms])(?![a-z])"
_AMOUNT = regex(_ONE, re.IGNORECASE)
_SPAN = regex(
    r"(?:try again|retry|retrying|resets?|available|wait)(?: again)?(?: in| after| for)?:? (?:about )?"
    rf"((?:{_ONE}(?:,? and |, ?| )?)+)",
    re.IGNORECASE,
)
_HEADER = regex(
    r"(?:retry[-_ ]?after|retry_?delay|resets?_in(?:_seconds)?)"
    r"[\"']?\s{0,9}[:=]?\s{0,9}[\"']?(\d+(?:\.\d+)?)(ms)?",
    re.IGNORECASE,
)
_EPOCH = regex(
    r"(?:resets?\w*|until|after|\bat|\|)[\"']?\s{0,9}[:=|]?\s{0,9}[\"']?(1\d{9})(\d{3})?\b", re.IGNORECASE
)
_STAMP = regex(r"\b(20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)")
_CLOCK = regex(
    r"(?:resets?|try again|available|until)(?: again)?(?: at| on)? "
    r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?,? "
    r"(?:(?P<year>20\d\d),? )?(?:at )?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s*(?P<half>[ap]\.?m)?(?![\w:])\s*(?P<zone>\(?(?:UTC|GMT)\)?)?",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def retry_at(words: str, now: float) -> float | None:
    """When to try again, if the message says so; local time if it names no zone."""
    words = ends_of(words)
    for reading in (_stamped, _spanned, _shown_by_a_clock):
        moment = reading(words, now)
        if moment is not None and now - _SLACK <= moment <= now + MOST_SECONDS:
            return max(moment, now)
    return None


def _stamped(words: str, now: float) -> float | None:
    if found := _EPOCH.search(words):
        return float(found[1]) + float(found[2] or 0) / 1000
    if found := _STAMP.search(words):
        try:
            return datetime.fromisoformat(found[1]).timestamp()
        except ValueError:
            return None
    return None


def _spanned(words: str, now: float) -> float | None:
    if found := _SPAN.search(words):
        return now + sum(_seconds(amount, unit.lower()) for amount, unit in _AMOUNT.findall(found[1]))
    if found := _HEADER.search(words):
        return now + float(found[1]) / (1000 if found[2] else 1)
    return None


def _seconds(amount: str, unit: str) -> float:
    return float(amount) / 1000 if unit.startswith(("ms", "milli")) else float(amount) * _UNITS[unit[0]]


def _shown_by_a_clock(words: str, now: float) -> float | None:
    """The next moment with the clock time, or the date and time, that the message names."""
    found = _CLOCK.search(words)
    if found is None or not (found["minute"] or found["half"]):
        return None
    zone: tzinfo | None = UTC if found["zone"] else None
    here = datetime.fromtimestamp(now, tz=UTC).astimezone(zone)
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    try:
        moment = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if found["month"]:
            month = _MONTHS.index(found["month"].lower()) + 1
            return moment.replace(
                year=int(found["year"] or here.year), month=month, day=int(found["day"])
            ).timestamp()
    except ValueError:
        return None
    return (moment if moment > here else moment + timedelta(days=1)).timestamp()
