"""A first spec: shown, asked about, never over another one."""

import pytest

from tests.surfaces.cli.helpers import Cli, git, script, write


@pytest.fixture
def project(calc: Cli) -> Cli:
    write(calc.place, {"Makefile": "lint:\n\ttrue\n"})
    return calc


def test_the_file_is_shown_written_with_yes_and_trusted(project: Cli) -> None:
    done = project("init", "--yes")

    spec = (project.place / "untilgreen.toml").read_text()
    assert done.code == 0, done.err
    assert done.out == f"{spec}\n"
    assert 'run = "python3 -m unittest -q"' in spec
    assert 'run = "make lint"' in spec
    assert [line["gate"] for line in project("check", "--json").lines[1:-1]] == ["lint", "tests"]


def test_without_a_terminal_and_without_yes_nothing_is_written(project: Cli) -> None:
    done = project("init")

    assert done.code == 2
    assert "[gates.tests]" in done.out
    assert "untilgreen init --yes" in done.err
    assert not (project.place / "untilgreen.toml").exists()


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_at_a_terminal_it_asks(project: Cli, typed: str, code: int) -> None:
    terminal = project.on_a_terminal("init")
    terminal.type(typed)
    ended, seen = terminal.end()

    assert "[gates.tests]" in seen
    assert "Write it? [y/N]" in seen
    assert ended == code
    assert (project.place / "untilgreen.toml").exists() == (code == 0)


def test_a_spec_that_is_there_stays_unless_told_otherwise(project: Cli) -> None:
    mine = '[gates.mine]\nrun = "true"\n'
    write(project.place, {"untilgreen.toml": mine})

    done = project("init", "--yes")

    assert done.code == 2
    assert "is there already" in done.err
    assert "untilgreen init --force" in done.err
    assert (project.place / "untilgreen.toml").read_text() == mine

    replaced = project("init", "--yes", "--force")
    assert replaced.code == 0
    assert "This would replace" in replaced.err
    assert "[gates.tests]" in (project.place / "untilgreen.toml").read_text()
    assert (project.place / "untilgreen.toml.bak").read_text() == mine


def test_a_spec_in_pyproject_or_further_up_is_not_hidden_unsaid(project: Cli) -> None:
    write(project.place, {"pyproject.toml": '[tool.untilgreen.gates.a]\nrun = "true"\n', "sub/a.txt": ""})

    for place in (project.place, project.place / "sub"):
        done = project("init", "--yes", cwd=place)
        assert done.code == 2
        assert "pyproject.toml is the spec here" in done.err
        assert not (place / "untilgreen.toml").exists()


def test_from_init_to_a_converged_run(project: Cli) -> None:
    agent = script(
        project.tmp / "fix.sh", "cat > /dev/null\nsed -i.bak 's/a - b/a + b/' calc.py; rm -f calc.py.bak\n"
    )
    assert project("init", "--yes").code == 0
    git(project.place, "add", "--all")

    assert project("check").code == 1
    assert project("run", "Make the tests pass", "--agent", f"cmd:{agent}").code == 0


def test_what_an_agent_had_written_is_not_trusted(project: Cli) -> None:
    assert project("init", "--yes", env={"CLAUDECODE": "1"}).code == 0

    assert "has not been trusted yet" in project("check").err


def test_agents_that_are_installed_are_named(project: Cli) -> None:
    folder = project.tmp / "bin"
    folder.mkdir()
    for name in ("claude", "codex"):
        script(folder / name, "touch started\n")

    text = project("init", "--yes", env={"PATH": f"{folder}:{project.env['PATH']}"}).out

    assert 'agent = "claude"\n' in text
    assert '# agents = ["claude", "codex"' in text
    assert not (project.place / "started").exists()
