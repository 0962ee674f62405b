"""Durations, counts and money as people write them."""

import re
from math import inf, isfinite

from untilgreen.errors import ConfigError

UNLIMITED = "unlimited"

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)", re.IGNORECASE)
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_MONEY = re.compile(r"\$?\s*(\d+(?:\.\d+)?)\s*(?:usd|\$)?", re.IGNORECASE)


def duration(value: float | str, key: str = "duration") -> float:
    """Seconds, from a number of them or from text such as `90s`, `30m` or `1h30m`."""
    if not isinstance(value, str):
        return _positive(_number(value, key), key, value)
    text = value.strip()
    parts = _DURATION.findall(text)
    if not parts or _DURATION.sub("", text).strip():
        raise ConfigError(f"{key} = {value!r} is no duration. Write it like '90s', '30m', '4h' or '1h30m'.")
    return _positive(sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts), key, value)


def count(value: float | str, key: str = "count") -> int:
    """A whole number, from itself or from text such as `200k` or `2M`."""
    if not isinstance(value, str):
        return _whole(_number(value, key), key, value)
    match = _COUNT.fullmatch(value.strip())
    if not match:
        raise ConfigError(f"{key} = {value!r} is no count. Write it like 20, '200k' or '2M'.")
    return _whole(float(match[1]) * _TIMES[match[2].lower()], key, value)


def money(value: float | str, key: str = "money") -> float:
    """US dollars, from a number of them or from text such as `$5` or `2.50usd`."""
    if not isinstance(value, str):
        return _positive(_number(value, key), key, value)
    match = _MONEY.fullmatch(value.strip())
    if not match:
        raise ConfigError(f"{key} = {value!r} is no amount of money. Write it like '$5' or 2.50.")
    return _positive(float(match[1]), key, value)


def show_duration(seconds: float) -> str:
    """The shortest way a person would write this many seconds."""
    if seconds < 60:
        return f"{seconds:.0f}s" if seconds >= 10 or seconds == int(seconds) else f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"
    return f"{minutes}m{rest:02d}s" if rest else f"{minutes}m"


def several(count: int, what: str) -> str:
    """A number of things, as a person would say it."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _number(value: float, key: str) -> float:
    """A plain number; infinity and its like have a word of their own."""
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ConfigError(f"{key} = {value!r} is no number. For no ceiling at all write {UNLIMITED!r}.")
    return number


def _whole(number: float, key: str, written: object) -> int:
    whole = round(_positive(number, key, written))
    if whole < 1 or abs(whole - number) > 1e-6:
        raise ConfigError(f"{key} = {written!r} must be a whole number.")
    return whole


def _positive(number: float, key: str, written: object) -> float:
    if not 0 < number < inf:
        raise ConfigError(
            f"{key} = {written!r} must be above zero. For no ceiling at all write the word {UNLIMITED!r}."
        )
    return number
