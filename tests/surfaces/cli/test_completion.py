"""What a shell offers at a TAB, with a real shell where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import PATIENCE_SECONDS, Cli, write

RUN = ("run", "Mend it now.", "-a", "cmd:true", "-g", "true")
BASH = """\
source <("$PROGRAM" completion bash)
COMP_WORDS=(untilgreen "$@")
COMP_CWORD=$#
_untilgreen
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(cli: Cli, *words: str) -> list[str]:
    """What completers answer, without their descriptions."""
    out = cli("__complete", *words).out
    return [line.partition("\t")[0] for line in out.partition("begin\n")[2].splitlines()]


def in_bash(cli: Cli, *words: str) -> list[str]:
    program = shutil.which("untilgreen", path=cli.env["PATH"])
    assert program is not None
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", *words],
        cwd=cli.place,
        env={**cli.env, "PROGRAM": program},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    return [line.strip() for line in done.stdout.splitlines()]


def test_run_ids_are_those_of_the_moment_with_their_tasks(cli: Cli) -> None:
    assert offered(cli, "show", "") == ["@last"]
    assert cli(*RUN).code == 0
    (run,) = cli.ids

    assert offered(cli, "show", "") == ["@last", run]
    assert f"{run}\tMend it now." in cli("__complete", "why", "").out
    assert offered(cli, "show", "--state-dir", str(cli.tmp / "other"), "") == ["@last"]


@pytest.mark.parametrize("verb", ["show", "resume", "why", "stop", "answer", "diff", "restore", "follow"])
def test_every_verb_about_a_run_offers_them(cli: Cli, verb: str) -> None:
    assert "@last" in offered(cli, verb, "")


def test_agents_strategies_and_profiles_are_offered_by_name(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": "[profiles.quick]\nleave = 'last'\n"})

    assert {"claude", "cmd:"} <= set(offered(cli, "run", "--agent", ""))
    assert {"fixed", "hybrid", "ralph"} <= set(offered(cli, "run", "--strategy", ""))
    assert offered(cli, "run", "--profile", "") == ["quick"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_verbs_flags_and_runs(cli: Cli) -> None:
    assert cli(*RUN).code == 0

    assert in_bash(cli, "res") == ["restore", "resume"] or set(in_bash(cli, "res")) == {"restore", "resume"}
    assert "--max-iterations" in in_bash(cli, "run", "--max-i")
    assert cli.ids[0] in in_bash(cli, "show", cli.ids[0][:3])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_back_for_runs(cli: Cli, shell: str) -> None:
    script = cli("completion", shell)

    assert script.code == 0
    assert "__complete" in script.out
    if shutil.which(shell):
        path = cli.tmp / "script"
        path.write_text(script.out)
        subprocess.run([shell, "-n", str(path)], check=True)


def test_a_script_is_installed_where_its_shell_looks_and_nowhere_else(cli: Cli) -> None:
    done = cli("completion", "bash", "--install")

    home = Path(cli.env["HOME"])
    files = [path for path in home.rglob("*") if path.is_file()]
    assert done.code == 0
    assert [path.name for path in files] == ["untilgreen"]
    assert str(files[0]) in done.out


def test_an_unknown_shell_is_refused(cli: Cli) -> None:
    assert cli("completion", "tcsh").code == 2
