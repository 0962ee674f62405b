"""The same tricks with go test."""

from pathlib import Path

import pytest

from tests.gates.integrity.helpers import Project, gate, ids, said
from tests.gates.tools import works

pytestmark = pytest.mark.skipif(not works("go"), reason="go is not installed")

BROKEN = "package calc\n\nfunc Add(a, b int) int { return a - b }\n"
RIGHT = BROKEN.replace("a - b", "a + b")
TESTS = """\
package calc

import "testing"

func TestZero(t *testing.T) {
	if Add(1, 0) != 1 {
		t.Error("zero")
	}
}

func TestTwo(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Errorf("1 + 2 is %d", Add(1, 2))
	}
}
"""
EXITS = 'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n'
START: dict[str, str | None] = {
    "go.mod": "module calc\n\ngo 1.20\n",
    "calc.go": BROKEN,
    "calc_test.go": TESTS,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", tmp_path / "private", (gate("go test ./..."),))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"calc_test.go": TESTS.partition("func TestTwo")[0]}, "TestTwo", id="deletes it"),
        pytest.param(
            {"calc_test.go": TESTS.replace("func TestTwo", "func checkTwo")}, "TestTwo", id="renames it"
        ),
        pytest.param(
            {"calc_test.go": TESTS.replace("\tif Add(1, 2)", '\tt.Skip("later")\n\tif Add(1, 2)')},
            'skipped: `t.Skip("later")`',
            id="skips it",
        ),
        pytest.param(
            {"calc_test.go": TESTS.replace("Add(1, 2) != 3", "Add(1, 2) > 3")},
            "was `if Add(1, 2) != 3 {`",
            id="loosens it",
        ),
        pytest.param(
            {"calc_test.go": None, "old/calc.txt": TESTS, "x_test.go": TESTS.partition("func TestTwo")[0]},
            "renamed to",
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
    assert ids(verdict)[0] == "changed: calc_test.go"
    assert any("TestTwo" in each for each in ids(verdict)[1:])
    assert words in said(verdict, "calc_test.go")


async def test_a_new_main_of_the_tests_does_not_silence_the_originals(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after({"main_test.go": EXITS})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: new tests")
    assert "main_test.go" in verdict.findings[0].message


async def test_fixed_code_and_added_tests_converge(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after(
        {"calc.go": RIGHT, "more_test.go": TESTS.replace("func Test", "func TestMore")}
    )

    assert (verdict.status, verdict.findings) == ("pass", ())
