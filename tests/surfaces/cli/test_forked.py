"""A forked command behaves like one that is started."""

from __future__ import annotations

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("list", "--json"),
        ("run", "--help"),
        ("run", "Mend it.", "--gat", "true"),
        ("show", "nothing-like-it"),
        ("config", "show", "--sources"),
        ("hook", "stop", "--agent", "claude"),
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_a_forked_command_prints_and_exits_like_a_started_one(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words) == cli.start(*words).end()


def test_a_forked_command_has_its_own_directory_environment_and_input(cli: Cli) -> None:
    elsewhere = cli.tmp / "elsewhere"
    elsewhere.mkdir()
    agent = cli.agent(f"{NO_OP}echo $(pwd) $PLANTED >> '{cli.tmp}/seen'\n: > made\n")
    run = ("run", "--file", "-", "--agent", agent, "--gate", "test -e made")

    here = cli(*run, stdin="Do this.\n", env={"PLANTED": "one"})
    there = cli(*run, stdin="Do that.\n", env={"PLANTED": "two"}, cwd=elsewhere)

    assert (here.code, there.code) == (0, 0), (here, there)
    assert ("task: Do this." in here.err, "task: Do that." in there.err) == (True, True)
    assert (cli.tmp / "seen").read_text() == f"{cli.place} one\n{elsewhere} two\n"
