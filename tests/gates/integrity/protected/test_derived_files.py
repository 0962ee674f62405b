"""Files that a gate's verdict depends on, although their names don't show it."""

from pathlib import Path

import pytest

from tests.gates.integrity.helpers import git, write
from untilgreen.core.values.model import Finding, ToolCount, Verdict
from untilgreen.gates.integrity.protected.derivation import derive
from untilgreen.gates.integrity.protected.executed_files import files_run_by, folders_of_programs
from untilgreen.gates.integrity.protected.followed_files import files_read_if_there
from untilgreen.gates.integrity.protected.installed_plugins import modules_of_plugins
from untilgreen.gates.integrity.protected.loaded_files import files_loaded_by
from untilgreen.gates.integrity.protected.mixed_files import swap
from untilgreen.gates.integrity.protected.protection import Protection, is_configuration
from untilgreen.gates.integrity.trial_rooms.made_files import files_in, settings_among, without_version
from untilgreen.workspace.export import Exporter
from untilgreen.workspace.git_workspace import GitWorkspace


@pytest.mark.parametrize(
    "command",
    [
        "pytest --config-file=ci/x.ini",
        "ruff check --config ci/x.ini .",
        "PYTEST_ADDOPTS='-q -c ci/x.ini' pytest",
        "node --require=./ci/x.ini --test",
        "NODE_OPTIONS='--import=./ci/x.ini' node --test",
        "eslint -c ci/x.ini src",
    ],
)
def test_a_file_that_an_option_or_a_variable_names_is_a_part_of_the_gate(command: str) -> None:
    assert "ci/x.ini" in files_run_by(command)


@pytest.mark.parametrize(
    "command", ["ruff check calc.py", "webpack --entry=./calc.py", "tsc --outFile=calc.py"]
)
def test_work_that_a_command_names_is_not_a_part_of_the_gate(command: str) -> None:
    assert "calc.py" not in files_run_by(command)


@pytest.mark.anyio
async def test_a_file_that_the_runners_ids_name_is_a_test(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, {"sums.py": "def test_two(): pass\n", "calc.py": "x = 1\n"})
    git(root, "init", "--quiet")
    workspace = GitWorkspace(root, "run", tmp_path / "private")
    tree = await workspace.snapshot("0")
    named = Finding(id="sums.py::test_two", message="1 == 2")
    ran = Verdict(status="fail", findings=(named,), tools=(ToolCount(tool="pytest", failed=1, total=1),))
    linted = Verdict(status="fail", findings=(Finding(id="calc.py::E501", message="long"),))

    found = await derive(
        Exporter(workspace), tree, frozenset({"sums.py", "calc.py"}), "", (), {"tests": ran, "lint": linted}
    )

    assert found.tests == ("sums.py",)


def test_directories_of_the_tree_that_programs_are_looked_for_in() -> None:
    assert folders_of_programs('PATH="$PWD/bin:$PATH" check', "sub") == {"sub/bin"}
    assert folders_of_programs("PATH=/usr/bin:tools check") == {"tools"}


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("Makefile", "-include local.mk\ntest:\n\ttrue\n", {"local.mk", "test"}),
        ("Makefile", "include needed.mk\nNAME := x\n$(OBJ): a.c\n\tcc\n", set()),
        ("ci/check.sh", "[ -f x ] && . ./local.sh\n", {"local.sh", "ci/local.sh"}),
        ("ci/check.py", "import local\n", set()),
    ],
)
def test_files_that_are_read_only_if_they_exist(path: str, text: str, found: set[str]) -> None:
    assert files_read_if_there(path, text, "") == found


def test_configuration_that_another_one_extends_or_requires() -> None:
    files = {"ci/base.toml", "ci/base.js", "calc.js"}

    assert files_loaded_by("ruff.toml", "extend = 'ci/base.toml'\n", files) == {"ci/base.toml"}
    assert files_loaded_by("jest.config.js", "module.exports = require('./ci/base')\n", files) == {
        "ci/base.js"
    }


def test_modules_of_installed_plugins(tmp_path: Path) -> None:
    metadata = tmp_path / "lib/python3.11/site-packages/quiet-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text(
        "[console_scripts]\nq = other:main\n\n[pytest11]\nq = quiet.plugin\n"
    )

    found = modules_of_plugins([f"{tmp_path}/bin/python -m pytest"])

    assert "quiet" in found
    assert "other" not in found


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("quiet/__init__.py", "tool"),
        ("calc.pyi", "tool"),
        ("bin/sh", "tool"),
        ("work/node_modules/check/index.js", "tool"),
        ("other.pyi", None),
        ("bin/add-two-numbers", None),
        ("work/node_modules/other/index.js", None),
    ],
)
def test_a_new_file_that_is_found_in_place_of_another(path: str, role: str | None) -> None:
    files = frozenset({"calc.py", "node_modules/check/index.js"})
    protection = Protection(files=files, plugins={"quiet"}, programs={"bin"})

    assert protection.role(path) == role


def test_metadata_of_packages_in_any_case() -> None:
    assert is_configuration("calc-1.DIST-INFO/entry_points.txt")
    assert not is_configuration("calc.info/notes")


@pytest.mark.parametrize(
    ("path", "before", "after", "keys"),
    [
        ("go.mod", "module a\n", "module a\n\nreplace x => ./y\n", ("replace",)),
        ("go.mod", "module a\nreplace (\n\tx => ./y\n)\n", "module a\nreplace x => ./z\n", ("replace",)),
        (
            "pyproject.toml",
            "[project]\nname = 'a'\n",
            "[project]\nname = 'a'\n[project.entry-points.pytest11]\nq = 'q'\n",
            ("project.entry-points.pytest11",),
        ),
        (
            "Cargo.toml",
            "[package]\nname = 'a'\n",
            "[package]\nname = 'a'\n[lib]\npath = 'b.rs'\n",
            ("lib.path",),
        ),
        *(
            ("Cargo.toml", "[package]\nname = 'a'\n", f"[package]\nname = 'a'\n[{key}.b]\nc = 1\n", (key,))
            for key in ("patch", "lints", "profile")
        ),
        ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n[mypy]\nfiles = c\n", ("mypy",)),
        (
            "package.json",
            '{"exports": "./a.js"}',
            '{"exports": {".": {"test": "./b.js", "default": "./a.js"}}}',
            ("exports...test",),
        ),
    ],
)
def test_settings_that_choose_other_code_for_the_tests_are_put_back(
    path: str, before: str, after: str, keys: tuple[str, ...]
) -> None:
    swapped = swap(path, before.encode(), after.encode())

    assert swapped is not None
    assert swapped.keys == keys
    assert swap(path, before.encode(), swapped.content) is None


def test_requirements_of_go_may_change() -> None:
    assert swap("go.mod", b"module a\n", b"module a\nrequire b v1.0.0\n") is None


def test_settings_that_a_gate_made(tmp_path: Path) -> None:
    before = files_in(tmp_path)
    installed = tmp_path / ".venv/lib/site-packages"
    for name in ("a-1.dist-info", "b-1.dist-info"):
        (installed / name).mkdir(parents=True)
    (installed / "a-1.dist-info/entry_points.txt").write_text("[pytest11]\nq = quiet\n")
    (installed / "b-1.dist-info/entry_points.txt").write_text("[console_scripts]\n")
    (installed / "plain.pth").write_text("/elsewhere\n")
    (installed / "active.pth").write_text("import quiet\n")
    (installed / "sitecustomize.py").write_text("")
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "calc.py").write_text("")
    (tmp_path / "node_modules/x").mkdir(parents=True)
    (tmp_path / "node_modules/x/.npmrc").write_text("")

    made = settings_among(tmp_path, files_in(tmp_path) - before)

    place = ".venv/lib/site-packages"
    assert made == [
        f"{place}/a-1.dist-info/entry_points.txt",
        f"{place}/active.pth",
        f"{place}/sitecustomize.py",
        "conftest.py",
    ]
    assert without_version("a-1.2.dist-info/x") == without_version("a-1.3.dist-info/x")
