"""What runners print in the styles that people use, captured by `capture.py`: what is seen in each output.

Every project has one failing test, `totals`, and two that pass; a crash, a file that can't be compiled, a
missed coverage threshold and a selection without tests come beside that.
"""

# ruff: noqa: E501, RUF001 - ids as they are made
import pytest

from tests.gates.output.capture import HERE, PROJECTS
from untilgreen.gates.output.recognize import recognize

ROWS: dict[str, tuple[str | None, list[str], int, int]] = {
    "bazel-build": (
        "bazel",
        [
            "//broken:broken_test",
            "/home/kim/shop/broken/BUILD: broken:broken_test: missing input file 'broken:no_such_file.sh'",
        ],
        0,
        2,
    ),
    "bazel-cached": ("bazel", ["//cart:totals_test"], 2, 3),
    "bazel-color": ("bazel", ["//cart:totals_test"], 2, 3),
    "bazel-default": ("bazel", ["//cart:totals_test"], 2, 3),
    "bazel-errors": ("bazel", ["//cart:totals_test"], 2, 3),
    "bazel-none": ("bazel", ["no-tests"], 0, 0),
    "busted-default": ("busted", ["cart_spec.lua: cart totals"], 2, 3),
    "busted-plain": ("busted", ["cart_spec.lua: cart totals"], 2, 3),
    "busted-tap": ("tap", ["cart totals"], 2, 3),
    "cargo-color": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "cargo-compile": ("lines", ["src/lib.rs: E0308 mismatched types"], 0, 0),
    "cargo-default": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "cargo-nofailfast": ("cargo-test", ["src/lib.rs: tests::totals"], 3, 4),
    "cargo-none": ("cargo-test", ["no-tests"], 0, 0),
    "cargo-quiet": ("cargo-test", ["tests::totals"], 2, 3),
    "cargo-terse": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "cargo-threads": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "ctest-compile": (
        "gcc",
        ["/home/kim/shop/cart.c: error: ‘c’ undeclared (first use in this function)"],
        0,
        0,
    ),
    "ctest-configure": (
        "cmake",
        [
            'CMakeLists.txt: find_package by not providing "findnowhere.cmake" in cmake_module_path this project has asked cmake to find a package configuration file provided by "nowhere", but cmake did not find one.'
        ],
        0,
        0,
    ),
    "ctest-default": ("ctest", ["totals"], 2, 3),
    "ctest-failure": ("ctest", ["totals"], 2, 3),
    "ctest-make": ("ctest", ["totals"], 2, 3),
    "ctest-none": ("ctest", ["no-tests"], 0, 0),
    "ctest-parallel": ("ctest", ["totals"], 2, 3),
    "ctest-verbose": ("ctest", ["totals"], 2, 3),
    "go-compile": (
        "go-test",
        ['bad/bad.go: cannot use "x" (untyped string constant) as int value in return statement'],
        0,
        1,
    ),
    "go-cover": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-default": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-json": ("go-test", ["example.org/shop.TestTotals"], 2, 3),
    "go-none": ("go-test", ["no-tests"], 0, 0),
    "go-panic-json": ("go-test", ["example.org/shop/panics.TestPanics"], 1, 2),
    "go-panic-verbose": ("go-test", ["example.org/shop/panics.TestPanics"], 1, 2),
    "go-panic": ("go-test", ["example.org/shop/panics.TestPanics"], 0, 1),
    "go-parallel": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-short": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-verbose": ("go-test", ["example.org/shop.TestTotals"], 2, 3),
    "go-vet": (
        "lines",
        ['bad/bad.go: cannot use "x" (untyped string constant) as int value in return statement'],
        0,
        0,
    ),
    "gradle-all": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "gradle-compile": (
        "gradle",
        ["/home/kim/shop/src/main/java/shop/Cart.java: cannot find symbol"],
        0,
        0,
    ),
    "gradle-default": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "gradle-none": ("gradle", ["no-tests"], 0, 0),
    "gradle-plain": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "jest-band": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-ci": ("jest", ["cart.test.js: cart › totals"], 2, 3),
    "jest-color": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-coverage": ("coverage", ["coverage of branches: global"], 0, 0),
    "jest-default": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-exit": (None, [], 0, 0),
    "jest-json": ("jest", ["cart.test.js: cart › totals"], 2, 3),
    "jest-none": ("jest", ["no-tests"], 0, 0),
    "jest-silent": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-syntax": ("jest", ["syntax/bad.test.js: Test suite failed to run"], 0, 1),
    "jest-verbose": ("jest", ["cart.test.js: cart › totals"], 2, 3),
    "kotlinc-default": (
        "lines",
        [
            "Cart.kt: error: unresolved reference: totl",
            "Cart.kt: error: type mismatch: inferred type is string but int was expected",
        ],
        0,
        0,
    ),
    "kotlinc-warning": ("lines", ["Warns.kt: warning: variable 'unused' is never used"], 0, 0),
    "minitest-default": ("minitest", ["CartTest#test_totals"], 2, 3),
    "minitest-none": ("minitest", ["no-tests"], 0, 0),
    "minitest-verbose": ("minitest", ["CartTest#test_totals"], 2, 3),
    "mocha-color": ("mocha", ["cart > totals"], 2, 3),
    "mocha-dot": ("mocha", ["cart > totals"], 2, 3),
    "mocha-exit": (None, [], 0, 0),
    "mocha-json": ("mocha", ["/home/kim/shop/cart.spec.js: cart totals"], 2, 3),
    "mocha-landing": ("mocha", ["cart > totals"], 2, 3),
    "mocha-list": ("mocha", ["cart > totals"], 2, 3),
    "mocha-min": ("mocha", ["cart > totals"], 2, 3),
    "mocha-none": ("mocha", ["no-tests"], 0, 0),
    "mocha-parallel": ("mocha", ["cart > totals"], 2, 3),
    "mocha-progress": ("mocha", ["cart > totals"], 2, 3),
    "mocha-spec": ("mocha", ["cart > totals"], 2, 3),
    "mocha-tap": ("tap", ["cart totals"], 2, 3),
    "mocha-xunit": ("junit", ["cart::totals"], 2, 3),
    "node-color": ("node", ["cart > totals"], 2, 3),
    "node-direct": ("tap", ["cart > totals"], 2, 3),
    "node-dot": ("node", ["totals"], 2, 3),
    "node-exit": ("tap", ["/home/kim/shop/out.test.js"], 0, 1),
    "node-junit": ("junit", ["test::totals"], 2, 3),
    "node-spec": ("node", ["cart > totals"], 2, 3),
    "node-syntax": ("tap", ["/home/kim/shop/bad.test.js"], 0, 1),
    "node-tap": ("tap", ["cart > totals"], 2, 3),
    "phpunit-color": ("phpunit", ["CartTest::testTotals"], 2, 3),
    "phpunit-default": ("phpunit", ["CartTest::testTotals"], 2, 3),
    "phpunit-none": ("phpunit", ["no-tests"], 0, 0),
    "phpunit-syntax": (None, [], 0, 0),
    "phpunit-testdox": ("phpunit", ["Cart::Totals"], 2, 3),
    "prove-color": ("prove", ["t/cart.t: totals"], 2, 3),
    "prove-default": ("prove", ["t/cart.t: totals"], 2, 3),
    "prove-parallel": ("prove", ["t/cart.t: totals", "t/bad.t"], 2, 4),
    "prove-verbose": ("prove", ["t/cart.t: totals"], 2, 3),
    "pytest-color": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-default": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-exit": ("pytest", ["exits/test_exit.py::test_exit"], 1, 2),
    "pytest-line": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-none": ("pytest", ["no-tests"], 0, 0),
    "pytest-notb": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-parallel": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-qq": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-quiet": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-short": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-syntax": ("pytest", ["broken/test_syntax.py"], 0, 1),
    "pytest-verbose": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "rspec-color": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-default": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-documentation": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-json": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-none": ("rspec", ["no-tests"], 0, 0),
    "rspec-syntax": ("rspec", ["bad_spec.rb: outside of examples"], 0, 1),
    "tape-crash": ("tap", ["unfinished"], 1, 2),
    "tape-default": ("tap", ["totals > the sum"], 2, 3),
    "tape-direct": ("tap", ["totals > the sum"], 2, 3),
    "unittest-buffered": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-default": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-failfast": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-none": ("unittest", ["no-tests"], 0, 0),
    "unittest-quiet": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-syntax": ("lines", ["/home/kim/shop/test_syntax.py: SyntaxError: invalid syntax"], 0, 0),
    "unittest-verbose": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "vitest-basic": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-color": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-coverage": ("coverage", ["coverage of branches: global"], 0, 0),
    "vitest-default": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-dot": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-exit": ("vitest", ["exits/out.test.js > leaves"], 0, 1),
    "vitest-json": ("jest", ["/home/kim/shop/cart.test.js: cart totals"], 2, 3),
    "vitest-junit": ("junit", ["cart.test.js::cart > totals"], 2, 3),
    "vitest-none": ("vitest", ["no-tests"], 0, 0),
    "vitest-syntax": ("vitest", ["syntax/bad.test.js"], 0, 1),
    "vitest-tap-flat": ("tap", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-tap": ("tap", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-threads": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-verbose": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
}
"""The tool, its findings, and how many tests of how many passed; None where only the exit code tells."""


@pytest.mark.parametrize("name", sorted(ROWS))
def test_what_a_runner_printed_is_read_as_it_counted(name: str) -> None:
    seen = recognize((HERE / f"{name}.txt").read_text())

    found = (seen.tool, [each.id for each in seen.findings], seen.passed, seen.total) if seen else None
    assert (found or (None, [], 0, 0)) == ROWS[name]


def test_every_capture_is_made_by_the_script_and_has_its_row() -> None:
    made = {f"{tool}-{style}" for tool, (_, styles) in PROJECTS.items() for style in styles}

    assert {path.stem for path in HERE.glob("*.txt")} == made == set(ROWS)
