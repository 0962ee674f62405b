"""Original tests with wrong values in place of the ones they compare with: none of them may be equal.

A product that computes its results differs from a wrong value. One that equals everything, reads the tests to
return what they expect, or disarmed the assertion does not; the test then reports `EQUAL`.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from untilgreen.regex import regex

EQUAL = "untilgreen-equal"
_FAR = 7919
"""Added to numbers: far enough that no other result of a test is hit by chance."""
_LITERAL = regex(
    r"(?P<sign>-?)(?P<number>\d{1,12})(?P<rest>\.\d{1,12})?|(?P<quote>[\"'])[^\"'\\\n$@{}]*(?P=quote)"
)
_CALLS = {
    "script": regex(r"\bassert\.(?:deep)?(?:equal|strictEqual|Equal|StrictEqual)\(|\bexpect\("),
    "perl": regex(r"(?<![\w$@%&>:])is\("),
    "rust": regex(r"\bassert_eq!\("),
}
_MATCHER = regex(r"\.(?:toBe|toEqual|toStrictEqual|to\.equal|to\.eql|to\.deep\.equal)\(")
_SCRIPT_HELPER = """
function untilgreenDiffers(act) {
  try { act() } catch { return }
  throw new Error('untilgreen-' + 'equal')
}
"""
_OPEN, _CLOSE = "([{", ")]}"
Turning: TypeAlias = Callable[[str], str]


class Edit(NamedTuple):
    """A replacement for the text between two places."""

    start: int
    end: int
    text: str


def with_wrong_values(path: str, text: str) -> str:
    """The text of a test file, made to fail where something equals a wrong value; empty if it can't be."""
    turn = _LANGUAGES.get(posixpath.splitext(path)[1])
    return turn(text) if turn is not None else ""


def _python(text: str) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    lines = text.encode(errors="surrogateescape").splitlines(keepends=True)
    turned = False
    # From the end, so that the places of earlier statements stay the same.
    for statement in sorted(_comparisons(tree), key=lambda each: -each.lineno):
        literal = compared(statement)
        first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
        before = lines[first][: statement.col_offset]
        if literal is None or before.strip() or lines[last][statement.end_col_offset :].strip():
            continue
        lines[first : last + 1] = _expected_to_fail(lines[first : last + 1], before, literal, first)
        turned = True
    return b"".join(lines).decode(errors="surrogateescape") if turned else ""


def _comparisons(tree: ast.AST) -> Iterator[ast.Assert | ast.Expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert | ast.Expr):
            yield node


def compared(statement: ast.Assert | ast.Expr) -> ast.Constant | None:
    """The number or text that a statement compares something with."""
    if isinstance(statement, ast.Assert):
        test = statement.test
        if not isinstance(test, ast.Compare) or [type(each) for each in test.ops] != [ast.Eq]:
            return None
        sides = [test.left, *test.comparators]
    else:
        call = statement.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        sides = call.args[:2] if call.func.attr in ("assertEqual", "assertEquals") else []
    literals = [each for each in sides if isinstance(each, ast.Constant) and _is_plain(each)]
    return literals[0] if len(literals) == 1 else None


def _is_plain(literal: ast.Constant) -> bool:
    one_line = literal.lineno == literal.end_lineno
    return one_line and type(literal.value) in (int, float, str)


def _expected_to_fail(lines: list[bytes], before: bytes, literal: ast.Constant, first: int) -> list[bytes]:
    """The statement with another value, wrapped so that only equality is an error."""
    lines, at = list(lines), literal.lineno - 1 - first
    wrong = repr(wrong_value(literal.value)).encode()
    lines[at] = lines[at][: literal.col_offset] + wrong + lines[at][literal.end_col_offset :]
    deeper = before + (b"\t" if b"\t" in before else b" ")
    lines[0] = deeper + lines[0][len(before) :]
    lines[-1] = lines[-1].rstrip(b"\r\n") + b"\n"
    caught = [
        b"except AssertionError:\n",
        b"pass\n",
        b"else:\n",
        b"raise SystemError('untilgreen-' 'equal')\n",
    ]
    indented = [margin + each for margin, each in zip((before, deeper) * 2, caught, strict=True)]
    return [before + b"try:\n", *lines, *indented]


def wrong_value(value: object, far: int = _FAR) -> object:
    """Another value of the same type; a float may be so large that adding to it changes nothing."""
    if isinstance(value, str):
        return f"{value}~"
    assert isinstance(value, int | float)
    return next(each for each in (value + far, value / 2, 0.0) if each != value)


def _script(text: str) -> str:
    edits = []
    for call in _calls("script", text):
        end = call.end
        if text.startswith("expect", call.start):
            matcher = _MATCHER.match(text, end)
            inner = _closed(text, matcher.end() - 1) if matcher else None
            if matcher is None or inner is None:
                continue
            edits += _wrapped(text, call.start, inner, (matcher.end(), inner - 1))
        else:
            edits += _wrapped(text, call.start, end, _argument(text, call, 1))
    return f"{_edited(text, edits)}{_SCRIPT_HELPER}" if edits else ""


def _wrapped(text: str, start: int, end: int, place: tuple[int, int] | None) -> list[Edit]:
    wrong = _wrong_in(text, place)
    if wrong is None or "await" in text[start:end] or "yield" in text[start:end]:
        return []
    return [Edit(start, start, "untilgreenDiffers(() => "), wrong, Edit(end, end, ")")]


def _perl(text: str) -> str:
    edits = []
    for call in _calls("perl", text):
        if (wrong := _wrong_in(text, _argument(text, call, 1))) is not None:
            edits += [Edit(call.start, call.start, "(do { local $TODO = 'differs'; !"), wrong]
            edits += [Edit(call.end, call.end, " } || die 'untilgreen-' . 'equal')")]
    return _edited(text, edits) if edits else ""


def _rust(text: str) -> str:
    edits = []
    for call in _calls("rust", text):
        places = _arguments(text, call)
        if len(places) == 2 and (wrong := _wrong_in(text, places[1], far=1)) is not None:
            edits += [Edit(call.start, call.start + 9, "assert_ne"), wrong]
            edits += [Edit(call.end - 1, call.end - 1, ', "untilgreen-{}", "equal"')]
    return _edited(text, edits) if edits else ""


class _Call(NamedTuple):
    start: int
    inside: int
    """After the opening parenthesis."""
    end: int
    """After the closing one."""


def _calls(language: str, text: str) -> Iterator[_Call]:
    after = 0
    for found in _CALLS[language].finditer(text):
        if found.start() >= after and (end := _closed(text, found.end() - 1)) is not None:
            yield _Call(found.start(), found.end(), end)
            after = end


def _closed(text: str, opening: int) -> int | None:
    """The place after the bracket that closes this one; None if it is never closed."""
    depth, quote, at = 0, "", opening
    while at < len(text):
        letter = text[at]
        if quote:
            at += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _arguments(text: str, call: _Call) -> list[tuple[int, int]]:
    """The place of each argument."""
    places, begin, at = [], call.inside, call.inside
    while at < call.end - 1:
        if text[at] in "([{\"'`":
            at = (_closed(text, at) if text[at] in _OPEN else _after_quote(text, at)) or call.end
            continue
        if text[at] == ",":
            places.append((begin, at))
            begin = at + 1
        at += 1
    return [*places, (begin, call.end - 1)]


def _after_quote(text: str, at: int) -> int:
    end = text.find(text[at], at + 1)
    return end + 1 if end >= 0 else len(text)


def _argument(text: str, call: _Call, index: int) -> tuple[int, int] | None:
    places = _arguments(text, call)
    return places[index] if len(places) > index else None


def _wrong_in(text: str, place: tuple[int, int] | None, far: int = _FAR) -> Edit | None:
    """An edit to another value; None unless the place holds a plain value and nothing else."""
    if place is None:
        return None
    said = text[place[0] : place[1]]
    begin = place[0] + len(said) - len(said.lstrip())
    found = _LITERAL.fullmatch(said.strip())
    if found is None:
        return None
    if found["quote"]:
        wrong = f"{found[0][:-1]}~{found['quote']}"
    else:
        wrong = f"{found['sign']}{int(found['number']) + far}{found['rest'] or ''}"
    return Edit(begin, begin + len(found[0]), wrong)


def _edited(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = f"{text[: edit.start]}{edit.text}{text[edit.end :]}"
    return text


_LANGUAGES: Mapping[str, Turning] = {
    ".py": _python,
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"), _script),
    ".t": _perl,
    ".rs": _rust,
}
