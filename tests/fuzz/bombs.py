"""Inputs that are made to be expensive: nesting, repetition, and text for which patterns backtrack."""

from __future__ import annotations

from collections.abc import Iterator

PIECES = (
    "a",
    " ",
    "\t",
    "0",
    "9.",
    "=",
    "-",
    "_",
    ".",
    ":",
    "/",
    "\\",
    '"',
    "'",
    "`",
    "(",
    "[",
    "{",
    "<",
    "\x1b[",
    "\x1b]",
    "\r",
    "\u202e",
    "é",
    "a ",
    "a:",
    "a.",
    "a::",
    "a/",
    "1:",
    "1 ",
    "1.",
    "=-",
    "::[",
    "- ",
    " - ",
    "> ",
    "\\x",
    '\\"',
    '{"a":',
    '{"a":[',
    "[{",
    "<a>",
    "&a;",
    "a=",
    "--a ",
    "E   ",
    "FAILED ",
    "error: ",
    "at a (",
    "1 failed, ",
    "##",
    "[a](",
    "retry in 1",
    "1h",
    "1 day ",
    "resets at ",
    "status ",
    "${A",
    "%61",
    "QUJD",
    "sk-",
    "test a ... ",
    "ok 1 - ",
    "'a'.",
    "a.a=",
    "--- FAIL: ",
    "=== RUN ",
    "[ERROR] ",
    "src/a.c:1:1: ",
    "Caused by: ",
    "  File ",
    "#[cfg(test)]\nmod a {",
    "/*",
    "//",
)
WORDS = (
    "{}\n",
    "x{}y",
    "FAILED {}",
    "{}::{}",
    "error: {}",
    '{{"type":"{}"}}',
    "test {} ... FAILED",
    "Found {} errors",
    "Tests: {} failed",
    "a.py:1: {}",
    "== {} ==",
    "# {}",
    "at {} (a.js:1:1)",
    "<testcase name='{}'/>",
    "[tool.{}]\na = 1",
)


def bombs(size: int) -> Iterator[bytes]:
    """All bombs, each about this many bytes long."""
    for piece in PIECES:
        many = piece * (size // len(piece.encode()))
        yield many.encode()
        yield (many + "!").encode()
        yield (piece * 40 + "\n").encode() * (size // (40 * len(piece.encode())))
    for word in WORDS:
        for filling in ("a", " ", "a ", "0", "(", ".", ":"):
            yield word.replace("{}", filling * (size // 4)).encode()
            yield ((word + "\n").replace("{}", filling * 900) * (size // 1000)).encode()
    yield b"\xff\xfe\x00" * (size // 3)
    yield b"\xed\xa0\x80" * (size // 3)
