"""What is kept of an output: on disk, in memory, and line by line."""

import re
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from untilgreen.core.values.secrets import Secrets
from untilgreen.process.capture import CappedFile, HeadAndTail, Lines, Output

chunks = st.lists(st.binary(max_size=40), max_size=12)
reused = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def keep(path: Path, pieces: list[bytes], cap: int) -> bytes:
    kept = CappedFile(path, cap)
    for piece in pieces:
        kept.take(piece)
    kept.close()
    return path.read_bytes()


def shortened(whole: bytes, cap: int) -> bytes:
    """The part of an output that a cap keeps."""
    if len(whole) <= cap:
        return whole
    head, tail = cap // 2, cap - cap // 2
    note = f"\n[… {len(whole) - cap:,} bytes left out …]\n".encode()
    return whole[:head] + note + whole[len(whole) - tail :]


@given(pieces=chunks, cap=st.integers(2, 120))
@example(pieces=[b"x" * 9], cap=10)
@example(pieces=[b"x" * 10], cap=10)
@example(pieces=[b"abcdefghij"] * 3, cap=10)
@reused
def test_a_file_keeps_head_and_tail_however_the_output_arrives(
    pieces: list[bytes], cap: int, tmp_path: Path
) -> None:
    assert keep(tmp_path / "kept", [b"x", *pieces], cap) == shortened(b"".join([b"x", *pieces]), cap)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_an_output_that_says_nothing_has_no_file_and_leaves_none_of_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("what the command printed the last time")

    with Output(tmp_path / "kept", None, 100, Secrets({})) as output:
        output.take(b"")

    assert list(tmp_path.iterdir()) == []


def test_a_file_is_private_and_starts_empty(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "kept"

    keep(path, [b"first"], 100)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keep(path, [b"2"], 100) == b"2"


def test_a_file_can_be_followed_while_it_grows(tmp_path: Path) -> None:
    kept = CappedFile(tmp_path / "kept")

    kept.take(b"so far")

    assert (tmp_path / "kept").read_bytes() == b"so far"
    kept.close()


@given(pieces=chunks, cap=st.integers(2, 120))
def test_memory_holds_head_and_tail_however_the_output_arrives(pieces: list[bytes], cap: int) -> None:
    ends = HeadAndTail(cap)
    for piece in pieces:
        ends.take(piece)

    whole = b"".join(pieces)
    if len(whole) <= cap:
        assert ends.text() == whole.decode(errors="replace")
    else:
        head, tail = whole[: cap // 2], whole[len(whole) - (cap - cap // 2) :]
        note = f"\n[… {len(whole) - cap:,} bytes left out …]\n"
        assert ends.text() == head.decode(errors="replace") + note + tail.decode(errors="replace")


def heard(pieces: list[bytes], longest: int = 1_000) -> list[str]:
    lines: list[str] = []
    taker = Lines(lines.append, longest)
    for piece in pieces:
        taker.take(piece)
    taker.close()
    return lines


@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\xc3", b"\xa4", b"\xe2\x82\xac", b"\xff"])))
def test_lines_are_the_same_however_the_output_arrives(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    lines = [line.removesuffix(b"\r").decode(errors="replace") for line in whole.split(b"\n")]
    expected = lines[:-1] if whole.endswith(b"\n") or not whole else lines

    assert heard(pieces) == heard([whole]) == expected


@pytest.mark.parametrize(
    "pieces",
    [
        [b"12345678\nshort\n12345678"],
        [b"1234", b"5", b"678\nshort\n12345", b"678"],
        [b"12345678\n", b"short\n", b"12345678"],
    ],
)
def test_a_line_that_is_too_long_is_cut_and_says_so(pieces: list[bytes]) -> None:
    assert heard(pieces, longest=5) == [
        "12345 [… 3 bytes left out …]",
        "short",
        "12345 [… 3 bytes left out …]",
    ]


def test_all_three_take_the_same_output(tmp_path: Path) -> None:
    lines: list[str] = []
    with Output(tmp_path / "kept", lines.append, 100, Secrets({})) as output:
        output.take(b"one\ntwo")

    assert (tmp_path / "kept").read_bytes() == b"one\ntwo"
    assert (output.ends.text(), lines) == ("one\ntwo", ["one", "two"])


def test_none_of_the_three_gets_a_secret_that_comes_in_two_pieces(tmp_path: Path) -> None:
    lines: list[str] = []
    secrets = Secrets({"API_TOKEN": "hunter2-hunter2"})
    with Output(tmp_path / "kept", lines.append, 100, secrets) as output:
        output.take(b"one hunter2-")
        output.take(b"hunter2 two")

    clean = "one [API_TOKEN redacted] two"
    assert (tmp_path / "kept").read_text() == clean
    assert (output.ends.text(), lines) == (clean, [clean])


def test_a_listener_that_failed_is_not_called_again_but_the_file_is_put_in_order(tmp_path: Path) -> None:
    calls: list[str] = []

    def fails(line: str) -> None:
        calls.append(line)
        raise LookupError(line)

    with (
        pytest.raises(LookupError, match=re.escape("one")),
        Output(tmp_path / "kept", fails, 100, Secrets({})) as output,
    ):
        output.take(b"one\ntwo")

    assert calls == ["one"]
    assert (tmp_path / "kept").read_bytes() == b"one\ntwo"
