"""The tools themselves, if they are installed: what is read from what they print today."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.gates.tools import works
from untilgreen.core.values.model import Verdict
from untilgreen.gates.command import CommandGate
from untilgreen.ports import CheckContext

pytestmark = pytest.mark.anyio

MODULE = "module calc\n\ngo 1.20\n"
CALC_GO = "package calc\n\nfunc Add(a, b int) int { return a - b }\n"
CALC_TEST_GO = """\
package calc

import "testing"

func TestSum(t *testing.T) {
	t.Run("one/two", func(t *testing.T) { t.Errorf("got %d", Add(1, 2)) })
}

func TestOk(t *testing.T) {}
"""
CARGO = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
LIB_RS = """\
#[cfg(test)]
mod tests {
    #[test]
    fn good() {}
    #[test]
    fn bad() {
        assert_eq!(1 + 1, 3, "sums");
    }
}
"""
NODE = """\
const { test, describe } = require('node:test');
describe('cart', () => {
  test('adds', () => { throw new Error('no sum'); });
  test('stays', () => {});
});
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project(x NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME bad COMMAND false)
"""


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if not works(program)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def in_this_environment(tool: str) -> str:
    """The command of a tool in the environment that the tests run in."""
    if shutil.which(tool, path=str(Path(sys.executable).parent)) is None:
        pytest.skip(f"{tool} is not installed")
    return f"'{sys.executable}' -m {tool}"


async def verdict(context: CheckContext, command: str, **files: str) -> Verdict:
    for name, text in files.items():
        path = context.root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return await CommandGate(command).check(context)


def ids(found: Verdict) -> list[str]:
    return [finding.id for finding in found.findings]


@pytest.mark.parametrize("style", ["full", "concise", "json"])
async def test_ruff(context: CheckContext, style: str) -> None:
    ruff = in_this_environment("ruff")
    command = f"{ruff} check --isolated --no-cache --output-format={style}"

    found = await verdict(context, command, src__a_dot_py="import os\n")

    assert (found.status, found.findings[0].line) == ("fail", 1)
    assert ids(found) == ["src/a.py: F401 `os` imported but unused"]


@pytest.mark.parametrize("options", ["", "--pretty", "--show-column-numbers --no-error-summary"])
async def test_mypy(context: CheckContext, options: str) -> None:
    mypy = in_this_environment("mypy")
    command = f"{mypy} --cache-dir=/dev/null --config-file= {options} a.py"

    found = await verdict(context, command, a_dot_py="def f() -> int:\n    return 'x'\n")

    said = 'a.py: error: incompatible return value type (got "str", expected "int")'
    assert (found.status, [each.partition(" [")[0] for each in ids(found)]) == ("fail", [said])


@needs("gcc")
@pytest.mark.parametrize("options", ["", "-fdiagnostics-color=always", "-Wall"])
async def test_gcc(context: CheckContext, options: str) -> None:
    found = await verdict(
        context, f"LC_ALL=C gcc {options} -c a.c", a_dot_c="int main(void) {\n  return y;\n}\n"
    )

    assert ids(found) == ["a.c: error: 'y' undeclared (first use in this function)"]
    assert found.findings[0].line == 2


@needs("go")
@pytest.mark.parametrize("options", ["", "-v", "-json"])
async def test_go(context: CheckContext, options: str) -> None:
    files = {"go_dot_mod": MODULE, "calc_dot_go": CALC_GO, "calc_test_dot_go": CALC_TEST_GO}

    found = await verdict(context, f"go test {options} ./...", **files)

    assert (found.status, ids(found)) == ("fail", ["calc.TestSum/one/two"])
    assert found.findings[0].message == "calc_test.go:6: got -1"


@needs("go")
async def test_go_without_tests_is_red(context: CheckContext) -> None:
    found = await verdict(context, "go test ./...", go_dot_mod=MODULE, calc_dot_go=CALC_GO)

    assert (found.status, ids(found)) == ("fail", ["no-tests"])


@needs("cargo")
async def test_cargo(context: CheckContext) -> None:
    found = await verdict(context, "cargo test --offline", Cargo_dot_toml=CARGO, src__lib_dot_rs=LIB_RS)

    assert (found.status, found.score, ids(found)) == ("fail", 0.5, ["src/lib.rs: tests::bad"])
    none = await verdict(context, "cargo test --offline no_such_test")
    assert (none.status, ids(none)) == ("fail", ["no-tests"])


@needs("node")
@pytest.mark.parametrize("reporter", ["spec", "tap"])
async def test_node(context: CheckContext, reporter: str) -> None:
    found = await verdict(
        context, f"node --test --test-reporter={reporter} a.test.js", a_dot_test_dot_js=NODE
    )

    assert found.status == "fail"
    assert any("adds" in each for each in ids(found))
    assert not any("stays" in each for each in ids(found))


@needs("node")
async def test_node_without_tests_is_red(context: CheckContext) -> None:
    found = await verdict(context, "node --test", src__a_dot_js="1;\n")

    assert (found.status, ids(found)) == ("fail", ["no-tests"])


@needs("ctest", "cmake")
@pytest.mark.parametrize("options", ["", "-V", "-j 2 --output-on-failure"])
async def test_ctest(context: CheckContext, options: str) -> None:
    command = f"cmake -S . -B b > cmake.log && cd b && ctest {options}"

    found = await verdict(context, command, CMakeLists_dot_txt=CMAKE)

    assert (found.status, found.score, ids(found)) == ("fail", 0.5, ["bad"])
    none = await verdict(context, "cd b && ctest -R no-such-test")
    assert (none.status, ids(none)) == ("fail", ["no-tests"])


@needs("jest")
async def test_jest(context: CheckContext) -> None:
    text = "describe('cart', () => { test('adds', () => { expect(1).toBe(2) }); test('ok', () => {}) })\n"
    found = await verdict(context, "jest", package_dot_json="{}", a_dot_test_dot_js=text)

    assert (found.score, ids(found)) == (0.5, ["a.test.js: cart › adds"])
    none = await verdict(context, "jest --passWithNoTests no-such-file")
    assert (none.status, ids(none)) == ("fail", ["no-tests"])


@needs("vitest")
async def test_vitest(context: CheckContext) -> None:
    text = "describe('cart', () => { it('adds', () => { expect(1).toBe(2) }); it('ok', () => {}) })\n"
    found = await verdict(context, "vitest run --globals", package_dot_json="{}", a_dot_test_dot_js=text)

    assert (found.score, ids(found)) == (0.5, ["a.test.js > cart > adds"])
    none = await verdict(context, "vitest run --passWithNoTests no-such-file")
    assert (none.status, ids(none)) == ("fail", ["no-tests"])


@needs("mocha")
@pytest.mark.parametrize("reporter", ["spec", "dot", "tap"])
async def test_mocha(context: CheckContext, reporter: str) -> None:
    text = "describe('cart', () => { it('adds', () => { throw Error('no') }); it('ok', () => {}) })\n"
    found = await verdict(context, f"mocha --reporter {reporter} a.js", a_dot_js=text)

    assert found.score == 0.5
    assert len(ids(found)) == 1
    assert "adds" in ids(found)[0]


@needs("tsc")
@pytest.mark.parametrize("options", ["", "--pretty"])
async def test_tsc(context: CheckContext, options: str) -> None:
    found = await verdict(context, f"tsc --noEmit {options} a.ts", a_dot_ts="const a: number = 'x';\n")

    assert ids(found) == ["a.ts: TS2322 type 'string' is not assignable to type 'number'."]


@needs("eslint")
@pytest.mark.parametrize("style", ["stylish", "json"])
async def test_eslint(context: CheckContext, style: str) -> None:
    config = 'export default [{ rules: { "no-undef": 2 } }];\n'
    found = await verdict(
        context, f"eslint -f {style} a.js", eslint_dot_config_dot_mjs=config, a_dot_js="b();\n"
    )

    assert [each.rstrip(".") for each in ids(found)] == ["a.js: no-undef 'b' is not defined"]
