"""What a shell offers on TAB, in the real shells that are installed."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke, Terminal, eventually, write

RUN = ("run", "Mend it now.", "-a", "cmd:true", "-g", "true")
Offers = Callable[[str], str]
END = "\x14"
"""Ctrl-T, which makes the shells below print and clear the current line."""
BASH = r"""
PS1='READY> '
for each in 'bell-style none' 'show-all-if-ambiguous on' 'completion-query-items 0' 'page-completions off' \
  'enable-bracketed-paste off'; do bind "set $each"; done
bind -x '"\C-t": echo "<<$READLINE_LINE>>"; READLINE_LINE='
"""
ZSH = r"""
PROMPT='READY> '; LISTMAX=0; setopt no_beep
autoload -U compinit; compinit -u -D
ending() { print -r -- "<<$BUFFER>>"; BUFFER= }; zle -N ending; bindkey '^T' ending
"""


def offered(invoke: Invoke, *words: str) -> list[str]:
    """The completions for these words, without their descriptions."""
    out = invoke("__complete", *words).out
    return [line.partition("\t")[0] for line in out.partition("begin\n")[2].splitlines()]


def program(name: str) -> str:
    found = shutil.which(name)
    return found if found is not None else pytest.skip(f"there is no {name}")


@contextmanager
def shell(cli: Cli, *command: str, settings: str) -> Iterator[Offers]:
    """An interactive shell; yields a function that returns what the shell shows after a line and TAB."""
    (cli.tmp / "settings").write_text(settings)
    env = {**cli.env, "TERM": "xterm"}
    terminal = Terminal(command[1:], cli.place, env, program=command[:1], size=(60, 220))
    terminal.type(f" . '{cli.tmp}/settings'\n")

    def offers(line: str) -> str:
        before = len(terminal.seen)
        terminal.type(f"{line}\t{END}")
        return str(eventually(lambda: re.search(r"(?s).*<<.*>>", terminal.seen[before:]), line)[0])

    try:
        eventually(lambda: "READY> " in terminal.seen.replace("'READY> '", ""), "the prompt")
        yield offers
    finally:
        terminal.process.kill()
        terminal.close()


def completes_everything(offers: Offers, run: str) -> None:
    verbs = offers("untilgreen re")
    assert all(verb in verbs for verb in ("report", "restore", "resume"))
    assert "untilgreen run --max-iterations " in offers("untilgreen run --max-i")
    assert f"untilgreen show {run} " in offers(f"untilgreen show {run[:4]}")
    assert "untilgreen run --strategy hybrid " in offers("untilgreen run --strategy h")
    assert "untilgreen run --profile quick " in offers("untilgreen run --profile ")
    assert "untilgreen session active " in offers("untilgreen session a")
    assert "untilgreen report --format junit " in offers("untilgreen report --format ju")


@pytest.fixture
def run(cli: Cli) -> str:
    """The id of a run; there is a profile to complete, too."""
    write(cli.place, {"untilgreen.toml": "[profiles.quick]\nleave = 'last'\n"})
    assert cli(*RUN, "--trust").code == 0
    return cli.ids[0]


def test_bash_completes_verbs_flags_values_and_runs(cli: Cli, invoke: Invoke, run: str) -> None:
    bash = program("bash")
    assert invoke("completion", "bash", "--install").code == 0
    path = Path(cli.env["HOME"]) / ".local/share/bash-completion/completions/untilgreen"

    with shell(cli, bash, "--norc", "-i", settings=f". {path}\n{BASH}") as offers:
        completes_everything(offers, run)


def test_zsh_completes_verbs_flags_values_and_runs(cli: Cli, invoke: Invoke, run: str) -> None:
    zsh = program("zsh")
    assert invoke("completion", "zsh", "--install").code == 0

    with shell(cli, zsh, "-f", "-i", settings=f"fpath=(~/.zsh/completions $fpath)\n{ZSH}") as offers:
        completes_everything(offers, run)


def test_zsh_completes_from_a_custom_folder_and_when_the_script_is_sourced(
    cli: Cli, invoke: Invoke, run: str
) -> None:
    zsh, own = program("zsh"), cli.tmp / "own"
    own.mkdir()
    (own / "_untilgreen").write_text(invoke("completion", "zsh").out)

    for settings in (f"fpath=({own} $fpath)\n{ZSH}", f"{ZSH}\nsource {own}/_untilgreen\n"):
        with shell(cli, zsh, "-f", "-i", settings=settings) as offers:
            assert f"untilgreen show {run} " in offers(f"untilgreen show {run[:4]}")


def test_fish_completes_verbs_flags_values_and_runs(cli: Cli, invoke: Invoke, run: str) -> None:
    fish = program("fish")
    assert invoke("completion", "fish", "--install").code == 0

    def offers(line: str) -> str:
        """Fish can print what it would offer; a single offer is what TAB would insert."""
        asked = ["--command", f"complete --do-complete '{line}'"]
        done = subprocess.run(
            [fish, *asked], cwd=cli.place, env=cli.env, capture_output=True, text=True, check=True
        )
        found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
        before = line.rpartition(" ")[0]
        return "\n".join(found) if len(found) > 1 else f"{before} {found[0]} "

    completes_everything(offers, run)


def test_current_run_ids_are_offered_with_their_tasks(cli: Cli, invoke: Invoke) -> None:
    assert offered(invoke, "show", "") == ["@last"]
    assert cli(*RUN).code == 0
    (run,) = cli.ids

    assert offered(invoke, "show", "") == ["@last", run]
    assert f"{run}\tMend it now." in invoke("__complete", "why", "").out
    assert offered(invoke, "show", "--state-dir", str(cli.tmp / "other"), "") == ["@last"]


ABOUT_RUNS = (
    *("show", "resume", "why", "stop", "answer", "diff", "restore", "follow"),
    *("apply", "fork", "prune", "session go"),
)


@pytest.mark.parametrize("verb", ABOUT_RUNS)
def test_every_verb_about_a_run_offers_them(invoke: Invoke, verb: str) -> None:
    assert "@last" in offered(invoke, *verb.split(), "")


def test_agents_strategies_schemas_and_profiles_are_offered_by_name(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"untilgreen.toml": "[profiles.quick]\nleave = 'last'\n"})

    assert {"claude", "cmd:"} <= set(offered(invoke, "run", "--agent", ""))
    assert {"fixed", "hybrid", "ralph"} <= set(offered(invoke, "run", "--strategy", ""))
    assert {"fixed", "hybrid"} <= set(offered(invoke, "backtest", "--strategy", ""))
    assert "cycle" in offered(invoke, "backtest", "--detector", "")
    assert offered(invoke, "run", "--profile", "") == ["quick"]
    assert "claude" in offered(invoke, "install", "")
    assert "events" in offered(invoke, "schema", "")


def test_the_answers_are_those_that_the_run_waits_for(cli: Cli, invoke: Invoke) -> None:
    flags = ("-a", "cmd:true", "-g", "false", "-s", "manual", "--no-input")
    assert cli("run", "Mend it.", *flags).code == 5

    assert {"continue", "accept", "stop"} <= set(offered(invoke, "answer", "@last", ""))
    assert offered(invoke, "answer", "nonsense", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_back_for_runs(cli: Cli, invoke: Invoke, shell: str) -> None:
    script = invoke("completion", shell)

    assert script.code == 0
    assert "__complete" in script.out
    if shutil.which(shell):
        path = cli.tmp / "script"
        path.write_text(script.out)
        subprocess.run([shell, "-n", str(path)], check=True)


def test_a_script_is_installed_where_its_shell_looks_and_nowhere_else(cli: Cli, invoke: Invoke) -> None:
    done = invoke("completion", "bash", "--install")

    home = Path(cli.env["HOME"])
    files = [path for path in home.rglob("*") if path.is_file()]
    assert done.code == 0
    assert [path.name for path in files] == ["untilgreen"]
    assert str(files[0]) in done.out


def test_an_unknown_shell_is_refused(invoke: Invoke) -> None:
    assert invoke("completion", "tcsh").code == 2
