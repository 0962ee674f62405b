"""The same tricks with cargo, whose tests are next to the code or inside it."""

from pathlib import Path

import pytest

from tests.gates.integrity.helpers import Project, gate, ids, said
from tests.gates.tools import works

pytestmark = pytest.mark.skipif(not works("cargo"), reason="cargo is not installed")

CARGO = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
BROKEN = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"
RIGHT = BROKEN.replace("a - b", "a + b")
INSIDE = """\

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_zero() {
        assert_eq!(add(1, 0), 1, "}} is no end");
    }

    #[test]
    fn adds_two() {
        assert_eq!(add(1, 2), 3);
    }
}
"""
BESIDE = "use calc::add;\n\n#[test]\nfn adds_more() {\n    assert_eq!(add(2, 2), 4);\n}\n"
ZERO = BESIDE.replace("add(2, 2), 4", "add(0, 0), 0")
START: dict[str, str | None] = {"Cargo.toml": CARGO, ".gitignore": "target/\nCargo.lock\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project", tmp_path / "private", (gate("cargo test --offline --quiet"),))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param(
            INSIDE.replace("#[test]\n    fn adds_two", "#[test]\n    #[ignore]\n    fn adds_two"),
            "skipped: `#[ignore]`",
            id="ignores it",
        ),
        pytest.param(INSIDE.replace("assert_eq!(add(1, 2), 3)", "assert!(add(1, 2) < 9)"), "loosened"),
        pytest.param("", "tests: adds_zero, adds_two", id="removes them all"),
    ],
)
async def test_a_test_inside_of_the_code_that_is_made_easier_is_found(
    project: Project, changed: str, words: str
) -> None:
    await project.begin({**START, "src/lib.rs": BROKEN + INSIDE, "tests/zero.rs": ZERO})

    verdict = await project.after({"src/lib.rs": BROKEN + changed})

    assert verdict.status == "fail"
    assert ids(verdict)[0] == "changed: src/lib.rs"
    assert any("adds_two" in each for each in ids(verdict)[1:])
    assert "mod tests in src/lib.rs was changed" in said(verdict, "src/lib.rs")
    assert words in said(verdict, "src/lib.rs")


async def test_a_test_next_to_the_code_that_is_made_easier_is_found(project: Project) -> None:
    await project.begin({**START, "src/lib.rs": BROKEN, "tests/more.rs": BESIDE})

    verdict = await project.after({"tests/more.rs": BESIDE.replace("4", "0")})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: tests/more.rs")


async def test_a_manifest_that_switches_a_test_off_is_put_back(project: Project) -> None:
    await project.begin({**START, "src/lib.rs": BROKEN, "tests/more.rs": BESIDE, "tests/zero.rs": ZERO})

    verdict = await project.after({"Cargo.toml": f'{CARGO}\n[[test]]\nname = "more"\ntest = false\n'})

    assert (verdict.status, ids(verdict)[0]) == ("fail", "changed: Cargo.toml")


async def test_fixed_code_and_more_tests_inside_converge(project: Project) -> None:
    await project.begin({**START, "src/lib.rs": BROKEN + INSIDE})
    more = INSIDE.rstrip().removesuffix("}") + "\n    #[test]\n    fn adds_none() {}\n}\n"

    verdict = await project.after({"src/lib.rs": RIGHT + more})

    assert (verdict.status, verdict.findings) == ("pass", ())


async def test_code_without_its_tests_is_the_agents_own(project: Project) -> None:
    await project.begin({**START, "src/lib.rs": BROKEN + INSIDE})

    verdict = await project.after({"src/lib.rs": RIGHT + INSIDE})

    assert verdict.status == "pass"
    assert not project.output.exists()
