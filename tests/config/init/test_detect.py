"""Gates that a project already has, detected from its files."""

import os
from pathlib import Path

import pytest

from untilgreen.config.init.detect import Project, detect
from untilgreen.config.init.draft import draft
from untilgreen.config.load import Request, load

NODE = '{"scripts": {"test": "TEST"}, "devDependencies": {NEEDS}}'


def node(test: str = "", needs: str = "") -> str:
    return NODE.replace("TEST", test).replace("NEEDS", needs)


def project(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize(
    ("files", "gates"),
    [
        ({"pytest.ini": ""}, {"tests": "pytest -q"}),
        ({"tests/conftest.py": ""}, {"tests": "pytest -q"}),
        ({"tests/test_a.py": "def test_a(): ..."}, {"tests": "pytest -q"}),
        ({"test_a.py": "import unittest"}, {"tests": "python3 -m unittest -q"}),
        (
            {"tests/test_a.py": "import unittest"},
            {"tests": "python3 -m unittest discover -q -s tests"},
        ),
        (
            {"tests/test_a.py": "import unittest", "tests/__init__.py": ""},
            {"tests": "python3 -m unittest -q"},
        ),
        ({"requirements-dev.txt": "pytest==9\n"}, {"tests": "pytest -q"}),
        ({"requirements-dev.txt": "pytest-cov==9\n"}, {}),
        ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest>=9']\n"}, {"tests": "pytest -q"}),
        ({"pyproject.toml": "[tool.pytest]\n", "uv.lock": ""}, {"tests": "uv run pytest -q"}),
        ({"pyproject.toml": "[tool.pytest]\n", "poetry.lock": ""}, {"tests": "poetry run pytest -q"}),
        ({"pytest.ini": "", ".venv/bin/pytest": ""}, {"tests": ".venv/bin/pytest -q"}),
        ({"pyproject.toml": "[tool.ruff]\n"}, {"lint": "ruff check"}),
        ({"ruff.toml": ""}, {"lint": "ruff check"}),
        ({"mypy.ini": "[mypy]\n"}, {"types": "mypy ."}),
        ({"pyproject.toml": "[tool.mypy]\nfiles = ['src']\n"}, {"types": "mypy"}),
        ({"setup.cfg": "[mypy]\nfiles = src\n"}, {"types": "mypy"}),
        ({"package.json": node("jest")}, {"tests": "npm test"}),
        ({"package.json": node("jest"), "pnpm-lock.yaml": ""}, {"tests": "pnpm test"}),
        ({"package.json": node("jest"), "yarn.lock": ""}, {"tests": "yarn test"}),
        ({"package.json": node("vitest")}, {"tests": "npx vitest run"}),
        ({"package.json": node("vitest run --coverage")}, {"tests": "npm test"}),
        ({"package.json": node(needs='"vitest": "^3"')}, {"tests": "npx vitest run"}),
        ({"package.json": node('echo \\"Error: no test specified\\" && exit 1')}, {}),
        ({"package.json": '{"scripts": {"lint": "eslint ."}}'}, {"lint": "npm run lint"}),
        (
            {"package.json": node(needs='"typescript": "5"'), "tsconfig.json": "{}"},
            {"types": "npx tsc --noEmit"},
        ),
        ({"Cargo.toml": ""}, {"tests": "cargo test"}),
        ({"go.mod": ""}, {"vet": "go vet ./...", "tests": "go test ./..."}),
        ({"Makefile": "test: deps\n\ttrue\n"}, {"tests": "make test"}),
        ({"Makefile": "lint check: deps\n\ttrue\n"}, {"lint": "make lint", "tests": "make check"}),
        ({"Makefile": "tests:\n\tcc t.c\ntest: tests\n\t./t\n"}, {"tests": "make test"}),
        ({"package.json": node("jest"), "bun.lock": ""}, {"tests": "bun run test"}),
        ({"package.json": '{"name": "a"}', "bun.lock": "", "src/a.test.ts": ""}, {"tests": "bun test"}),
        ({"package.json": '{"name": "a"}', "bun.lock": "", "src/a.ts": ""}, {}),
        ({"deno.json": "{}"}, {"lint": "deno lint", "tests": "deno test"}),
        ({"tox.ini": "[tox]\n"}, {"tests": "tox"}),
        ({"noxfile.py": ""}, {"tests": "nox"}),
        ({"tox.ini": "[tox]\n", "pytest.ini": ""}, {"tests": "pytest -q"}),
        (
            {"CMakeLists.txt": "enable_testing()\nadd_test(a a)\n"},
            {
                "tests": "cmake -S . -B build && cmake --build build"
                " && ctest --test-dir build --output-on-failure"
            },
        ),
        ({"CMakeLists.txt": "project(a)\n", "Makefile": "test:\n\ttrue\n"}, {"tests": "make test"}),
        ({"pom.xml": "", "mvnw": ""}, {"tests": "./mvnw -B test"}),
        ({"build.gradle": "", "gradlew": ""}, {"tests": "./gradlew test"}),
        ({"build.gradle.kts": ""}, {"tests": "gradle test"}),
        ({"App.sln": ""}, {"tests": "dotnet test"}),
        ({"Package.swift": ""}, {"tests": "swift test"}),
        ({"MODULE.bazel": ""}, {"tests": "bazel test //... --test_output=errors"}),
        ({"Makefile": "test := 3\nlint ::= 4\n\ttest:\n"}, {}),
        ({"justfile": "test *args:\n  true\nlint := '3'\n"}, {"tests": "just test"}),
        ({"pytest.ini": "", "package.json": node("jest")}, {"tests": "pytest -q", "tests-npm": "npm test"}),
        ({"package.json": "[", "pyproject.toml": "[", "README.md": ""}, {}),
        ({}, {}),
    ],
)
def test_gates_are_seen_in_a_projects_files(
    tmp_path: Path, files: dict[str, str], gates: dict[str, str]
) -> None:
    found, _ = detect(project(tmp_path, files))

    assert {each.name: each.run for each in found} == gates


def test_a_make_target_for_what_a_tool_does_already_is_only_mentioned(tmp_path: Path) -> None:
    project(tmp_path, {"pytest.ini": "", "Makefile": "test:\n\ttrue\nlint:\n\ttrue\n"})

    found, others = detect(tmp_path)

    assert {each.name: each.run for each in found} == {"tests": "pytest -q", "lint": "make lint"}
    assert [each.run for each in others] == ["make test"]
    assert "# Also seen: 'make test' (Makefile)." in draft(found, others, [])


@pytest.mark.parametrize("agents", [[], ["claude"], ["claude", "codex"]])
def test_a_draft_is_a_spec_whatever_was_found(tmp_path: Path, agents: list[str]) -> None:
    project(tmp_path, {"pytest.ini": "", "ruff.toml": "", "package.json": node("jest")})
    text = draft(*detect(tmp_path), agents)
    (tmp_path / "untilgreen.toml").write_text(text)

    spec = load(Request(start=tmp_path, taskless=True)).spec

    assert [(gate.name, gate.stage) for gate in spec.gates] == [("lint", 1), ("tests", 2), ("tests-npm", 2)]
    assert [agent.name for agent in spec.agents] == agents[:1]


def test_a_draft_without_gates_says_how_to_add_one(tmp_path: Path) -> None:
    assert "# [gates.tests]" in draft(*detect(tmp_path), [])


@pytest.mark.parametrize("name", ["Makefile", "justfile"])
def test_a_line_without_end_is_searched_for_targets_in_time(tmp_path: Path, name: str) -> None:
    tool = name.removesuffix("file").lower()
    long = "a" * 400_000 + "\nb" + " " * 400_000 + "\n"
    found, _ = detect(project(tmp_path, {name: f"{long}test : all\n\ttrue\n"}))

    assert [each.run for each in found] == [f"{tool} test"]


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_very_large_file_is_read_as_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package.json")
    with (tmp_path / "Makefile").open("wb") as file:
        file.write(b"test:\n\ttrue\n")
        file.truncate(2_000_000)

    assert Project(tmp_path).text("package.json") == ""
    assert Project(tmp_path).text("Makefile") == ""
