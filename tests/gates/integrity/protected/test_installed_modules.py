"""Which modules are installed where gates run, and which of them commands and tests use."""

from pathlib import Path

from untilgreen.gates.integrity.protected.installed_plugins import (
    installed_among,
    module_of,
    modules_imported,
    modules_run_by,
)


def test_modules_are_found_in_the_environment_of_a_command_and_in_that_of_the_tree(tmp_path: Path) -> None:
    outside = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    inside = tmp_path / "tree" / ".venv" / "lib" / "python3.12" / "site-packages"
    for path in (outside / "one" / "__init__.py", outside / "two.py", inside / "three.cpython-312.so"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (outside / "four.egg-info").mkdir()
    (outside / "five").mkdir()
    names = {"one", "two", "three", "four", "five", "six"}

    found = installed_among([f"{tmp_path}/env/bin/python -m one"], str(tmp_path / "tree"), names)

    assert found == {"one", "two", "three"}


def test_what_a_command_runs_and_a_test_imports() -> None:
    assert modules_run_by(["python -W error -m flake8.main x && python -mtox", "mypy -p m"]) == {
        "flake8",
        "tox",
    }
    lines = ["import os, yaml as y", "    from a.b import c, d", "from . import e", "import f.g  # h, i"]
    assert modules_imported(lines) == {"os", "yaml", "a", "f"}


def test_a_package_is_called_like_its_folder() -> None:
    assert [module_of(path) for path in ("a/b.py", "a/__init__.py", "__init__.py")] == ["b", "a", ""]
