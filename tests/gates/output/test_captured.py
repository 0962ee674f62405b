"""What runners print in the styles that people use, captured by `capture.py`, and what is read from it.

Every project has one failing test, `totals`, and two that pass. Other captures show a crash, a file that can't
be compiled, a missed coverage threshold, or a selection without tests.
"""

# ruff: noqa: E501, RUF001 - ids as the parsers make them
import pytest

from tests.gates.output.capture import HERE, PROJECTS
from tests.gates.output.runners.styles import grid
from untilgreen.gates.output.recognize import recognize

ROWS: dict[str, tuple[str | None, list[str], int, int]] = {
    "ava-color": ("ava", ["totals"], 2, 3),
    "ava-default": ("ava", ["totals"], 2, 3),
    "ava-exit0": ("ava", ["out.test.js: unfinished"], 1, 2),
    "ava-filtered": ("ava", ["no-tests"], 0, 0),
    "ava-green": ("ava", [], 1, 3),
    "ava-message": ("ava", ["asserts nothing"], 0, 1),
    "ava-none": ("ava", ["no-tests"], 0, 0),
    "ava-parallel": ("ava", ["cart › totals"], 3, 6),
    "ava-syntax": ("ava", ["bad.test.js: uncaught exception"], 0, 1),
    "ava-tap": ("tap", ["totals"], 2, 3),
    "ava-verbose": ("ava", ["totals"], 2, 3),
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
    "bun-actions": ("bun", ["cart.test.ts: cart > totals"], 2, 3),
    "bun-bail": ("bun", ["cart.test.ts: cart > totals"], 1, 2),
    "bun-color": ("bun", ["cart.test.ts: cart > totals"], 2, 3),
    "bun-coverage": ("bun", [], 1, 1),
    "bun-crash": ("bun", ["throws.test.ts: unhandled error"], 0, 1),
    "bun-default": ("bun", ["cart.test.ts: cart > totals"], 3, 6),
    "bun-dots": ("bun", ["cart.test.ts: cart > totals"], 2, 3),
    "bun-exit0": ("bun", ["unfinished"], 1, 2),
    "bun-exit0-dots": ("bun", ["unfinished"], 0, 1),
    "bun-failures": ("bun", ["cart.test.ts: cart > totals"], 2, 3),
    "bun-green": ("bun", [], 1, 3),
    "bun-junit": ("junit", ["cart::totals"], 2, 3),
    "bun-missing": ("bun", ["no-tests"], 0, 0),
    "bun-none": ("bun", ["no-tests"], 0, 0),
    "bun-syntax": ("bun", ["bad.test.ts: unhandled error"], 0, 1),
    "busted-default": ("busted", ["cart_spec.lua: cart totals"], 2, 3),
    "busted-exit0": (None, [], 0, 0),
    "busted-exit0-tap": ("tap", ["unfinished"], 1, 2),
    "busted-junit": ("junit", ["cart_spec.lua:4::cart totals"], 2, 3),
    "busted-none": ("busted", ["no-tests"], 0, 0),
    "busted-plain": ("busted", ["cart_spec.lua: cart totals"], 2, 3),
    "busted-syntax": ("busted", ["bad_spec.lua: <name> or '...' expected near <eof>"], 0, 1),
    "busted-tap": ("tap", ["cart totals"], 2, 3),
    "busted-verbose": ("busted", ["cart_spec.lua: cart totals"], 2, 3),
    "cargo-color": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "cargo-compile": ("lines", ["src/lib.rs: E0308 mismatched types"], 0, 0),
    "cargo-default": ("cargo-test", ["src/lib.rs: tests::totals"], 2, 3),
    "cargo-exit0": ("cargo-test", ["src/lib.rs: did not finish"], 0, 1),
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
    "ctest-junit": ("junit", ["totals::totals"], 2, 3),
    "ctest-make": ("ctest", ["totals"], 2, 3),
    "ctest-none": ("ctest", ["no-tests"], 0, 0),
    "ctest-parallel": ("ctest", ["totals"], 2, 3),
    "ctest-quiet": ("ctest", ["totals"], 2, 3),
    "ctest-segfault": ("ctest", ["totals"], 2, 3),
    "ctest-verbose": ("ctest", ["totals"], 2, 3),
    "deno-color": ("deno", ["cart_test.js: totals"], 2, 3),
    "deno-crash": ("deno", ["throws_test.js: uncaught error"], 0, 1),
    "deno-default": ("deno", ["cart_test.js: totals"], 2, 3),
    "deno-dot": ("deno", ["cart_test.js: totals"], 2, 3),
    "deno-exit0": ("deno", ["out_test.js: leaves"], 1, 2),
    "deno-filtered": ("deno", ["no-tests"], 0, 0),
    "deno-green": ("deno", [], 1, 2),
    "deno-junit": ("junit", ["./cart_test.js::totals"], 2, 3),
    "deno-none": ("deno", ["no-tests"], 0, 0),
    "deno-parallel": ("deno", ["cart_test.js: totals"], 3, 5),
    "deno-quiet": ("deno", ["cart_test.js: totals"], 2, 3),
    "deno-steps": ("deno", ["steps_test.js: cart ... totals"], 0, 1),
    "deno-syntax": ("deno", ["/home/kim/shop/bad_test.js: syntaxerror: expected ',', got '<eof>'"], 0, 0),
    "deno-tap": ("tap", ["totals"], 2, 3),
    "deno-types": (
        "deno",
        ["/home/kim/shop/types_test.ts: TS2322 type 'string' is not assignable to type 'number'."],
        0,
        0,
    ),
    "dotnet-compile": (
        "dotnet",
        ["CartTests.cs: CS0103 the name 'itms' does not exist in the current context"],
        0,
        0,
    ),
    "dotnet-crash": ("dotnet", ["unfinished"], 0, 1),
    "dotnet-default": ("dotnet", ["Shop.Tests.CartTests.Totals"], 2, 3),
    "dotnet-exit0": ("dotnet", ["unfinished"], 0, 1),
    "dotnet-green": ("dotnet", [], 1, 1),
    "dotnet-none": ("dotnet", ["no-tests"], 0, 0),
    "dotnet-quiet": ("dotnet", [], 2, 3),
    "dotnet-verbose": ("dotnet", ["Shop.Tests.CartTests.Totals"], 2, 3),
    "go-compile": (
        "go-test",
        ['bad/bad.go: cannot use "x" (untyped string constant) as int value in return statement'],
        0,
        1,
    ),
    "go-cover": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-default": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-exit0": ("go-test", ["example.org/shop/exits.TestLeaves"], 1, 2),
    "go-json": ("go-test", ["example.org/shop.TestTotals"], 2, 3),
    "go-none": ("go-test", ["no-tests"], 0, 0),
    "go-panic": ("go-test", ["example.org/shop/panics.TestPanics"], 0, 1),
    "go-panic-json": ("go-test", ["example.org/shop/panics.TestPanics"], 1, 2),
    "go-panic-verbose": ("go-test", ["example.org/shop/panics.TestPanics"], 1, 2),
    "go-parallel": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-short": ("go-test", ["example.org/shop.TestTotals"], 0, 1),
    "go-timeout": ("go-test", ["example.org/shop/slow"], 0, 1),
    "go-verbose": ("go-test", ["example.org/shop.TestTotals"], 2, 3),
    "go-vet": (
        "lines",
        ['bad/bad.go: cannot use "x" (untyped string constant) as int value in return statement'],
        0,
        0,
    ),
    "gradle-all": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "gradle-color": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "gradle-compile": ("gradle", ["/home/kim/shop/src/main/java/shop/Cart.java: cannot find symbol"], 0, 0),
    "gradle-configure": ("gradle", ["build"], 0, 0),
    "gradle-default": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "gradle-exit0": ("gradle", [], 0, 0),
    "gradle-none": ("gradle", ["no-tests"], 0, 0),
    "gradle-plain": ("gradle", ["shop.CartTest > totals"], 2, 3),
    "jasmine-color": ("jasmine", ["cart totals"], 2, 3),
    "jasmine-default": ("jasmine", ["cart totals"], 2, 3),
    "jasmine-exit0": ("jasmine", ["unfinished"], 1, 2),
    "jasmine-focused": ("jasmine", ["incomplete"], 1, 2),
    "jasmine-green": ("jasmine", [], 1, 2),
    "jasmine-none": ("jasmine", ["no-tests"], 0, 0),
    "jasmine-parallel": ("jasmine", ["cart totals"], 3, 5),
    "jasmine-syntax": ("lines", ["/home/kim/shop/bad.spec.js: SyntaxError: unexpected end of input"], 0, 0),
    "jest-band": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-ci": ("jest", ["cart.test.js: cart › totals"], 2, 3),
    "jest-color": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-coverage": ("coverage", ["coverage of branches: global"], 0, 0),
    "jest-default": ("jest", ["cart.test.js: cart › totals"], 3, 4),
    "jest-exit": ("jest", ["exits/out.test.js: unfinished"], 0, 1),
    "jest-exit0": ("jest", ["zero/out.test.js: unfinished"], 0, 1),
    "jest-json": ("jest", ["cart.test.js: cart › totals"], 2, 3),
    "jest-none": ("jest", ["no-tests"], 0, 0),
    "jest-parallel": ("jest", ["cart.test.js: cart › totals"], 3, 4),
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
    "maven-color": ("maven", ["shop.CartTest.totals"], 2, 3),
    "maven-compile": ("maven", ["/home/kim/shop/src/main/java/shop/Cart.java: cannot find symbol"], 0, 0),
    "maven-configure": ("maven", ["build"], 0, 0),
    "maven-default": ("maven", ["shop.CartTest.totals"], 2, 3),
    "maven-exit0": ("maven", ["shop.CartTest"], 0, 0),
    "maven-green": ("maven", [], 1, 1),
    "maven-junit": ("junit", ["shop.CartTest::totals"], 2, 3),
    "maven-jupiter": ("maven", ["shop.CartTest.totals"], 2, 3),
    "maven-none": ("maven", ["no-tests"], 0, 0),
    "maven-parallel": ("maven", ["shop.CartTest.totals"], 2, 3),
    "maven-quiet": ("maven", ["shop.CartTest.totals"], 2, 3),
    "minitest-default": ("minitest", ["CartTest#test_totals"], 2, 3),
    "minitest-exit0": ("minitest", ["unfinished"], 1, 2),
    "minitest-exit0-verbose": ("minitest", ["unfinished"], 1, 2),
    "minitest-none": ("minitest", ["no-tests"], 0, 0),
    "minitest-syntax": ("lines", ["bad_test.rb: syntax error, unexpected end-of-input"], 0, 0),
    "minitest-verbose": ("minitest", ["CartTest#test_totals"], 2, 3),
    "mocha-color": ("mocha", ["cart > totals"], 2, 3),
    "mocha-coverage": ("coverage", ["coverage of functions: global"], 0, 0),
    "mocha-dot": ("mocha", ["cart > totals"], 2, 3),
    "mocha-exit": (None, [], 0, 0),
    "mocha-exit0": (None, [], 0, 0),
    "mocha-exit0-tap": ("tap", ["unfinished"], 2, 3),
    "mocha-json": ("mocha", ["/home/kim/shop/cart.spec.js: cart totals"], 2, 3),
    "mocha-landing": ("mocha", ["cart > totals"], 2, 3),
    "mocha-list": ("mocha", ["cart > totals"], 2, 3),
    "mocha-min": ("mocha", ["cart > totals"], 2, 3),
    "mocha-none": ("mocha", ["no-tests"], 0, 0),
    "mocha-nyc": ("coverage", ["coverage of functions: global"], 0, 0),
    "mocha-parallel": ("mocha", ["cart > totals"], 2, 3),
    "mocha-progress": ("mocha", ["cart > totals"], 2, 3),
    "mocha-spec": ("mocha", ["cart > totals"], 2, 3),
    "mocha-syntax": ("mocha", ["/home/kim/shop/bad.js: syntaxerror: unexpected end of input"], 0, 1),
    "mocha-tap": ("tap", ["cart totals"], 2, 3),
    "mocha-xunit": ("junit", ["cart::totals"], 2, 3),
    "node-color": ("node", ["cart > totals"], 2, 3),
    "node-coverage": ("coverage", ["coverage of functions: global"], 0, 0),
    "node-direct": ("tap", ["cart > totals"], 2, 3),
    "node-dot": ("node", ["totals"], 2, 3),
    "node-exit": ("tap", ["/home/kim/shop/out.test.js"], 0, 1),
    "node-junit": ("junit", ["test::totals"], 2, 3),
    "node-missing": (None, [], 0, 0),
    "node-parallel": ("tap", ["cart > totals"], 3, 4),
    "node-spec": ("node", ["cart > totals"], 2, 3),
    "node-syntax": ("tap", ["/home/kim/shop/bad.test.js"], 0, 1),
    "node-tap": ("tap", ["cart > totals"], 2, 3),
    "nodetap-default": ("tap", ["test/cart.js > totals > the sum"], 2, 3),
    "nodetap-direct": ("tap", ["totals > the sum"], 2, 3),
    "nodetap-exit0": ("tap", ["exits/out.js", "test unfinished"], 1, 3),
    "nodetap-syntax": ("tap", ["bad/bad.js"], 0, 1),
    "nodetap-tap": ("tap", ["test/cart.js > totals > the sum"], 3, 4),
    "nox-color": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "nox-default": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "nox-none": ("pytest", ["no-tests"], 0, 0),
    "nox-verbose": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "phpunit-color": ("phpunit", ["CartTest::testTotals"], 2, 3),
    "phpunit-crash": ("phpunit", ["FatalTest::testTotals"], 2, 3),
    "phpunit-default": ("phpunit", ["CartTest::testTotals"], 2, 3),
    "phpunit-exit0": ("phpunit", ["unfinished"], 1, 2),
    "phpunit-exit0-testdox": ("phpunit", ["unfinished"], 1, 2),
    "phpunit-junit": ("junit", ["CartTest::testTotals"], 2, 3),
    "phpunit-none": ("phpunit", ["no-tests"], 0, 0),
    "phpunit-syntax": (None, [], 0, 0),
    "phpunit-testdox": ("phpunit", ["Cart::Totals"], 2, 3),
    "phpunit-verbose": ("phpunit", ["CartTest::testTotals"], 2, 3),
    "prove-color": ("prove", ["t/cart.t: totals"], 2, 3),
    "prove-default": ("prove", ["t/cart.t: totals"], 2, 3),
    "prove-exit0": ("prove", ["t/out.t"], 0, 1),
    "prove-exit0-direct": ("tap", ["unfinished"], 1, 2),
    "prove-none": ("prove", ["no-tests"], 0, 0),
    "prove-parallel": ("prove", ["t/cart.t: totals", "t/bad.t"], 2, 4),
    "prove-quiet": ("prove", ["t/cart.t: totals"], 2, 3),
    "prove-syntax": ("prove", ["t/syntax.t"], 0, 1),
    "prove-verbose": ("prove", ["t/cart.t: totals"], 2, 3),
    "pytest-color": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-coverage": ("pytest", ["coverage"], 1, 2),
    "pytest-default": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-exit": ("pytest", ["exits/test_exit.py::test_exit"], 1, 2),
    "pytest-exit0": ("pytest", ["out/test_out.py"], 1, 2),
    "pytest-exit0-one-row": (None, [], 0, 0),
    "pytest-exit0-quiet": ("pytest", ["crash"], 72, 73),
    "pytest-junit": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-line": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-none": ("pytest", ["no-tests"], 0, 0),
    "pytest-notb": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-parallel": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-qq": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-quiet": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-short": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "pytest-stops": ("pytest", ["_pytest.outcomes.Exit: enough"], 1, 3),
    "pytest-syntax": ("pytest", ["broken/test_syntax.py"], 0, 1),
    "pytest-verbose": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "rspec-color": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-default": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-documentation": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-exit0": ("rspec", ["unfinished"], 2, 3),
    "rspec-json": ("rspec", ["cart_spec.rb: cart totals"], 2, 3),
    "rspec-none": ("rspec", ["no-tests"], 0, 0),
    "rspec-quiet": ("rspec", ["cart_spec.rb: cart totals"], 1, 2),
    "rspec-syntax": ("rspec", ["bad_spec.rb: outside of examples"], 0, 1),
    "swift-compile": (
        "lines",
        ["/home/kim/shop/Sources/Shop/Cart.swift: error: cannot find 'itms' in scope"],
        0,
        0,
    ),
    "swift-crash": ("swift", ["CartTests.testTotals"], 2, 3),
    "swift-default": ("swift", ["CartTests.testTotals"], 2, 3),
    "swift-exit0": ("swift", ["CartTests.testTotals"], 2, 3),
    "swift-green": ("swift", [], 1, 1),
    "swift-none": ("swift", ["no-tests"], 0, 0),
    "swift-parallel": ("swift", ["CartTests.testTotals"], 2, 3),
    "swift-parallel-green": ("swift", [], 2, 2),
    "swift-testing": ("swift", ["sums up", "same(item:)"], 1, 3),
    "swift-testing-exit0": ("swift", ["sums up", "adds()", "same(item:)"], 0, 3),
    "swift-testing-green": ("swift", [], 1, 1),
    "swift-xunit": ("junit", ["ShopTests.CartTests::testTotals"], 2, 3),
    "tape-crash": ("tap", ["unfinished"], 1, 2),
    "tape-default": ("tap", ["totals > the sum"], 2, 3),
    "tape-direct": ("tap", ["totals > the sum"], 2, 3),
    "tape-exit0": (
        "tap",
        ["totals > test exited without ending: totals", "totals > test exited without ending: empties"],
        1,
        3,
    ),
    "tape-none": ("tap", ["no-tests"], 0, 0),
    "tape-syntax": ("lines", ["/home/kim/shop/bad.test.js: SyntaxError: unexpected end of input"], 0, 0),
    "tox-color": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "tox-default": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "tox-none": ("pytest", ["no-tests"], 0, 0),
    "tox-parallel": ("pytest", ["test_cart.py::test_totals"], 4, 6),
    "tox-quiet": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "tox-verbose": ("pytest", ["test_cart.py::test_totals"], 2, 3),
    "unittest-buffered": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-coverage": ("coverage", ["coverage"], 0, 0),
    "unittest-default": ("unittest", ["test_cart.Cart.test_totals"], 2, 3),
    "unittest-exit0": (None, [], 0, 0),
    "unittest-exit0-verbose": ("unittest", ["test_out.Out.test_leaves"], 2, 3),
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
    "vitest-exit0": ("vitest", ["zero/out.test.js > leaves"], 3, 4),
    "vitest-json": ("jest", ["/home/kim/shop/cart.test.js: cart totals"], 2, 3),
    "vitest-junit": ("junit", ["cart.test.js::cart > totals"], 2, 3),
    "vitest-none": ("vitest", ["no-tests"], 0, 0),
    "vitest-syntax": ("vitest", ["syntax/bad.test.js"], 0, 1),
    "vitest-tap": ("tap", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-tap-flat": ("tap", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-threads": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
    "vitest-verbose": ("vitest", ["cart.test.js > cart > totals"], 2, 3),
}
"""The tool, its findings, how many tests passed and how many there are; None if only the exit code tells.

In captures called exit0, a test ended the run with exit code 0. Some of these have only a few dots, from which
nothing can be read, and gradle's claims success; there, the tests that earlier laps counted are found missing.
"""


@pytest.mark.parametrize("name", sorted(ROWS))
def test_what_a_runner_printed_is_read_as_it_counted(name: str) -> None:
    seen = recognize((HERE / f"{name}.txt").read_text())

    found = (seen.tool, [each.id for each in seen.findings], seen.passed, seen.total) if seen else None
    assert (found or (None, [], 0, 0)) == ROWS[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("go-panic", "panic: assignment to entry in nil map [recovered]"),
        ("go-panic-verbose", "panic: assignment to entry in nil map [recovered]"),
        ("go-panic-json", "panic: assignment to entry in nil map [recovered]"),
        ("maven-configure", "'dependencies.dependency.version' for junit:junit:jar is missing."),
        ("maven-exit0", "The forked VM terminated without properly saying goodbye."),
        ("dotnet-default", "Expected: 3\nActual:   1"),
        ("swift-crash", "Fatal error: lost"),
        ("swift-default", 'XCTAssertEqual failed: ("1") is not equal to ("3")'),
        ("swift-testing", "Expectation failed: (total([1, 2]) → 1) == 3"),
    ],
)
def test_the_message_says_why(name: str, message: str) -> None:
    seen = recognize((HERE / f"{name}.txt").read_text())

    assert seen is not None
    assert seen.findings[0].message.startswith(message)


def test_every_capture_is_made_by_the_script_and_has_its_row() -> None:
    made = {f"{tool}-{style}" for tool, (_, styles) in PROJECTS.items() for style in styles}

    assert {path.stem for path in HERE.glob("*.txt")} == made == set(ROWS)


GRID = """\
          color     quiet     verbose   parallel  document  crash     compile   coverage  none
pytest    x         x         x         x         x         x         x         x         x
unittest  -         x         x         -         -         x         x         x         x
tox       x         x         x         x         -         -         -         -         x
nox       x         -         x         -         -         -         -         -         x
jest      x         x         x         x         x         x         x         x         x
vitest    x         x         x         x         x         x         x         x         x
mocha     x         x         x         x         x         x         x         x         x
node      x         x         x         x         x         x         x         x         -
tape      -         -         -         -         -         x         x         -         x
deno      x         x         -         x         x         x         x         -         x
bun       x         x         -         -         x         x         x         x         x
ava       x         -         x         x         x         x         x         -         x
jasmine   x         -         -         x         -         x         x         -         x
nodetap   -         -         -         -         x         x         x         -         -
go        -         x         x         x         x         x         x         -         x
cargo     x         x         x         x         -         x         x         -         x
ctest     -         x         x         x         x         x         x         -         x
gradle    x         x         x         -         -         x         x         -         x
kotlinc   -         -         -         -         -         -         -         -         -
bazel     x         -         x         -         -         -         x         -         x
maven     x         x         -         x         x         x         x         -         x
swift     -         -         -         x         x         x         x         -         x
dotnet    -         x         x         -         -         x         x         -         x
rspec     x         x         x         -         x         x         x         -         x
minitest  -         -         x         -         -         x         x         -         x
phpunit   x         -         x         -         x         x         x         -         x
busted    -         x         x         -         x         x         x         -         x
prove     x         x         x         x         -         x         x         -         x
"""
"""What was captured: an `x` means that at least one capture of the runner shows this style."""


def test_the_grid_of_runners_and_styles_is_as_it_was_captured() -> None:
    assert grid(PROJECTS) == GRID
