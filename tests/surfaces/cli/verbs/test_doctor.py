"""doctor: what is wrong with a machine, and how to fix it, before a run finds out."""

import os
import sys
from typing import Any

import pytest

from tests.surfaces.cli.helpers import Cli, alive, script, write

CLAUDE_HELP = (
    "--print --output-format --verbose --permission-mode --settings --resume --model --max-budget-usd"
)


def rows(cli: Cli, *arguments: str, code: int = 0, env: dict[str, str] | None = None) -> dict[str, Any]:
    done = cli("doctor", *arguments, "--json", env=env)
    assert done.code == code, done
    return {line["name"]: line for line in done.lines if line["type"] == "row"}


def claude(cli: Cli, body: str) -> dict[str, str]:
    """An environment in which `claude` is this script."""
    folder = cli.tmp / "bin"
    folder.mkdir()
    script(folder / "claude", body)
    return {"PATH": f"{folder}:{cli.env['PATH']}"}


def test_a_healthy_machine_has_no_failing_row(cli: Cli) -> None:
    found = rows(cli)

    assert {"python", "git", "state directory", "workspace", "sandbox", "processes", "spec"} <= set(found)
    assert found["git"]["detail"][0].isdigit()
    assert str(cli.place) in found["workspace"]["detail"]
    assert found["spec"]["fix"] == "untilgreen init"


def test_every_row_with_a_problem_says_what_to_do(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'agent = "claude"\n[gates.t]\nrun = "no-such-tool -q"\n'})

    found = rows(cli, code=1, env={"PATH": "/usr/bin:/bin"})

    bad = {name: row for name, row in found.items() if row["status"] in ("warn", "fail")}
    assert set(bad) == {"spec", "agent claude", "gate t"}
    assert all(row["fix"] for row in bad.values())
    assert "npm install" in bad["agent claude"]["fix"]
    assert bad["spec"]["fix"] == "untilgreen trust"


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
@pytest.mark.parametrize(
    "works", ["false", "! echo $* | grep -q ' bwrap '"], ids=["not at all", "not nested"]
)
def test_a_sandbox_that_can_not_be_made_is_shown_with_its_fix(cli: Cli, works: str) -> None:
    folder = cli.tmp / "broken"
    folder.mkdir()
    script(folder / "bwrap", f"#!/bin/sh\n{works} || {{ echo no namespaces >&2; exit 1; }}\n")

    row = rows(cli, env={"PATH": f"{folder}:{cli.env['PATH']}"})["sandbox"]

    assert (row["status"], "no namespaces" in row["detail"]) == ("warn", True)
    assert "sysctl" in row["fix"] or "user namespaces" in row["fix"]


def test_a_git_that_a_run_refuses_fails(cli: Cli) -> None:
    """doctor once asked for git 2.25 although a run needs 2.31."""
    folder = cli.tmp / "old"
    folder.mkdir()
    script(folder / "git", "#!/bin/sh\necho git version 2.30.2\n")

    found = rows(cli, code=1, env={"PATH": f"{folder}:{cli.env['PATH']}"})

    assert found["git"]["status"] == "fail"
    assert found["git"]["fix"] == "install git 2.31 or newer"


def test_a_missing_git_fails_with_the_way_to_get_it(cli: Cli) -> None:
    empty = cli.tmp / "empty"
    empty.mkdir()

    done = cli("doctor", env={"PATH": str(empty)})

    assert done.code == 1
    assert "✕ git: " in done.out
    assert "install git" in done.out


def test_an_agents_version_is_shown_and_a_flag_that_it_lacks(cli: Cli) -> None:
    env = claude(cli, f'[ "$1" = --version ] && echo "2.1.325 (Claude Code)" || echo "{CLAUDE_HELP}"\n')
    assert rows(cli, env=env)["agent claude"]["detail"].startswith("2.1.325 ")

    script(cli.tmp / "bin" / "claude", 'echo "1.0.0 --print"\n')
    old = rows(cli, "--agent", "claude", code=1, env=env)["agent claude"]
    assert old["status"] == "fail"
    assert "--settings" in old["detail"]
    assert "--print," not in old["detail"]


def test_an_agent_that_nobody_is_logged_in_to_is_shown_with_what_to_do(cli: Cli) -> None:
    env = claude(
        cli,
        'case "$1" in\n--version) echo 2.1.325;;\n--help) echo "'
        f'{CLAUDE_HELP}";;\n*) echo \'{{"loggedIn": false}}\'; exit 1;;\nesac\n',
    )

    unused, used = rows(cli, env=env), rows(cli, "--agent", "claude", code=1, env=env)

    assert "is not logged in" in unused["agent claude"]["detail"]
    assert "/login" in unused["agent claude"]["fix"]
    assert (unused["agent claude"]["status"], used["agent claude"]["status"]) == ("warn", "fail")


def test_an_agent_that_crashes_does_not_crash_doctor(cli: Cli) -> None:
    row = rows(cli, env=claude(cli, "exit 3\n"))["agent claude"]

    assert row["status"] == "warn"
    assert "doesn't print its version" in row["detail"]


def test_an_agent_that_leaves_its_output_open_does_not_hang_doctor(cli: Cli) -> None:
    body = (
        f'case "$1" in\n--version) sleep 300 & echo $! > {cli.tmp}/pid; echo 2.1.325;;\n'
        f'--help) echo "{CLAUDE_HELP}";;\nesac\n'
    )

    row = rows(cli, env=claude(cli, body))["agent claude"]

    assert (row["status"], row["detail"][:8]) == ("ok", "2.1.325 ")
    assert not alive(int((cli.tmp / "pid").read_text()))


def test_a_wrong_spec_fails_with_its_line(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'stratgy = "fixed"\n'})

    row = rows(cli, code=1)["spec"]

    assert "untilgreen.toml, line 1: " in row["detail"]


def test_each_error_of_a_spec_has_its_own_line(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'stratgy = "fixed"\ntsak = "x"\n'})

    out = cli("doctor").out

    assert "spec: There are 2 errors:\n    untilgreen.toml, line 1: " in out
    assert "\n    untilgreen.toml, line 2: " in out


def test_a_state_directory_that_others_can_read_is_reported(cli: Cli) -> None:
    state = cli.tmp / "state"
    state.mkdir(mode=0o755)
    state.chmod(0o755)

    row = rows(cli)["state directory"]

    assert (row["status"], row["fix"]) == ("warn", f"chmod 700 {state}")


def test_a_file_in_the_place_of_the_state_directory_fails(cli: Cli) -> None:
    (cli.tmp / "state").write_text("")

    assert rows(cli, code=1)["state directory"]["status"] == "fail"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cant_be_written_to_fails(cli: Cli) -> None:
    cli.place.chmod(0o500)
    try:
        assert rows(cli, code=1)["workspace"]["status"] == "fail"
    finally:
        cli.place.chmod(0o700)


def test_hooks_are_looked_at_in_the_persons_files_and_in_the_projects(cli: Cli) -> None:
    assert rows(cli)["hooks"]["fix"] == "untilgreen install AGENT"
    assert cli("install", "--yes", "claude").code == 0
    assert rows(cli)["hooks claude"]["status"] == "ok"
    assert cli("install", "--yes", "claude", "--project").code == 0

    row = rows(cli)["hooks claude"]
    assert (row["status"], row["fix"]) == ("warn", "untilgreen uninstall claude --project")
    assert cli("uninstall", "--yes", "claude", "--project").code == 0
    assert rows(cli)["hooks claude"]["status"] == "ok"


def test_no_gate_is_run(cli: Cli) -> None:
    assert cli("doctor", "--gate", "touch ran").code == 0
    assert not (cli.place / "ran").exists()
