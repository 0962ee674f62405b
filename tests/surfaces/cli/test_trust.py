"""A spec that someone else may have written is shown to a person before anything in it runs."""

import os
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Terminal, write

SPEC = 'task = "Mend it."\nagent = "cmd:touch agent-ran"\n\n[gates.tests]\nrun = "touch gate-ran && false"\n'
LIMIT = ("--max-iterations", "1")


@pytest.fixture
def foreign(cli: Cli) -> Cli:
    """A repository that came with a spec."""
    write(cli.place, {"untilgreen.toml": SPEC})
    return cli


def ran(cli: Cli) -> bool:
    return (cli.place / "agent-ran").exists() or (cli.place / "gate-ran").exists()


def answer(terminal: Terminal, text: str) -> tuple[int, str]:
    terminal.type(text)
    return terminal.end()


def test_an_agent_that_makes_itself_a_terminal_is_not_asked_either(foreign: Cli) -> None:
    foreign.env["UNTILGREEN_INSIDE"] = "a run"

    code, seen = answer(foreign.on_a_terminal("run", *LIMIT), "y\n")

    assert (code, ran(foreign)) == (2, False)
    assert "is for people, not for agents" in " ".join(seen.split())


@pytest.mark.parametrize(("verb", "flag"), [("run", "--trust"), ("check", "--trust"), ("trust", "--yes")])
def test_without_a_terminal_an_untrusted_spec_is_refused_with_the_way_out(
    foreign: Cli, verb: str, flag: str
) -> None:
    done = foreign(verb)

    assert done.code == 2
    assert "has not been trusted yet" in done.err
    assert "gate tests: touch gate-ran && false" in done.err
    assert "agent: cmd:touch agent-ran" in done.err
    assert f"untilgreen trust  (in scripts: add {flag})" in done.err
    assert not ran(foreign)


def test_what_is_on_the_command_line_needs_no_trust(cli: Cli) -> None:
    assert cli("check", "--gate", "true").code == 0


def test_trust_on_the_command_line_holds_until_the_content_changes(foreign: Cli) -> None:
    assert foreign("check", "--trust").code == 1
    assert foreign("check").code == 1

    write(foreign.place, {"untilgreen.toml": SPEC.replace("gate-ran", "other")})
    done = foreign("check")

    assert done.code == 2
    assert "has changed since it was trusted" in done.err
    assert "* gate tests: touch other && false" in done.err
    assert "  agent: cmd:touch agent-ran" in done.err
    assert not (foreign.place / "other").exists()


def test_a_plugin_file_that_changes_is_asked_about_before_it_is_loaded(cli: Cli) -> None:
    gate = "class Gate:\n    async def check(self, workspace):\n        raise OSError\n"
    write(cli.place, {"gate.py": gate, "untilgreen.toml": '[gates.own]\nuse = "./gate.py:Gate"\n'})
    assert cli("check", "--trust").code == 6

    write(cli.place, {"gate.py": f"from pathlib import Path\nPath('loaded').touch()\n{gate}"})

    assert cli("check").code == 2
    assert not (cli.place / "loaded").exists()


@pytest.mark.parametrize(
    "wrong", ['stratgy = "fixed"\n', 'strategy = "fixd"\n', 'strategy = { use = "fixed", laps = 3 }\n']
)
def test_a_wrong_spec_is_reported_before_trust_is_asked(cli: Cli, wrong: str) -> None:
    write(cli.place, {"untilgreen.toml": wrong + SPEC})

    done = cli("run")

    assert done.code == 2
    assert "untilgreen.toml, line 1: " in done.err
    assert "trust" not in done.err


@pytest.mark.parametrize(("typed", "code", "may"), [("y\n", 3, True), ("n\n", 2, False), ("\n", 2, False)])
def test_at_a_terminal_only_a_yes_lets_it_run(foreign: Cli, typed: str, code: int, may: bool) -> None:
    ended, seen = answer(foreign.on_a_terminal("run", *LIMIT), typed)

    assert "gate tests: touch gate-ran && false" in seen
    assert "Trust it? [y/N]" in seen
    assert (ended, ran(foreign)) == (code, may)


def test_text_in_the_question_is_inert(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": SPEC.replace("Mend it.", "\\u001b[2J\\u001b[31mMend it.")})

    _, seen = answer(cli.on_a_terminal("run", *LIMIT), "n\n")

    assert "\x1b[2J" not in seen
    assert "task: Mend it." in seen


def test_an_agent_can_trust_nothing(foreign: Cli) -> None:
    inside = {"UNTILGREEN_INSIDE": "0123"}

    assert "for people" in foreign("run", "--trust", env=inside).err
    assert "for people" in foreign("trust", "--yes", env=inside).err
    assert foreign("check").code == 2


def test_trust_is_given_listed_and_taken_back(foreign: Cli) -> None:
    path = str(foreign.place / "untilgreen.toml")
    assert foreign("trust", "--list").out == "No spec is trusted yet.\n"
    assert foreign("trust").code == 2
    assert foreign("trust", "--yes").out == f"{path} is trusted.\n"
    assert path in foreign("trust", "--list").out
    assert [line["path"] for line in foreign("trust", "--list", "--json").lines[1:]] == [path]
    assert foreign("check").code == 1

    assert "is no longer trusted" in foreign("trust", "--revoke").out
    assert "was not trusted" in foreign("trust", "--revoke").out
    assert foreign("check").code == 2


def test_a_copy_of_a_trusted_repository_is_not_trusted(foreign: Cli, tmp_path: Path) -> None:
    assert foreign("trust", "--yes").code == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "untilgreen.toml").write_text(SPEC)

    assert foreign("check", cwd=other).code == 2
    assert f"untilgreen trust -C {other}" in foreign("check", "-C", str(other)).err


def test_a_spec_that_runs_nothing_needs_no_trust(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": "[limits]\niterations = 3\n"})

    assert "runs no command and grants no permission" in cli("trust").out
    assert cli("check", "--gate", "true").code == 0


def test_only_verbs_that_run_something_take_the_flag(cli: Cli) -> None:
    assert cli("config", "show", "--trust").code == 2
    assert cli("doctor", "--trust").code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_directory_that_cant_be_written_is_reported(foreign: Cli, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o500)

    assert "can't be used" in foreign("trust", "--yes").err
