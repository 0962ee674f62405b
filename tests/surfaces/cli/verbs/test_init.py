"""init: the first spec is shown, asked about, and never replaces another one unasked."""

import signal
import stat
import tomllib
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke, eventually, git, script, write


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
    assert "Trying" not in done.err
    assert not (project.place / "untilgreen.toml").exists()


def test_each_gate_is_tried_once_and_what_it_said_is_shown(project: Cli) -> None:
    write(project.place, {"Makefile": "lint:\n\techo x >> tried; false\n"})

    done = project("init", "--yes")

    assert done.code == 0, done.err
    assert "make lint failed" in done.err
    assert "python3 -m unittest -q failed: test_calc." in done.err
    assert (project.place / "tried").read_text() == "x\n"


def test_a_dry_run_shows_the_spec_and_neither_runs_nor_writes_anything(project: Cli) -> None:
    write(project.place, {"Makefile": "lint:\n\ttouch tried\n", "untilgreen.toml": 'task = "mine"\n'})

    done = project("init", "--dry-run")

    assert done.code == 0, done.err
    assert 'run = "make lint"' in done.out
    assert not (project.place / "tried").exists()
    assert (project.place / "untilgreen.toml").read_text() == 'task = "mine"\n'


def test_of_two_commands_for_the_tests_the_one_that_runs_some_is_proposed(cli: Cli) -> None:
    runs = "python3 -m unittest -q checks"
    checks = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.fail()\n"
    write(cli.place, {"Makefile": f"test:\n\techo built\ncheck:\n\t{runs}\n", "checks.py": checks})

    done = cli("init", "--yes")

    assert done.code == 0, done.err
    assert 'run = "make check"' in done.out
    assert "# Also seen: 'make test' (Makefile)." in done.out
    assert "'make check' runs the tests, and 'make test' showed none." in done.err


def test_a_gate_that_shows_no_test_or_can_t_run_is_remarked_on(cli: Cli) -> None:
    write(cli.place, {"Makefile": "test:\n\techo built\n", "ruff.toml": "", ".venv/bin/ruff": ""})

    done = cli("init", "--yes")

    assert done.code == 0, done.err
    assert '# Tried once: no test was seen in its output.\nrun = "make test"' in done.out
    assert "# Tried once: " in done.out.partition("[gates.lint]")[2].partition("run =")[0]


def test_what_an_agent_has_proposed_is_not_run(project: Cli) -> None:
    write(project.place, {"Makefile": "lint:\n\ttouch tried\n"})

    assert project("init", "--yes", env={"CLAUDECODE": "1"}).code == 0
    assert not (project.place / "tried").exists()


def test_an_interrupted_trial_writes_nothing(project: Cli) -> None:
    write(project.place, {"Makefile": "lint:\n\ttouch tried; sleep 60\n"})

    started = project.start("init", "--yes")
    eventually((project.place / "tried").exists, "the gate's start")
    started.signal(signal.SIGINT)

    assert started.end().code == 128 + signal.SIGINT
    assert not (project.place / "untilgreen.toml").exists()


def test_at_a_terminal_it_asks_three_questions_with_defaults(project: Cli) -> None:
    (project.tmp / "bin").mkdir()
    script(project.tmp / "bin" / "claude", "true\n")
    project.env["PATH"] = f"{project.tmp}/bin:{project.env['PATH']}"
    terminal = project.on_a_terminal("init")
    terminal.type("\n\n\n")
    ended, seen = terminal.end()

    spec = (project.place / "untilgreen.toml").read_text()
    assert ended == 0, seen
    assert seen.count("? ") == 3
    assert "tests: python3 -m unittest -q" in seen
    assert 'task = "Make the failing tests pass"' in spec
    assert 'agent = "claude"' in spec
    assert "[gates.lint]" in spec
    assert seen.rstrip().endswith("Next: untilgreen run")


def test_what_is_answered_goes_into_the_file(project: Cli) -> None:
    terminal = project.on_a_terminal("init")
    terminal.type("Speed it up.\ncmd:./fix.sh\ntests\n")
    ended, seen = terminal.end()

    spec = (project.place / "untilgreen.toml").read_text()
    assert ended == 0, seen
    assert 'task = "Speed it up."' in spec
    assert 'agent = "cmd:./fix.sh"' in spec
    assert "[gates.tests]" in spec
    assert "[gates.lint]" not in spec


def test_a_gate_can_be_a_custom_command(project: Cli) -> None:
    terminal = project.on_a_terminal("init")
    terminal.type("\n\n./check.sh --all\n")
    _, seen = terminal.end()

    spec = (project.place / "untilgreen.toml").read_text()
    assert "[gates.check]\n# Tried once: " in spec
    assert 'run = "./check.sh --all"' in spec
    assert ".." not in seen.replace("...", ""), seen


def test_an_answer_that_is_not_an_agent_is_asked_for_again(project: Cli) -> None:
    terminal = project.on_a_terminal("init")
    terminal.type("\n./fix.sh --fast\nclade\nclaude:sonnet\n\n")
    ended, seen = terminal.end()

    assert ended == 0, seen
    assert "Write 'cmd:./fix.sh --fast' to run it as a command." in seen
    assert "No agent named 'clade'. Did you mean 'claude'?" in seen
    assert 'agent = "claude:sonnet"' in (project.place / "untilgreen.toml").read_text()


def test_ctrl_c_at_a_question_is_reported_below_it(project: Cli) -> None:
    terminal = project.on_a_terminal("init")
    eventually(lambda: "do?" in terminal.seen, "the question")
    terminal.type("\x03")
    ended, seen = terminal.end()

    assert ended == 130
    assert seen.replace("\r", "").endswith("\nerror: interrupted\n"), seen
    assert not (project.place / "untilgreen.toml").exists()


def test_the_end_of_input_writes_nothing(project: Cli) -> None:
    terminal = project.on_a_terminal("init")
    terminal.type("Speed it up.\n\x04")
    ended, seen = terminal.end()

    assert (ended, "so nothing was done" in seen) == (2, True), seen
    assert not (project.place / "untilgreen.toml").exists()


@pytest.mark.parametrize(
    ("preset", "files", "gates"),
    [
        ("fix-tests", {}, ["python3 -m unittest -q"]),
        ("fix-lint", {}, ["make lint", "python3 -m unittest -q"]),
        ("fix-types", {}, ["mypy .", "python3 -m unittest -q"]),
        ("raise-coverage", {"go.mod": "module x\n"}, ["out=$(mktemp) && go test ./... -coverprofile="]),
        ("upgrade-deps", {"pyproject.toml": ""}, ["pip list --not-required --exclude pip --outdated"]),
        ("upgrade-deps", {"pyproject.toml": "", "uv.lock": ""}, ["$(uv pip list --outdated)"]),
    ],
)
def test_a_preset_is_a_task_with_gates_that_fit_the_project(
    project: Cli, preset: str, files: dict[str, str], gates: list[str]
) -> None:
    write(project.place, files)

    done = project("init", "--preset", preset, "--yes", "--no-try")  # some gates would query a registry

    spec = (project.place / "untilgreen.toml").read_text()
    assert done.code == 0, done.err
    assert spec.count("\ntask = ") == 1
    assert [gate for gate in gates if gate not in spec] == [], spec
    assert project("config", "show", "--json").code == 0


@pytest.mark.parametrize(
    ("file", "types"), [("Cargo.toml", "cargo check --all-targets"), ("go.mod", "go vet ./...")]
)
def test_where_the_compiler_checks_types_it_is_the_gate(cli: Cli, file: str, types: str) -> None:
    write(cli.place, {file: ""})

    assert cli("init", "--preset", "fix-types", "--dry-run").out.count(f'run = "{types}"') == 1


@pytest.mark.parametrize(
    ("pip", "green"), [("", True), ("echo 'requests 2.0 2.1'", False), ("echo offline >&2; exit 1", False)]
)
def test_outdated_packages_are_shown_to_the_agent(cli: Cli, pip: str, green: bool) -> None:
    write(cli.place, {"pyproject.toml": ""})
    (cli.tmp / "bin").mkdir()
    script(cli.tmp / "bin" / "pip", f"{pip}\n")
    env = {"PATH": f"{cli.tmp}/bin:{cli.env['PATH']}"}
    spec = cli("init", "--preset", "upgrade-deps", "--dry-run").out

    done = cli(
        "check", "-g", f"outdated={tomllib.loads(spec)['gates']['outdated']['run']}", "--json", env=env
    )

    (verdict,) = (line["verdict"] for line in done.lines if line["type"] == "verdict")
    assert (verdict["status"] == "pass") == green, verdict
    assert "requests" not in pip or "requests 2.0 2.1" in str(verdict)


def test_without_a_terminal_the_command_that_writes_names_the_preset(project: Cli, invoke: Invoke) -> None:
    words = invoke("init", "--preset", "fix-tests")

    assert "Write it with: untilgreen init --preset fix-tests --yes\n" in words.err
    assert not (project.place / "untilgreen.toml").exists()


def test_a_preset_that_fits_nothing_here_says_so(cli: Cli, invoke: Invoke) -> None:
    nothing, unknown = (
        invoke("init", "--preset", "fix-tests", "--yes"),
        invoke("init", "--preset", "fix-test", "--yes"),
    )

    assert (nothing.code, "finds nothing to check" in nothing.err) == (2, True)
    assert (unknown.code, "Did you mean 'fix-tests'?" in unknown.err) == (2, True)


def test_a_state_directory_that_cannot_be_used_does_not_hide_what_was_written(project: Cli) -> None:
    done = project("init", "--yes", "--no-try", env={"UNTILGREEN_STATE_DIR": "/dev/null/state"})

    assert done.code == 2
    assert done.err.index("Wrote ") < done.err.index("error: The state directory")
    assert (project.place / "untilgreen.toml").exists()


def test_the_state_directory_is_for_its_owner_only(project: Cli) -> None:
    assert project("init", "--yes").code == 0

    assert stat.S_IMODE(Path(project.env["UNTILGREEN_STATE_DIR"]).stat().st_mode) == 0o700


def test_a_spec_that_is_there_stays_unless_told_otherwise(project: Cli) -> None:
    mine = '[gates.mine]\nrun = "true"\n'
    write(project.place, {"untilgreen.toml": mine})

    done = project("init", "--yes")

    assert done.code == 2
    assert "already exists" in done.err
    assert "untilgreen init --force" in done.err
    assert (project.place / "untilgreen.toml").read_text() == mine

    replaced = project("init", "--yes", "--force")
    assert replaced.code == 0
    assert "The old one is untilgreen.toml.bak" in replaced.err
    assert "[gates.tests]" in (project.place / "untilgreen.toml").read_text()
    assert (project.place / "untilgreen.toml.bak").read_text() == mine


def test_a_spec_in_pyproject_or_further_up_is_not_silently_hidden(project: Cli) -> None:
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
