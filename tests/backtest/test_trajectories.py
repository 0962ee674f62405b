"""Reading files of recorded runs."""

import gzip
import json
from pathlib import Path

import pytest

from tests.backtest.helpers import record, run, steps, write
from untilgreen.backtest.trajectories import lines, parse
from untilgreen.errors import UserError


def test_a_gzipped_file_reads_like_a_plain_one_whatever_its_name(tmp_path: Path) -> None:
    plain = write(tmp_path / "runs.jsonl", record(steps=steps("ab")), record(name="two", steps=steps("c")))
    packed = tmp_path / "packed.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))

    read = [[(line.number, line.text) for line in lines(path)] for path in (plain, packed)]

    assert read[0] == read[1]
    assert [number for number, _ in read[0]] == [1, 2]


def test_how_much_is_read_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "runs.jsonl", *(record(name=str(number), steps=steps("a")) for number in range(3))
    )

    assert [line.read for line in lines(path)][-1] == path.stat().st_size


def test_empty_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n\n" + json.dumps(record(steps=[])) + "\n")

    assert [line.number for line in lines(path)] == [3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "line 7: Input data was truncated"),
        (b'{"source": "s", "id": "i"}', "missing required field `steps`"),
        (b'{"source": "s", "id": "i", "steps": [{"action": 3, "observation": ""}]}', "$.steps[0].action"),
        (b'{"source": "\xff", "id": "i", "steps": []}', "line 7: "),
    ],
)
def test_a_line_that_is_not_a_run_is_named_with_its_number(text: bytes, said: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, 7, "runs.jsonl")

    assert said in str(caught.value)
    assert str(caught.value).startswith("runs.jsonl, line 7: ")
    assert str(caught.value).endswith(
        '{"source": …, "id": …, "steps": [{"action": …, "observation": …}, …]}.'
    )


def test_a_file_that_is_missing_or_cut_off_is_a_clear_error(tmp_path: Path) -> None:
    packed = tmp_path / "runs.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(record(steps=steps("abc"))).encode())[:-12])

    for path in (tmp_path / "none.jsonl", packed):
        with pytest.raises(UserError, match=r"can't be read: .*\. Name a file of JSON lines, gzipped or not"):
            list(lines(path))


def test_attempts_are_stretches_of_steps_with_the_same_number() -> None:
    tried = record(steps=[*steps("ab", attempt=0), *steps("c", attempt=2), *steps("d", attempt=0)])

    assert parse(json.dumps(tried).encode(), 1, "").attempts == [(0, 0, 2), (2, 2, 3), (0, 3, 4)]
    assert run("ab").attempts == []
