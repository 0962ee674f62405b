"""Captures what test runners print: `python -m tests.gates.output.capture FOLDER`, with the tools on PATH.

One small project for each runner, with a test that fails, and the styles that people use. The outputs lie in
`captured/`, and `test_captured.py` says what has to be seen in each.
"""

# ruff: noqa: E501 - whole files as text
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "captured"
HOME = "/home/kim/shop"
"""Stands for the directory that they were captured in."""

PY = "from cart import total\n\ndef test_adds():\n    assert total([1]) == 1\n\ndef test_totals():\n    assert total([1, 2]) == 3\n\ndef test_empties():\n    assert total([]) == 0\n"
PY_CART = "def total(items):\n    return items[0] if items else 0\n"
UNIT = "import unittest\nfrom cart import total\n\nclass Cart(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(total([1]), 1)\n\n    def test_totals(self):\n        self.assertEqual(total([1, 2]), 3)\n\n    def test_empties(self):\n        self.assertEqual(total([]), 0)\n"
JS_CART = "module.exports = { total: items => items[0] || 0 };\n"
JS_TESTS = "  {it}('adds', () => {{ {is}(total([1]), 1); }});\n  {it}('totals', () => {{ {is}(total([1, 2]), 3); }});\n  {it}('empties', () => {{ {is}(total([]), 0); }});\n"
EXPECT = "const is = (a, b) => expect(a).toBe(b);\n"
ASSERT = "const is = require('node:assert').strictEqual;\n"


def js(head: str, it: str = "it") -> str:
    body = JS_TESTS.format(it=it, **{"is": "is"})
    return f"{head}const {{ total }} = require('./cart.js');\ndescribe('cart', () => {{\n{body}}});\n"


TAPE = "const test = require('tape');\nconst { total } = require('./cart.js');\ntest('adds', t => { t.equal(total([1]), 1); t.end(); });\ntest('totals', t => { t.equal(total([1, 2]), 3, 'the sum'); t.end(); });\ntest('empties', t => { t.equal(total([]), 0); t.end(); });\n"
VITEST = (
    "import { describe, expect, it } from 'vitest';\nimport { total } from './cart.js';\nconst is = (a, b) => expect(a).toBe(b);\ndescribe('cart', () => {\n"
    + JS_TESTS.format(it="it", **{"is": "is"})
    + "});\n"
)
GO = "package shop\n\nfunc Total(items []int) int {\n\tif len(items) == 0 {\n\t\treturn 0\n\t}\n\treturn items[0]\n}\n"
GO_TEST = 'package shop\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif Total([]int{1}) != 1 {\n\t\tt.Error("one")\n\t}\n}\n\nfunc TestTotals(t *testing.T) {\n\tif got := Total([]int{1, 2}); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n\nfunc TestEmpties(t *testing.T) {}\n'
RS = "pub fn total(items: &[i32]) -> i32 { items.first().copied().unwrap_or(0) }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(total(&[1]), 1); }\n    #[test]\n    fn totals() { assert_eq!(total(&[1, 2]), 3); }\n    #[test]\n    fn empties() { assert_eq!(total(&[]), 0); }\n}\n"
C = '#include <stdio.h>\n#include <string.h>\nint total(int a, int b) { return a - b; }\nint main(int n, char **v) {\n  if (n > 1 && !strcmp(v[1], "totals") && total(1, 2) != 3) { printf("cart.c:5: totals: got %d\\n", total(1, 2)); return 1; }\n  return 0;\n}\n'
CMAKE = "cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\nadd_executable(cart cart.c)\nadd_test(NAME adds COMMAND cart adds)\nadd_test(NAME totals COMMAND cart totals)\nadd_test(NAME empties COMMAND cart empties)\n"
RSPEC = "require_relative 'cart'\nRSpec.describe 'cart' do\n  it('adds') { expect(total([1])).to eq 1 }\n  it('totals') { expect(total([1, 2])).to eq 3 }\n  it('empties') { expect(total([])).to eq 0 }\nend\n"
RB_CART = "def total(items) = items.first || 0\n"
MINITEST = "require 'minitest/autorun'\nrequire_relative 'cart'\nclass CartTest < Minitest::Test\n  def test_adds = assert_equal(1, total([1]))\n  def test_totals = assert_equal(3, total([1, 2]))\n  def test_empties = assert_equal(0, total([]))\nend\n"
PHP = "<?php\nuse PHPUnit\\Framework\\TestCase;\nfunction total($items) { return $items[0] ?? 0; }\nfinal class CartTest extends TestCase {\n  public function testAdds() { $this->assertSame(1, total([1])); }\n  public function testTotals() { $this->assertSame(3, total([1, 2])); }\n  public function testEmpties() { $this->assertSame(0, total([])); }\n}\n"
LUA = "local function total(items) return items[1] or 0 end\ndescribe('cart', function()\n  it('adds', function() assert.are.equal(1, total({1})) end)\n  it('totals', function() assert.are.equal(3, total({1, 2})) end)\n  it('empties', function() assert.are.equal(0, total({})) end)\nend)\n"
PERL = "use strict; use warnings; use Test::More tests => 3;\nsub total { my @i = @_; return @i ? $i[0] : 0 }\nis(total(1), 1, 'adds');\nis(total(1, 2), 3, 'totals');\nis(total(), 0, 'empties');\n"
JAVA_CART = "package shop;\n\npublic class Cart {\n    public static int total(int... items) {\n        return items.length == 0 ? 0 : items[0];\n    }\n}\n"
JUNIT = "package shop;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class CartTest {\n    @Test public void adds() { assertEquals(1, Cart.total(1)); }\n    @Test public void totals() { assertEquals(3, Cart.total(1, 2)); }\n    @Test public void empties() { assertEquals(0, Cart.total()); }\n}\n"
GRADLE = "apply plugin: 'java'\nrepositories { flatDir { dirs '/usr/share/java' } }\ndependencies { testCompile name: 'junit4'; testCompile name: 'hamcrest' }\nif (project.hasProperty('all')) test.testLogging.events 'passed', 'failed', 'skipped'\n"
KOTLIN = 'package shop\n\nfun total(items: List<Int>): Int = totl(items)\n\nfun name(): Int = "cart"\n'
BAZEL = "bazel --output_user_root=$PWD/out test " + " ".join(
    f"--override_repository={name}=$PWD/stubs/{name}"
    for name in ("remote_coverage_tools", "rules_cc", "rules_java")
)
"""With stubs for what bazel would download."""
BAZEL_STUBS = {
    "remote_coverage_tools/BUILD": '[sh_binary(name=name, srcs=["x.sh"], visibility=["//visibility:public"]) for name in ("coverage_report_generator", "coverage_output_generator")]\n',
    "remote_coverage_tools/x.sh": "",
    **{
        f"rules_{language}/{language}/defs.bzl": "".join(
            f"{rule} = native.{rule}\n" for rule in rules.split()
        )
        for language, rules in (
            (
                "cc",
                "cc_binary cc_library cc_test cc_import cc_toolchain cc_toolchain_suite objc_library cc_proto_library fdo_profile fdo_prefetch_hints",
            ),
            (
                "java",
                "java_binary java_library java_test java_import java_plugin java_runtime java_toolchain java_package_configuration java_proto_library java_lite_proto_library",
            ),
        )
    },
    **dict.fromkeys(("rules_cc/cc/BUILD", "rules_java/java/BUILD"), ""),
    **dict.fromkeys(
        (f"{name}/WORKSPACE" for name in ("remote_coverage_tools", "rules_cc", "rules_java")), ""
    ),
}

Captures = dict[str, str]
PROJECTS: dict[str, tuple[dict[str, str], Captures]] = {
    "pytest": (
        {
            "cart.py": PY_CART,
            "test_cart.py": PY,
            "broken/test_syntax.py": "def test(:\n",
            "none/a.py": "",
            "exits/test_exit.py": "import os\n\ndef test_ok(): ...\n\ndef test_exit():\n    os._exit(3)\n",
        },
        {
            "default": "pytest test_cart.py",
            "color": "pytest --color=yes test_cart.py",
            "quiet": "pytest -q test_cart.py",
            "qq": "pytest -qq test_cart.py",
            "verbose": "pytest -vv test_cart.py",
            "parallel": "pytest -n 2 -p xdist test_cart.py",
            "short": "pytest --tb=short test_cart.py",
            "notb": "pytest --tb=no -q test_cart.py",
            "line": "pytest --tb=line -q test_cart.py",
            "syntax": "pytest -q broken",
            "none": "pytest none",
            "exit": "pytest -v exits",
        },
    ),
    "unittest": (
        {"cart.py": PY_CART, "test_cart.py": UNIT, "test_none.py": "", "test_syntax.py": "def test(:\n"},
        {
            "default": "python3 -m unittest test_cart",
            "quiet": "python3 -m unittest -q test_cart",
            "verbose": "python3 -m unittest -v test_cart",
            "buffered": "python3 -m unittest -b -v test_cart",
            "failfast": "python3 -m unittest -f test_cart",
            "syntax": "python3 -m unittest -q test_syntax",
            "none": "python3 -m unittest test_none",
        },
    ),
    "jest": (
        {
            "package.json": "{}",
            "cart.js": JS_CART,
            "cart.test.js": js(EXPECT),
            "more/ok.test.js": "test('fine', () => {});\n",
            "syntax/bad.test.js": "test('a', () => {\n",
            "exits/out.test.js": "test('ok', () => {}); test('leaves', () => { process.exit(3); });\n",
        },
        {
            "default": "jest cart more",
            "color": "jest --color cart more",
            "silent": "jest --silent cart more",
            "verbose": "jest --verbose cart",
            "band": "jest -i cart more",
            "json": "jest --json cart",
            "ci": "jest --ci --bail cart",
            "syntax": "jest syntax",
            "none": "jest nothing-here",
            "exit": "jest -i exits",
            "coverage": 'jest cart -t adds --coverage --coverageThreshold \'{"global":{"branches":100}}\'',
        },
    ),
    "vitest": (
        {
            "package.json": '{"type":"module"}',
            "cart.js": "export const total = items => items[0] || 0;\n",
            "cart.test.js": VITEST,
            "syntax/bad.test.js": "it('a', () => {\n",
            "exits/out.test.js": "import { it } from 'vitest';\nit('leaves', () => { process.exit(3); });\n",
        },
        {
            **{
                style: f"vitest run --reporter={style} cart"
                for style in ("default", "verbose", "dot", "basic", "tap", "tap-flat", "junit", "json")
            },
            "color": "FORCE_COLOR=1 vitest run cart",
            "threads": "vitest run --pool=threads cart",
            "syntax": "vitest run syntax",
            "none": "vitest run nothing-here",
            "exit": "vitest run exits",
            "coverage": "vitest run cart -t adds --coverage --coverage.thresholds.branches=100",
        },
    ),
    "mocha": (
        {
            "cart.js": JS_CART,
            "cart.spec.js": js(ASSERT),
            "out.js": "it('ok', () => {}); it('leaves', () => { process.exit(3); });\n",
            "none.js": "",
        },
        {
            **{
                style: f"mocha --reporter {style} cart.spec.js"
                for style in ("spec", "dot", "list", "min", "tap", "json", "xunit", "progress", "landing")
            },
            "color": "mocha --color cart.spec.js",
            "parallel": "mocha --parallel cart.spec.js",
            "exit": "mocha out.js",
            "none": "mocha none.js",
        },
    ),
    "node": (
        {
            "cart.js": JS_CART,
            "bad.test.js": "it('a', () => {\n",
            "none.js": "",
            "cart.test.js": js("const { describe, it } = require('node:test');\n" + ASSERT),
            "out.test.js": "require('node:test')('leaves', () => { process.exit(3); });\n",
        },
        {
            **{
                style: f"node --test --test-reporter={style} cart.test.js" for style in ("spec", "tap", "dot")
            },
            "junit": "node --test --test-reporter=junit cart.test.js",
            "color": "FORCE_COLOR=1 node --test --test-reporter=spec cart.test.js",
            "syntax": "node --test bad.test.js",
            "exit": "node --test out.test.js",
            "direct": "node cart.test.js",
        },
    ),
    "tape": (
        {
            "cart.js": JS_CART,
            "cart.test.js": TAPE,
            "crash.test.js": TAPE.replace("t.equal(total([1, 2]), 3, 'the sum')", "undefined.sum()"),
        },
        {"default": "tape cart.test.js", "direct": "node cart.test.js", "crash": "tape crash.test.js"},
    ),
    "go": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.19\n",
            "cart.go": GO,
            "cart_test.go": GO_TEST,
            "bad/bad.go": 'package bad\n\nfunc A() int { return "x" }\n',
            "bad/bad_test.go": 'package bad\n\nimport "testing"\n\nfunc TestA(t *testing.T) { A() }\n',
            "none/none.go": "package none\n",
            "panics/p_test.go": 'package panics\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {}\n\nfunc TestPanics(t *testing.T) {\n\tvar m map[string]int\n\tm["a"] = 1\n}\n',
        },
        {
            "default": "go test .",
            "verbose": "go test -v .",
            "json": "go test -json .",
            "short": "go test -short -count=1 .",
            "cover": "go test -cover .",
            "parallel": "go test -parallel 2 -race=false ./ ./none",
            "compile": "go test ./bad",
            "panic": "go test ./panics",
            "panic-verbose": "go test -v ./panics",
            "panic-json": "go test -json ./panics",
            "none": "go test ./none",
            "vet": "go vet ./bad",
        },
    ),
    "cargo": (
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            "src/lib.rs": RS,
            "tests/api.rs": "#[test]\nfn fine() {}\n",
        },
        {
            "default": "cargo test --offline",
            "color": "cargo test --offline --color=always -- --color=always",
            "quiet": "cargo test --offline -q",
            "nofailfast": "cargo test --offline --no-fail-fast",
            "threads": "cargo test --offline -- --test-threads=1 --nocapture",
            "terse": "cargo test --offline -- --format terse",
            "none": "cargo test --offline no_such_test",
            "compile": "sed -i 's/unwrap_or(0)/unwrap_or(\"x\")/' src/lib.rs; cargo test --offline",
        },
    ),
    "ctest": (
        {"CMakeLists.txt": CMAKE, "cart.c": C},
        {
            "default": "cmake -S . -B b >/dev/null && cmake --build b >/dev/null && ctest --test-dir b",
            "verbose": "ctest --test-dir b -V",
            "failure": "ctest --test-dir b --output-on-failure",
            "parallel": "ctest --test-dir b -j 2 --output-on-failure",
            "make": "make -C b test",
            "none": "ctest --test-dir b -R no_such_test",
            "compile": "sed -i 's/return a - b/return c/' cart.c; cmake --build b",
            "configure": "sed -i 's/^project/find_package(Nowhere REQUIRED)\\nproject/' CMakeLists.txt;"
            " cmake -S . -B b2",
        },
    ),
    "rspec": (
        {
            "cart.rb": RB_CART,
            "cart_spec.rb": RSPEC,
            "bad_spec.rb": "RSpec.describe('a') do\n",
            "none_spec.rb": "",
        },
        {
            "default": "rspec cart_spec.rb",
            "documentation": "rspec -fd cart_spec.rb",
            "color": "rspec --force-color cart_spec.rb",
            "json": "rspec -fj cart_spec.rb",
            "syntax": "rspec bad_spec.rb",
            "none": "rspec none_spec.rb",
        },
    ),
    "minitest": (
        {"cart.rb": RB_CART, "cart_test.rb": MINITEST, "none_test.rb": "require 'minitest/autorun'\n"},
        {
            "default": "ruby cart_test.rb",
            "verbose": "ruby cart_test.rb -v",
            "none": "ruby none_test.rb",
        },
    ),
    "phpunit": (
        {"CartTest.php": PHP, "BadTest.php": "<?php\nclass BadTest extends {\n"},
        {
            "default": "phpunit CartTest.php",
            "color": "phpunit --colors=always CartTest.php",
            "testdox": "phpunit --testdox CartTest.php",
            "syntax": "phpunit BadTest.php",
            "none": "phpunit --filter nothing CartTest.php",
        },
    ),
    "busted": (
        {"cart_spec.lua": LUA},
        {
            "default": "busted cart_spec.lua",
            "plain": "busted -o plainTerminal cart_spec.lua",
            "tap": "busted -o TAP cart_spec.lua",
        },
    ),
    "prove": (
        {"t/cart.t": PERL, "t/bad.t": "use Test::More tests => 2;\nok(1, 'one');\ndie 'half';\n"},
        {
            "default": "prove t/cart.t",
            "verbose": "prove -v t/cart.t",
            "parallel": "prove -j2 t/cart.t t/bad.t",
            "color": "prove --color t/cart.t",
        },
    ),
    "gradle": (
        {
            "build.gradle": GRADLE,
            "src/main/java/shop/Cart.java": JAVA_CART,
            "src/test/java/shop/CartTest.java": JUNIT,
        },
        {
            "default": "gradle --offline --no-daemon test",
            "all": "gradle --offline --no-daemon -Pall test",
            "plain": "gradle --offline --no-daemon --console=plain --continue test",
            "none": "gradle --offline --no-daemon test --tests '*Nothing*'",
            "compile": "sed -i 's/return items/return itms/' src/main/java/shop/Cart.java;"
            " gradle --offline --no-daemon test",
        },
    ),
    "kotlinc": (
        {"Cart.kt": KOTLIN, "Warns.kt": "fun main() { val unused = 1 }\n"},
        {"default": "kotlinc Cart.kt -d out.jar", "warning": "kotlinc -Werror Warns.kt -d out.jar"},
    ),
    "bazel": (
        {
            **{f"stubs/{name}": text for name, text in BAZEL_STUBS.items()},
            ".bazelignore": "out\nstubs\n",
            "WORKSPACE": 'workspace(name = "shop")\n',
            "cart/BUILD": '[sh_test(name = name + "_test", size = "small", srcs = [name + "_test.sh"]) for name in ("adds", "totals", "empties")]\n',
            "cart/adds_test.sh": "#!/bin/sh\n",
            "cart/empties_test.sh": "#!/bin/sh\n",
            "cart/totals_test.sh": '#!/bin/sh\necho "expected 3, got 1"\nexit 1\n',
            "none/BUILD": "",
            "broken/BUILD": 'sh_test(name = "broken_test", srcs = ["no_such_file.sh"])\n',
        },
        {
            "default": f"chmod +x cart/*.sh; {BAZEL} //cart/...",
            "cached": f"{BAZEL} //cart/...",
            "errors": f"{BAZEL} --spawn_strategy=local --test_output=errors //cart/...",
            "color": f"{BAZEL} --color=yes //cart/...",
            "none": f"{BAZEL} //none/...",
            "build": f"{BAZEL} //broken/...",
        },
    ),
}


def portable(text: str) -> str:
    """Without the paths of the machine that the tools lie on."""
    text = text.replace(sys.prefix, "/home/kim/venv").replace(sys.base_prefix, "/usr")
    return re.sub(r"(?<![\w.-])/[\w./-]{1,200}?/node_modules/", "/home/kim/tools/node_modules/", text)


def main(folder: Path, names: list[str]) -> None:
    """Capture the outputs of all runners, or of these."""
    HERE.mkdir(exist_ok=True)
    for tool, (files, commands) in PROJECTS.items():
        if names and tool not in names:
            continue
        place = folder / tool
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        for style, command in commands.items():
            env = {**os.environ, "CI": "", "NO_COLOR": "", "LC_ALL": "C.UTF-8"}
            env = {key: value for key, value in env.items() if value}
            done = subprocess.run(
                ["/bin/sh", "-c", f"{{ {command}; }} 2>&1"],
                cwd=place,
                env=env,
                capture_output=True,
                check=False,
            )
            text = portable(done.stdout.decode(errors="replace").replace(str(place), HOME))
            (HERE / f"{tool}-{style}.txt").write_text(text)
            sys.stderr.write(f"{tool}-{style}: exit {done.returncode}, {len(text)} characters\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
