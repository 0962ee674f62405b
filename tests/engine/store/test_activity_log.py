"""The activity log is read from any offset, in whole lines; damaged lines are skipped."""

from pathlib import Path

import pytest

from untilgreen.engine.store import activity_log
from untilgreen.engine.store.activity_log import ActivityLog
from untilgreen.ports import Activity, ShownActivity


def shown(text: str, lap: int = 1, attempt: int = 1) -> ShownActivity:
    return ShownActivity(at=1.0, lap=lap, attempt=attempt, activity=Activity(kind="text", text=text))


def texts(found: list[ShownActivity]) -> list[str]:
    return [each.activity.text for each in found]


def test_each_attempt_at_a_lap_has_its_own_file(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path)
    for each in (shown("a"), shown("b", attempt=2), shown("c", lap=2), shown("d")):
        log.add(each)

    assert texts(log.read(1, 1, 0)[0]) == ["a", "d"]
    assert texts(log.read(1, 2, 0)[0]) == ["b"]
    assert texts(log.read(2, 1, 0)[0]) == ["c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "001-2.shown.jsonl",
        "001.shown.jsonl",
        "002.shown.jsonl",
    ]


def test_a_reader_continues_where_it_stopped(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path)
    log.add(shown("a"))
    first, offset = log.read(1, 1, 0)
    log.add(shown("b"))

    second, end = log.read(1, 1, offset)

    assert (texts(first), texts(second)) == (["a"], ["b"])
    assert log.read(1, 1, end) == ([], end)


def test_half_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path)
    log.add(shown("a"))
    path = tmp_path / "001.shown.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])

    found, offset = log.read(1, 1, 0)
    path.write_bytes(whole + whole)

    assert (texts(found), offset) == (["a"], len(whole))
    assert texts(log.read(1, 1, offset)[0]) == ["a"]


def test_a_damaged_line_is_left_out(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path)
    (tmp_path / "001.shown.jsonl").write_text('{"at":\n')
    log.add(shown("b"))

    assert texts(log.read(1, 1, 0)[0]) == ["b"]
    assert log.last() == shown("b")


def test_what_is_too_much_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity_log, "LARGEST", 200)
    log = ActivityLog(tmp_path)
    for _ in range(10):
        log.add(shown("x" * 20))

    assert 0 < (tmp_path / "001.shown.jsonl").stat().st_size <= 200


def test_a_long_one_is_read_part_by_part_and_from_its_end(tmp_path: Path) -> None:
    log = ActivityLog(tmp_path)
    for number in range(40):
        log.add(shown(f"{number:02d}" + "x" * 50_000))

    first, offset = log.read(1, 1, 0)
    rest, end = log.read(1, 1, offset)
    tail, also = log.read(1, 1, -120_000)

    assert 15 < len(first) < 25
    assert texts(first + rest) == [f"{number:02d}" + "x" * 50_000 for number in range(len(first) + len(rest))]
    assert [text[:2] for text in texts(tail)] == ["38", "39"]
    assert texts(log.read(1, 1, -(10**9))[0]) == texts(first)
    assert also == log.read(1, 1, end)[1]
