"""Payloads from agents can be read whatever bytes they contain."""

import pytest

from untilgreen.surfaces.hook.payload import read

SAID = b'{"session_id": "s-1", "last_assistant_message": "caf%s"}'


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (SAID % "é".encode(), "café"),
        (b"\r\n" + SAID.replace(b", ", b",\r\n") % b"e" + b"\r\n", "cafe"),
        (b"\xef\xbb\xbf" + SAID % b"e", "cafe"),
        (SAID % b"\xe9", "caf\ufffd"),
    ],
)
def test_a_payload_is_understood_with_line_ends_marks_and_bytes_that_are_not_text(
    data: bytes, text: str
) -> None:
    assert (read(data).session, read(data).text) == ("s-1", text)


@pytest.mark.parametrize("data", [b"", b"\r\n", b"[]", b"null", b"{", b"\xff", b"[" * 100_000])
def test_an_invalid_payload_is_read_as_an_empty_one(data: bytes) -> None:
    assert read(data) == read(b"{}")
