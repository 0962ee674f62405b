"""An agent that does the work may add tests and rearrange them, as long as the originals stay green."""

from pathlib import Path

import pytest

from tests.gates.integrity.helpers import Project, gate, ids
from tests.gates.integrity.test_weakened_pytest import BROKEN, EXIT, FAILS, HALF, RIGHT, START, TESTS

HELPERS = "def check(real, wanted):\n    assert real == wanted\n"
HELPED = TESTS.replace("from calc", "from helpers import check\nfrom calc").replace(
    "assert add(1, 2) == 3", "check(add(1, 2), 3)"
)


@pytest.fixture
def project(tmp_path: Path, real_pytest: str) -> Project:
    return Project(tmp_path / "project", tmp_path / "private", (gate(f"{real_pytest} -q tests"),))


async def test_a_tree_without_a_protected_change_passes_at_once(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after({"calc.py": RIGHT, "docs.md": "new\n"})

    assert verdict.status == "pass"
    assert not project.output.exists()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tests/test_more.py": TESTS.replace("(1, 2) == 3", "(2, 2) == 4")}, id="adds tests"),
        pytest.param(
            {"tests/test_calc.py": TESTS + "\n\ndef test_new():\n    assert True\n"}, id="adds a test"
        ),
        pytest.param({"tests/test_calc.py": HELPED, "tests/helpers.py": HELPERS}, id="makes a helper"),
        pytest.param({"tests/test_calc.py": None, "tests/unit/test_sums.py": TESTS}, id="moves tests"),
        pytest.param({"tests/test_calc.py": HALF}, id="removes a test that would pass"),
        pytest.param({"tests/conftest.py": "import pytest\n"}, id="adds a conftest"),
        pytest.param(
            {"tests/test_exit.py": "import os\n\n\ndef test_there_is_an_end():\n    assert os._exit\n"},
            id="tests that something exits",
        ),
    ],
)
async def test_originals_that_stay_green_are_enough(project: Project, changes: dict[str, str | None]) -> None:
    await project.begin(START)

    verdict = await project.after({"calc.py": RIGHT, **changes})

    assert (verdict.status, verdict.findings) == ("pass", ())


async def test_a_new_test_may_use_a_helper_that_was_changed(project: Project) -> None:
    await project.begin({**START, "tests/test_calc.py": HELPED, "tests/helpers.py": HELPERS})

    verdict = await project.after(
        {
            "calc.py": RIGHT,
            "tests/helpers.py": HELPERS + "\n\ndef near(real, wanted):\n    assert abs(real - wanted) < 1\n",
            "tests/test_near.py": "from helpers import near\n\n\ndef test_near():\n    near(1, 1.5)\n",
        }
    )

    assert (verdict.status, verdict.findings) == ("pass", ())


async def test_a_gate_may_need_the_new_tests(project: Project, real_pytest: str) -> None:
    """A gate with a coverage threshold, for example, may be red without them."""
    project.gates = (gate(f"{real_pytest} -q tests && test $(ls tests | grep -c test_) = 2"),)
    await project.begin(START)

    verdict = await project.after({"calc.py": RIGHT, "tests/test_new.py": HALF})

    assert (verdict.status, verdict.findings) == ("pass", ())


async def test_tests_and_configuration_of_a_project_that_had_none_weaken_nothing(project: Project) -> None:
    await project.begin({"README.md": "nothing yet\n", "pyproject.toml": "[project]\nname = 'calc'\n"})

    verdict = await project.after(
        {
            "src/calc.py": RIGHT,
            "tests/test_calc.py": TESTS,
            "pyproject.toml": "[project]\nname = 'calc'\n[tool.pytest.ini_options]\npythonpath = 'src'\n",
        }
    )

    assert verdict.status == "pass"


async def test_product_parts_of_a_configuration_file_are_the_agents_own(project: Project) -> None:
    tools = "[tool.pytest.ini_options]\naddopts = '-q'\n"
    await project.begin({**START, "pyproject.toml": f"[project]\nname = 'a'\n{tools}"})

    verdict = await project.after({"pyproject.toml": f"[project]\nname = 'b'\n{tools}", "calc.py": RIGHT})

    assert verdict.status == "pass"
    assert not project.output.exists()


async def test_a_path_that_a_person_allows_may_change(project: Project) -> None:
    await project.begin(START)
    loosened = TESTS.replace("== 3", "in (3, -1)")

    assert (await project.after({"tests/test_calc.py": loosened}, "tests/test_calc.py")).status == "pass"
    assert (await project.after({}, "./tests/test_calc.py")).status == "pass"
    assert (await project.after({}, "tests")).status == "pass"
    assert (await project.after({}, "tests/test_*.py")).status == "pass"
    assert (await project.after({}, "tests/test_calc.pyx", "test")).status == "fail"


async def test_allowing_one_path_allows_no_other(project: Project) -> None:
    await project.begin(START)

    verdict = await project.after({"tests/test_calc.py": HALF, "conftest.py": EXIT}, "tests/test_calc.py")

    assert verdict.status == "pass", "the remaining tests are green without the conftest"

    verdict = await project.after({"tests/test_calc.py": TESTS}, "tests/test_other.py")

    assert ids(verdict) == ["changed: conftest.py", FAILS]


async def test_the_spec_may_allow_and_protect(project: Project, real_pytest: str) -> None:
    project.gates = (gate(f"{real_pytest} -q checks/*.py"),)
    await project.begin({"calc.py": BROKEN, "checks/sums.py": TESTS})

    assert (await project.after({"checks/sums.py": HALF})).status == "pass"
    project.protect = ("checks/",)
    verdict = await project.after({})
    assert ids(verdict)[0] == "changed: checks/sums.py"
    assert verdict.status == "fail"
    project.allow = ("checks/sums.py",)
    verdict = await project.after({})
    assert (verdict.status, verdict.findings) == ("pass", ())
