"""When to try again, read from the messages of providers."""

from datetime import UTC, datetime

import pytest

from untilgreen.agents.kit.retry_times import retry_at

NOW = datetime(2026, 11, 16, 14, 30, tzinfo=UTC).timestamp()


def utc(day: int, hour: int, minute: int = 0, month: int = 11) -> float:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("retry-after: 30", 30),
        ("Retry-After=1.5", 1.5),
        ('{"retryDelay": "37s"}', 37),
        ("Please try again in 20s.", 20),
        ("Please try again in 850ms.", 0.85),
        ("Rate limit reached. Please try again in 1m26.4s", 86.4),
        ("Try again in 3 hours 20 minutes.", 12_000),
        ("try again in 1 day, 2 hours and 3 minutes", 93_780),
        ("Your quota will reset after 18h25m16s.", 66_316),
        ('{"resets_in_seconds": 600}', 600),
        (f"usage limit reached|{int(NOW) + 90}", 90),
        (f'"resetsAt": {int(NOW) + 90}', 90),
        (f'"resets_at":{(int(NOW) + 90) * 1000}', 90),
        ("resets at 2026-11-16T15:30:00Z", 3_600),
    ],
)
def test_a_span_or_a_stamp_is_counted_from_now(words: str, seconds: float) -> None:
    moment = retry_at(words, NOW)

    assert moment is not None
    assert moment - NOW == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("resets 7pm (UTC)", utc(16, 19)),
        ("Your limit will reset at 7pm UTC", utc(16, 19)),
        ("resets at 9:15am UTC", utc(17, 9, 15)),
        ("resets at 12am UTC", utc(17, 0)),
        ("available again at 15:45 UTC", utc(16, 15, 45)),
        ("try again at Nov 20th, 2026 3:45 PM UTC", utc(20, 15, 45)),
        ("resets Dec 1, 8am (UTC)", utc(1, 8, month=12)),
    ],
)
def test_a_time_of_day_is_the_next_one(words: str, moment: float) -> None:
    assert retry_at(words, NOW) == moment


def test_without_a_zone_it_is_the_time_here() -> None:
    here = (
        datetime.fromtimestamp(NOW, tz=UTC).astimezone().replace(hour=23, minute=59, second=0, microsecond=0)
    )

    assert retry_at("resets at 11:59pm", NOW) == here.timestamp()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "try again later",
        "resets 5",
        "resets at 31:99pm",
        "resets Feb 31, 8am",
        "resets at 2026-13-45T99:00:00Z",
        "resets at 1999999999",
        "used 3 hours of 5",
    ],
)
def test_words_without_a_time_give_none(words: str) -> None:
    assert retry_at(words, NOW) is None
