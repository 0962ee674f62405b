"""One output of each tool in the dress of another version, reporter or system; each is a file of its own."""

from pathlib import Path

import pytest

from untilgreen.gates.recognise import located, recognise
from untilgreen.gates.seen import Seen

OUTPUTS = Path(__file__).parent / "outputs"
ROWS: dict[str, tuple[str | None, list[str], int, int]] = {
    "rspec-doc": ("rspec", ["spec/calculator_spec.rb: Calculator subtracts"], 1, 3),
    "rspec-loaderror": ("rspec", ["spec/user_spec.rb: outside of examples"], 0, 1),
    "phpunit11": (
        "phpunit",
        ["Tests\\Unit\\CartTest::testRemove", 'Tests\\Unit\\CartTest::testTotal with data set "two items"'],
        2,
        4,
    ),
    "phpunit-testdox": ("phpunit", ["Tests\\Cart::Total"], 1, 2),
    "maven": ("maven", ["com.example.CalcTest.addsNumbers", "com.example.CalcTest.divides"], 1, 3),
    "maven-old": ("maven", ["com.example.AppTest.testApp"], 1, 2),
    "jest-verbose": (
        "jest",
        ["src/cart.test.ts: Cart › with items › totals", "src/broken.test.ts: Test suite failed to run"],
        4,
        7,
    ),
    "vitest3": ("vitest", ["src/cart.test.ts > Cart > totals"], 1, 3),
    "pytest-windows": ("pytest", ["tests/test_cart.py::test_total"], 2, 3),
    "pytest-xdist": ("pytest", ["tests/test_cart.py::TestCart::test_total"], 3, 4),
    "pytest-tbline": ("pytest", ["tests/test_cart.py::test_total"], 1, 2),
    "pytest-nosummary": (
        "pytest",
        ["tests/conftest.py::test_db[pg-1]", "tests/test_cart.py::test_total"],
        2,
        4,
    ),
    "ruff-concise": (
        "ruff",
        ["src/a.py: F401 `os` imported but unused", "src/a.py: E402 module level import not at top of file"],
        0,
        0,
    ),
    "ruff-full": ("ruff", ["src\\a.py: F401 `os` imported but unused"], 0, 0),
    "mypy-pretty": (
        "mypy",
        ['src/a.py: error: incompatible return value type (got "str", expected "int")'],
        0,
        0,
    ),
    "clang": ("gcc", ["a.cpp: error: use of undeclared identifier 'y'"], 0, 0),
    "msvc": (None, ["a.cpp: c<n>: 'y': undeclared identifier [a.vcxproj]"], 0, 0),
    "unittest-v": (
        "unittest",
        ["tests.test_db.DbTest.setUpClass", "tests.test_cart.CartTest.test_total"],
        1,
        3,
    ),
    "mocha-hook": ("mocha", ['Cart > "before each" hook for "totals"'], 0, 1),
    "eslint-stylish-win": (
        "eslint",
        ["C:\\code\\app\\src\\a.js: no-unused-vars 'a' is assigned a value but never used"],
        0,
        0,
    ),
    "eslint-compact": (
        "eslint",
        ["/w/src/a.js: no-unused-vars 'a' is assigned a value but never used"],
        0,
        0,
    ),
    "eslint-unix": ("eslint", ["/w/src/a.js: no-unused-vars 'a' is assigned a value but never used"], 0, 0),
    "tsc-watchless": (
        "tsc",
        [
            "src/a.ts: TS2322 type 'string' is not assignable to type 'number'.",
            "TS18003 No inputs were found in config file 'tsconfig.json'.",
        ],
        0,
        0,
    ),
    "gotestsum": ("go-test", ["TestBad"], 0, 1),
    "nextest": ("cargo-test", ["tests::bad"], 0, 1),
}
"""Which tool it is, what it complains about, how many tests passed of how many."""


def seen_in(text: str) -> Seen:
    seen = recognise(text)
    assert seen is not None
    return seen


@pytest.mark.parametrize("name", ROWS)
def test_each_output_is_known_for_what_it_is(name: str) -> None:
    seen = seen_in((OUTPUTS / f"{name}.txt").read_text())

    tool = None if seen.tool == located.TOOL else seen.tool
    assert (tool, [finding.id for finding in seen.findings], seen.passed, seen.total) == ROWS[name]


@pytest.mark.parametrize("name", ROWS)
def test_colours_line_ends_and_a_progress_bar_change_nothing(name: str) -> None:
    text = (OUTPUTS / f"{name}.txt").read_text()
    bar = "".join(f"\r\x1b[2K[{'#' * done}] {done}0%" for done in range(10)) + "\r\x1b[2K"
    coloured = "\r\n".join(f"\x1b[1;31m{line}\x1b[0m\x1b[K" if line else "" for line in text.split("\n"))

    assert seen_in(f"{bar}\r\n{coloured}").findings == seen_in(text).findings


@pytest.mark.parametrize("name", ROWS)
def test_an_output_that_ends_anywhere_is_still_read(name: str) -> None:
    """A tool may be killed in the middle of a line; what it said until then must break nothing."""
    text = (OUTPUTS / f"{name}.txt").read_text()
    for end in range(0, len(text), 37):
        recognise(text[:end])


def test_every_file_has_its_row() -> None:
    assert {path.stem for path in OUTPUTS.iterdir()} == set(ROWS)
