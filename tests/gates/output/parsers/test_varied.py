"""Outputs of tools in other versions, with other reporters or on other systems, one file each."""

from pathlib import Path

import pytest

from tests.gates.output.capture import PROJECTS
from untilgreen.gates.command import findings_in
from untilgreen.gates.output.parsers import file_line
from untilgreen.gates.output.recognize import recognize, recognize_all
from untilgreen.gates.output.tool_result import ToolResult

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
    "bazel-build": (
        "bazel",
        ["/home/kim/shop/cart/BUILD: compiling cart.cc failed: (exit <n>): gcc failed"],
        0,
        0,
    ),
    "bazel": ("bazel", ["//cart:totals_test"], 1, 2),
    "busted": ("busted", ["a_spec.lua: adding fails", "a_spec.lua: adding breaks"], 1, 4),
    "c8-threshold": ("coverage", ["coverage of lines: global", "coverage of functions: global"], 0, 0),
    "cargo-color": ("cargo-test", ["tests/api.rs: totals"], 1, 2),
    "cargo-exits": ("cargo-test", ["tests/api.rs: did not finish"], 1, 2),
    "cargo-json": ("cargo", ["src/lib.rs: E0308 mismatched types"], 0, 0),
    "ci-stamps": ("maven", ["/home/kim/shop/src/Cart.java: cannot find symbol"], 0, 0),
    "cmake": (
        "cmake",
        [
            'CMakeLists.txt: find_package by not providing "findnonexistent.cmake" '
            "in cmake_module_path this project "
            "has asked cmake to find a package configuration file "
            'provided by "nonexistent", but cmake did not find one.'
        ],
        0,
        0,
    ),
    "ctest-unity": ("ctest", ["cart"], 1, 2),
    "ctest-verbose": ("ctest", ["cart"], 1, 2),
    "dotnet-build": ("dotnet", ["/home/kim/shop/Cart.cs: CS1002 ; expected"], 0, 0),
    "dotnet": ("dotnet", ["Shop.Tests.CartTests.Totals"], 1, 2),
    "go-nested": ("go-test", ["shop.TestCart/totals"], 0, 1),
    "gradle-kotlin": (
        "gradle",
        [
            "/home/kim/shop/src/Cart.kt: unresolved reference: totl",
            "/home/kim/shop/src/List.kt: type mismatch: inferred type is string but int was expected",
        ],
        0,
        0,
    ),
    "gradle": ("gradle", ["CartTest > totals()"], 1, 2),
    "jest-color": ("jest", ["a.test.js: cart › totals"], 1, 2),
    "jest-json": ("jest", ["/home/kim/shop/a.test.js: cart totals"], 1, 2),
    "jest-threshold": ("coverage", ["coverage of functions: global"], 0, 0),
    "maven-enforcer": ("maven", ["org.apache.maven.enforcer.rules.version.RequireJavaVersion"], 0, 0),
    "minitest": ("minitest", ["TestAdd#test_bad", "TestAdd#test_error"], 1, 4),
    "mocha-json": ("mocha", ["/home/kim/shop/a.js: cart totals"], 1, 3),
    "mocha-late": ("mocha", [], 1, 1),
    "mocha-xunit": ("junit", ["cart::totals"], 1, 3),
    "node-missing": (None, ["/home/kim/shop/n.js: Error: cannot find module 'missing-mod'"], 0, 0),
    "node-crash": (None, ["/home/kim/shop/late.js: TypeError: late"], 0, 0),
    "node-dot": ("node", ["totals"], 1, 2),
    "prove": ("prove", ["t/a.t: adds", "t/b.t"], 3, 5),
    "rspec-json": ("rspec", ["a_spec.rb: adding fails"], 1, 3),
    "swift-parameters": ("swift", ["totals(_:)"], 0, 1),
    "tape-crash": ("tap", ["unfinished"], 1, 2),
    "tape": (
        "tap",
        [
            "totals > should be strictly equal",
            "totals > should be strictly equal (2)",
            "clears > should be strictly equal",
        ],
        1,
        4,
    ),
    "tslint": (
        None,
        ["src/cart.ts: identifier 'total' is never reassigned; use 'const' instead of 'let'."],
        0,
        0,
    ),
    "unittest-doctest": ("unittest", ["shop.cart.total"], 0, 1),
    "vitest-annotations": (None, ["a.test.js > cart > totals"], 0, 0),
    "vitest-json": ("jest", ["/home/kim/shop/a.test.js: cart totals"], 1, 2),
    "vitest-junit": ("junit", ["a.test.js::cart > totals"], 1, 2),
    "vitest-tap": ("tap", ["a.test.js > cart > totals"], 1, 2),
    "vitest-unhandled": ("vitest", ["Unhandled Rejection: Error: lost"], 1, 2),
}
"""The tool, its findings, how many tests passed and how many there are."""
FROM_DOCUMENTATION = {
    "dotnet",
    "dotnet-build",
    "gradle-kotlin",
    "msvc",
    "swift-parameters",
}
"""Written from documentation and from reports of users: no package registry has these versions, so
they were not run. Other outputs of the same tools, except msvc, are in `captured/`."""


def seen_in(text: str) -> ToolResult:
    seen = recognize(text)
    assert seen is not None
    return seen


@pytest.mark.parametrize("name", ROWS)
def test_each_output_is_known_for_what_it_is(name: str) -> None:
    seen = seen_in((OUTPUTS / f"{name}.txt").read_text())

    tool = None if seen.tool == file_line.TOOL else seen.tool
    assert (tool, [finding.id for finding in seen.findings], seen.passed, seen.total) == ROWS[name]


@pytest.mark.parametrize("name", ROWS)
def test_colors_line_ends_and_a_progress_bar_change_nothing(name: str) -> None:
    text = (OUTPUTS / f"{name}.txt").read_text()
    bar = "".join(f"\r\x1b[2K[{'#' * done}] {done}0%" for done in range(10)) + "\r\x1b[2K"
    colored = "\r\n".join(f"\x1b[1;31m{line}\x1b[0m\x1b[K" if line else "" for line in text.split("\n"))

    assert seen_in(f"{bar}\r\n{colored}").findings == seen_in(text).findings


@pytest.mark.parametrize("name", ROWS)
def test_an_output_that_ends_anywhere_is_still_read(name: str) -> None:
    """A tool may be killed in the middle of a line; reading what it printed until then must not fail."""
    text = (OUTPUTS / f"{name}.txt").read_text()
    for end in range(0, len(text), 37):
        recognize(text[:end])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ctest-unity", "/home/kim/shop/cart.c:14:totals:FAIL: Expected 3 Was 2"),
        ("ctest-verbose", "/home/kim/shop/cart.c:14:totals:FAIL: Expected 3 Was 2"),
        ("go-nested", "cart_test.go:35: interface conversion: interface {} is int64, not string"),
        ("unittest-doctest", "Failed example: total([1, 2]) Expected: 3 Got: 2"),
        ("tape", "expected: 3"),
        ("tape-crash", "It ended after 1 test, in 'totals'."),
        ("maven-enforcer", "Detected JDK version 11.0.2 is not in the allowed range [17,)."),
        ("dotnet", "Assert.Equal() Failure: Values differ"),
        ("swift-parameters", "Expectation failed: (items → 2) != 2"),
    ],
)
def test_the_message_says_why(name: str, message: str) -> None:
    (finding, *_) = seen_in((OUTPUTS / f"{name}.txt").read_text()).findings

    assert message in finding.message.split("\n")


@pytest.mark.parametrize("name", ["ctest-unity", "ctest-verbose"])
def test_of_what_a_test_printed_the_lines_of_those_that_passed_are_left_out(name: str) -> None:
    text = (OUTPUTS / f"{name}.txt").read_text()

    assert ":PASS" in text
    assert all(":PASS" not in finding.message for finding in seen_in(text).findings)


def test_a_runner_that_dies_after_its_summary_names_what_was_thrown() -> None:
    text = (OUTPUTS / "mocha-late.txt").read_text()
    printed = recognize_all(text)

    assert [finding.id for finding in findings_in(None, printed, text)] == [
        "/home/kim/shop/late.js: Error: late"
    ]


def test_tests_and_coverage_of_one_run_are_two_results() -> None:
    results = recognize_all((OUTPUTS / "jest-threshold.txt").read_text())

    assert [(result.tool, result.failed, result.passed) for result in results] == [
        ("coverage", 1, 0),
        ("jest", 0, 1),
    ]


def test_every_file_has_its_row() -> None:
    assert {path.stem for path in OUTPUTS.iterdir()} == set(ROWS)


def test_tools_that_were_not_captured_are_listed() -> None:
    tools = {name.partition("-")[0] for name in FROM_DOCUMENTATION}

    assert set(ROWS) > FROM_DOCUMENTATION
    assert tools - set(PROJECTS) == {"msvc"}
