"""Durations, counts and money as people write them."""

import re
from math import inf, isfinite

from untilgreen.errors import ConfigError
from untilgreen.regex import regex

UNLIMITED = "unlimited"

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = regex(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_COUNT = regex(r"(\d+(?:\.\d+)?)\s*([kmg]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_MONEY = regex(r"\$?\s*(\d+(?:\.\d+)?)\s*(?:usd|\$)?", re.IGNORECASE)


def duration(value: float | str, key: str = "duration") -> float:
    """Seconds, from a number of them or from text such as `90s`, `30m` or `1h30m`."""
    if not isinstance(value, str):
        return _positive(_number(value, key), key, value)
    text = value.strip()
    parts = _DURATION.findall(text)
    if not parts or _DURATION.sub("", text).strip():
        raise ConfigError(
            f"{key} = {value!r} is not a valid duration. Write it like '90s', '30m', '4h' or '1h30m'."
        )
    return _positive(sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts), key, value)


def count(value: float | str, key: str = "count") -> int:
    """A whole number, from itself or from text such as `200k` or `2M`."""
    if not isinstance(value, str):
        return _whole(_number(value, key), key, value)
    match = _COUNT.fullmatch(value.strip())
    if not match:
        raise ConfigError(f"{key} = {value!r} is not a valid count. Write it like 20, '200k' or '2M'.")
    return _whole(float(match[1]) * _TIMES[match[2].lower()], key, value)


def money(value: float | str, key: str = "money") -> float:
    """US dollars, from a number of them or from text such as `$5` or `2.50usd`."""
    if not isinstance(value, str):
        return _positive(_number(value, key), key, value)
    match = _MONEY.fullmatch(value.strip())
    if not match:
        raise ConfigError(f"{key} = {value!r} is not a valid amount of money. Write it like '$5' or 2.50.")
    return _positive(float(match[1]), key, value)


def show_duration(seconds: float) -> str:
    """A duration as a person would write it, in its shortest form."""
    if seconds < 60:
        return f"{seconds:.0f}s" if seconds >= 10 or seconds == int(seconds) else f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"
    return f"{minutes}m{rest:02d}s" if rest else f"{minutes}m"


def show_score(score: float) -> str:
    """A score with two digits; only a full score is shown as 1.00."""
    return "0.99" if 0.995 <= score < 1 else f"{score:.2f}"


def all_used(number: int, what: str) -> str:
    """Says that none are left: "all 3 laps are used", "the only lap is used"."""
    return f"the only {what} is used" if number == 1 else f"all {number} {what}s are used"


def several(count: int, what: str, plural: str = "") -> str:
    """A number of things, in the singular or plural."""
    return f"{count:,} {what if count == 1 else plural or what + 's'}"


def _number(value: float, key: str) -> float:
    """A plain number; infinity has its own word."""
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ConfigError(f"{key} = {value!r} is not a number. For no limit, write {UNLIMITED!r}.")
    return number


def _whole(number: float, key: str, written: object) -> int:
    whole = round(_positive(number, key, written))
    if whole < 1 or abs(whole - number) > 1e-6:
        raise ConfigError(f"{key} = {written!r} must be a whole number.")
    return whole


def _positive(number: float, key: str, written: object) -> float:
    if not 0 < number < inf:
        raise ConfigError(f"{key} = {written!r} must be above zero. For no limit, write {UNLIMITED!r}.")
    return number
