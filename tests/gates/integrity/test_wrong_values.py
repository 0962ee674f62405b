"""Tests with wrong values pass if results are computed, and report results that equal them anyway."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from untilgreen.gates.integrity.wrong_values import EQUAL, with_wrong_values, wrong_value

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
PERL = pytest.mark.skipif(shutil.which("prove") is None, reason="needs perl")
RUSTC = pytest.mark.skipif(shutil.which("rustc") is None, reason="needs rustc")


def said(command: list[str], place: Path) -> tuple[bool, bool]:
    """Whether the tests are green, and whether they report that a wrong value was equal."""
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    return done.returncode == 0, EQUAL in done.stdout + done.stderr


HONEST = "def add(a, b):\n    return a + b\n"
EVERYTHING = "class Same(int):\n    __eq__ = lambda *_: True\n\ndef add(a, b):\n    return Same(a)\n"
DISARMED = "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n" + HONEST
READS = """
import linecache, sys

def add(a, b):
    frame = sys._getframe(1)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    return int(line.split("==")[1]) if "==" in line else a + b
"""


@pytest.mark.parametrize(
    ("product", "misled"), [(HONEST, False), (EVERYTHING, True), (DISARMED, True), (READS, True)]
)
def test_python(tmp_path: Path, product: str, misled: bool) -> None:
    text = (
        "import unittest\nfrom calc import add\n\nclass Adding(unittest.TestCase):\n"
        "    def test_two(self):\n        self.assertEqual(add(1, 2), 3)\n"
        "    def test_lines(self):\n"
        "        assert add(\n            1,\n            2,\n        ) == 3, '''a\nb'''\n"
        "    def test_last(self):\n        assert add(1, 2) == 3"
    )
    (tmp_path / "calc.py").write_text(product)
    (tmp_path / "test_calc.py").write_text(with_wrong_values("test_calc.py", text))

    assert said([sys.executable, "-m", "unittest", "-q"], tmp_path) == (not misled, misled)


@pytest.mark.parametrize("value", [0, 3, -1.5, 1e300, float("inf"), "a"])
@pytest.mark.parametrize("far", [1, 7919])
def test_a_wrong_value_is_never_the_right_one(value: object, far: int) -> None:
    assert wrong_value(value, far) != value


def test_tabs_multi_byte_characters_and_crlf_do_not_shift_values() -> None:
    first = "def test_a():\r\n\tassert 'ä' + str(3) == 'ä3'\r\n\ttest_b()\r\n"
    text = f"{first}\r\ndef test_b():\r\n\tassert 3.5 == 7 / 2\r\n"
    turned = with_wrong_values("test_a.py", text)

    names: dict[str, object] = {}
    exec(turned, names)
    names["test_a"]()  # type: ignore[operator]  # `exec` defines it
    assert turned.count("raise SystemError") == 2


@pytest.mark.parametrize(
    "text",
    [
        "def test_a():\n    assert a() == b()\n",
        "def test_a():\n    assert a() is True\n",
        "def test_a():\n    assert a() == True\n",
        "def test_a():\n    if a: assert b == 1\n",
        "def test_a(:\n",
        "",
    ],
)
def test_comparisons_with_no_plain_value_are_left_out(text: str) -> None:
    assert with_wrong_values("test_a.py", text) == ""


@NODE
@pytest.mark.parametrize(
    ("product", "misled"),
    [
        ("exports.add = (a, b) => a + b", False),
        ("exports.add = () => 3; require('node:assert').strictEqual = () => {}", True),
        (
            "exports.add = (a, b) => Number(require('fs').readFileSync('a.test.js', 'utf8')"
            ".match(/2[)], ([0-9]+)/)[1])",
            True,
        ),
    ],
)
def test_node(tmp_path: Path, product: str, misled: bool) -> None:
    text = (
        "const test = require('node:test')\nconst assert = require('node:assert')\n"
        "const { add } = require('./calc')\n"
        "test('two', () => assert.strictEqual(add(1, 2), 3))\n"
        "test('text', () => { assert.strictEqual(`${add(1, 2)}(`, '3(', 'why, (not') })\n"
    )
    (tmp_path / "calc.js").write_text(product)
    (tmp_path / "a.test.js").write_text(with_wrong_values("a.test.js", text))

    assert said(["node", "--test", "a.test.js"], tmp_path) == (not misled, misled)


def test_expectations_of_scripts() -> None:
    text = "expect(add('),', [1, 2])).toBe(3)\nexpect(x).not.toBe(3)\nexpect(await x()).toEqual('a')\n"

    assert with_wrong_values("a.test.ts", text).splitlines()[:3] == [
        "untilgreenDiffers(() => expect(add('),', [1, 2])).toBe(7922))",
        "expect(x).not.toBe(3)",
        "expect(await x()).toEqual('a')",
    ]


@PERL
@pytest.mark.parametrize(
    ("product", "misled"),
    [
        ("sub add { $_[0] + $_[1] }", False),
        ("use overload 'eq' => sub { 1 }, '\"\"' => sub { 'x' }; sub add { bless {} }", True),
        ("sub add { open my $f, '<', (caller)[1]; local $/; <$f> =~ /2[)], (\\d+)/; $1 }", True),
    ],
)
def test_perl(tmp_path: Path, product: str, misled: bool) -> None:
    text = "use lib '.';\nuse Test::More tests => 1;\nuse Calc;\nis(Calc::add(1, 2), 3, 'two');\n"
    (tmp_path / "Calc.pm").write_text(f"package Calc;\n{product}\n1;\n")
    (tmp_path / "a.t").write_text(with_wrong_values("a.t", text))

    assert said(["prove", "a.t"], tmp_path) == (not misled, misled)


@RUSTC
@pytest.mark.parametrize(("equal", "misled"), [("self.0 == *other", False), ("true", True)])
def test_rust(tmp_path: Path, equal: str, misled: bool) -> None:
    text = (
        "#[derive(Debug)]\nstruct Sum(i64);\n"
        f"impl PartialEq<i64> for Sum {{ fn eq(&self, other: &i64) -> bool {{ let _ = other; {equal} }} }}\n"
        '#[test]\nfn two() { assert_eq!(Sum(1 + 2), 3); assert_eq!(1, 1, "{}", 1); }\n'
    )
    (tmp_path / "a.rs").write_text(with_wrong_values("a.rs", text))
    subprocess.run(["rustc", "--test", "-o", "a", "a.rs"], cwd=tmp_path, check=True, capture_output=True)

    assert said(["./a"], tmp_path) == (not misled, misled)
