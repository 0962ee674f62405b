"""Original tests with every assertion reversed: if the code does what they ask, each of them fails.

A test that stays green was not asked: the product took it over, ended its process, brought its own helper,
or returned something that equals every value. All of that shows here without a list of the ways to do it.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from untilgreen.gates.integrity.must_fail_tests import with_canary
from untilgreen.gates.integrity.wrong_values import compared, with_wrong_values, wrong_value

CANARY = ("must fail", "must_fail", "ntilgreen")
"""What the id of a test that must fail contains, by language."""
_PAIRS = (
    ("assertEqual", "assertNotEqual"),
    ("assertTrue", "assertFalse"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIn", "assertNotIn"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assertRegex", "assertNotRegex"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
)
_OPPOSITE = dict(_PAIRS) | {other: one for one, other in _PAIRS}
_NEAR = 1
"""Added to numbers: close enough to catch a value that equals a whole range of them."""
_BRANCHES = (ast.If, ast.Return, ast.Yield, ast.YieldFrom, ast.Try, ast.While, ast.Match)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Edit = tuple[tuple[int, int], tuple[int, int], bytes]
"""Start and end, each by line and byte, and the replacement."""


def with_opposites(path: str, text: str) -> str:
    """The text of a test file or of a helper, made to fail wherever it is asked; empty if it can't be."""
    if not path.endswith(".py"):
        fails = with_canary(path, text)
        turned = with_wrong_values(path, text) if fails and not path.endswith(".t") else ""
        return with_canary(path, turned) if turned else fails
    turned = _python(text)
    is_a_test = posixpath.basename(path) != "conftest.py" and any(_tests(_parsed(text)))
    return with_canary(path, turned or text) if is_a_test else turned


class Asked(NamedTuple):
    """The tests of a Python file, by name."""

    surely: frozenset[str]
    """Those with an assertion in the body itself, and nothing before it that can end the test."""
    perhaps: frozenset[str]
    """Those that reach an assertion or not, depending on what the code returns."""


def asked_in(text: str) -> Asked:
    """How certain it is that the tests of this file reach an assertion."""
    tests = list(_tests(_parsed(text)))
    others = {test.name for test in tests if not _asserts(test)}
    perhaps = {test.name for test in tests if test.name in others and any(map(_depends, ast.walk(test)))}
    return Asked(frozenset(test.name for test in tests) - others, frozenset(perhaps))


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _tests(tree: ast.Module) -> Iterator[_Function]:
    for node in ast.walk(tree):
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield node


def _asserts(test: _Function) -> bool:
    """Whether there is an assertion in the body itself, with nothing around it and no early end before it."""
    for statement in test.body:
        if next(_edits(statement), None):
            return True
        if any(isinstance(each, ast.Return | ast.Yield | ast.YieldFrom) for each in ast.walk(statement)):
            return False
    return False


def _depends(node: ast.AST) -> bool:
    """Whether this may keep other code from running each time."""
    if isinstance(node, ast.For):
        return any(isinstance(each, ast.Call) and not _counts(each) for each in ast.walk(node.iter))
    return isinstance(node, _BRANCHES)


def _counts(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("range", "enumerate", "zip")


def _python(text: str) -> str:
    lines = text.encode(errors="surrogateescape").splitlines(keepends=True)
    edits = {
        edit for function in _asking(_parsed(text)) for node in ast.walk(function) for edit in _edits(node)
    }
    for (line, start), (last, end), instead in sorted(edits, reverse=True):
        if line == last:
            lines[line - 1] = lines[line - 1][:start] + instead + lines[line - 1][end:]
    return b"".join(lines).decode(errors="surrogateescape") if edits else ""


def _asking(tree: ast.Module) -> Iterator[_Function]:
    """Tests and their helpers, but not setup and fixtures, which would fail before any test is asked."""
    for node in ast.walk(tree):
        if not isinstance(node, _Function) or node.name.lower().startswith(("setup", "asyncsetup")):
            continue
        if not any("fixture" in ast.unparse(each) for each in node.decorator_list):
            yield node


def _edits(node: ast.AST) -> Iterator[_Edit]:
    """The edits that reverse an assertion; in a comparison with a plain value, only the value changes."""
    if not isinstance(node, ast.Assert | ast.Expr):
        return
    literal = compared(node)
    if literal is not None:
        yield _start(literal), _end(literal), repr(wrong_value(literal.value, _NEAR)).encode()
    elif isinstance(node, ast.Assert):
        yield _start(node.test), _start(node.test), b"not ("
        yield _end(node.test), _end(node.test), b")"
    elif isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        method = node.value.func
        if method.attr in _OPPOSITE:
            line, end = _end(method)
            yield (line, end - len(method.attr)), (line, end), _OPPOSITE[method.attr].encode()


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
