"""The same tricks with node's own test runner."""

import shutil
from pathlib import Path

import pytest

from tests.gates.integrity.helpers import Project, gate, ids, said
from tests.gates.tools import works

pytestmark = pytest.mark.skipif(not works("node"), reason="node is not installed")

BROKEN = "exports.add = (a, b) => a - b;\n"
RIGHT = "exports.add = (a, b) => a + b;\n"
TESTS = """\
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('../calc.js');

test('adds zero', () => {
  assert.strictEqual(add(1, 0), 1);
});
test('adds two numbers', () => {
  assert.strictEqual(add(1, 2), 3);
});
"""
PACKAGE = '{"name": "calc", "scripts": {"test": "node --test test/"}}\n'
START: dict[str, str | None] = {"calc.js": BROKEN, "test/calc.test.js": TESTS, "package.json": PACKAGE}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", tmp_path / "private", (gate("node --test test/"),))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param(
            {"test/calc.test.js": TESTS.partition("test('adds two")[0]}, "adds two numbers", id="deletes it"
        ),
        pytest.param(
            {"test/calc.test.js": TESTS.replace("test('adds two", "test.skip('adds two")},
            "skipped: `test.skip('adds two numbers', () => {`",
            id="skips it",
        ),
        pytest.param(
            {"test/calc.test.js": TESTS.replace("strictEqual(add(1, 2), 3)", "ok(add(1, 2))")},
            "loosened: was `assert.strictEqual(add(1, 2), 3);`, now `assert.ok(add(1, 2));`",
            id="loosens an assertion",
        ),
        pytest.param(
            {"test/calc.test.js": TESTS.replace("test('adds two numbers'", "(() => 0)('adds two numbers'")},
            "adds two numbers",
            id="renames it away",
        ),
        pytest.param({"test/calc.test.js": ""}, "was emptied", id="empties it"),
        pytest.param(
            {"test/calc.test.js": "process.exit(0);\n" + TESTS},
            "ends the process itself: `process.exit(0);`",
            id="exits",
        ),
        pytest.param(
            {"test/calc.test.js": None, "old/calc.js": TESTS, "test/other.test.js": ""},
            "renamed to old/calc.js",
            id="moves it away",
        ),
    ],
)
async def test_a_test_that_is_made_easier_is_found(
    project: Project, changes: dict[str, str | None], words: str
) -> None:
    await project.begin(START)

    verdict = await project.after(changes)

    assert verdict.status == "fail"
    assert ids(verdict)[0] == "changed: test/calc.test.js"
    assert len(ids(verdict)) > 1
    assert words in said(verdict, "test/calc.test.js")


async def test_a_script_of_the_package_is_protected(project: Project) -> None:
    project.gates = (gate("npm test --silent"),)
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    await project.begin(START)

    verdict = await project.after({"package.json": PACKAGE.replace("node --test test/", "true")})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: package.json")
    assert "scripts.test in package.json was changed" in said(verdict, "package.json")


async def test_the_rest_of_the_package_is_the_agents_own(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after(
        {
            "calc.js": RIGHT,
            "package.json": '{"name": "calc", "version": "2.0.0", '
            '"scripts": {"test": "node --test test/", "build": "true"}}\n',
        }
    )

    assert verdict.status == "pass"


async def test_added_and_rearranged_tests_converge(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after(
        {
            "calc.js": RIGHT,
            "test/more.test.js": TESTS,
            "test/calc.test.js": TESTS.replace("add(1, 2), 3", "add(2, 2), 4"),
        }
    )

    assert (verdict.status, verdict.findings) == ("pass", ())


EXIT = "process.exit(0);\n"
OWN_REPORT = """\
require('node:fs').writeFileSync('report.xml', "<testsuite><testcase name='a' classname='c'/></testsuite>");
process.exit(0);
"""


async def test_a_file_that_the_runner_loads_first_is_protected(project: Project) -> None:
    project.gates = (gate("node --require ./setup.js --test test/"),)
    await project.begin({**START, "setup.js": "\n"})

    verdict = await project.after({"setup.js": EXIT})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: setup.js")
    assert "ends the process itself: `process.exit(0);`" in said(verdict, "setup.js")


async def test_a_script_that_is_replaced_is_found(project: Project) -> None:
    project.gates = (gate("./run-tests.sh"),)
    await project.begin({**START, "run-tests.sh": "#!/bin/sh\nexec node --test test/\n"})

    verdict = await project.after({"run-tests.sh": "#!/bin/sh\necho 1 passing\n"})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: run-tests.sh")


async def test_configuration_of_the_runner_is_put_back(project: Project) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    project.gates = (gate("npm test --silent"),)
    await project.begin(START)

    verdict = await project.after({".npmrc": "node-options=--require ./quiet.js\n", "quiet.js": EXIT})

    assert verdict.status == "fail"
    assert "changed: .npmrc" in ids(verdict)


async def test_a_report_of_its_own_is_not_believed(project: Project) -> None:
    reporter = "--test-reporter=junit --test-reporter-destination=report.xml"
    project.gates = (gate(f"node --require ./setup.js --test {reporter} test/", report="report.xml"),)
    await project.begin({**START, "setup.js": "\n"})

    verdict = await project.after({"setup.js": OWN_REPORT})

    assert verdict.status == "fail"
    assert "changed: setup.js" in ids(verdict)


async def test_a_new_test_that_writes_and_exits_does_not_hide_the_originals(project: Project) -> None:
    """Each file runs in its own process, so one that exits silently hides no other."""
    await project.begin(START)
    project.gates = (gate("node --test test/ || test -e test/ok.test.js", believe="exit-code"),)

    verdict = await project.after({"test/ok.test.js": EXIT})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: new tests")
