"""What a person can write wrong, and what the program says then: one sentence, exit code 2, no traceback."""

import re

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli, Done, Say, write
from untilgreen import __version__
from untilgreen.surfaces.cli.main import VERBS

GATE = ("--gate", "test -f done")


def refused(done: Done) -> str:
    """The sentence of a command that was refused before anything began."""
    assert done.code == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.err.startswith("error: ")
    return done.err


def test_without_arguments_it_says_what_it_can_do(cli: Cli) -> None:
    done = cli()

    assert done.code == 0
    assert {verb for verb in VERBS if verb in done.out} == set(VERBS)


def test_it_says_its_version(cli: Cli) -> None:
    done = cli("--version")

    assert (done.code, done.out) == (0, f"untilgreen {__version__}\n")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_every_verb_explains_itself(said: Say, verb: str) -> None:
    done = said(*verb.split(), "--help")

    assert done.code == 0
    assert f"Usage: untilgreen {verb}".strip() in done.out
    assert done.err == ""


def test_the_exit_codes_are_explained(said: Say) -> None:
    done = said("help", "exit-codes")

    assert done.code == 0
    assert {int(code) for code in re.findall(r"^ +(\d+)  ", done.out, re.MULTILINE)} >= {
        *(0, 1, 2, 3, 4, 5, 6, 70, 130, 143)
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnu", "Mend it."], 'Did you mean "run"?'),
        (["run", "Mend it.", "--agnt", "cmd:true"], "Did you mean --agent?"),
        (["run", "Mend it.", "--max-iteration", "3"], "Did you mean --max-iterations?"),
        (["run", "Mend", "it."], "it."),
        (["steer", "@last"], "NOTE"),
    ],
)
def test_a_wrong_word_is_answered_with_the_one_that_was_meant(
    said: Say, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(said(*arguments))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--gate", "true"], "There is no agent. Name one with --agent"),
        (["--agent", "cmd:true"], "There is no gate and no promise"),
        (["-a", "cmd:true", "-g", "true", "--max-iterations", "0"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-time", "0s"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-cost", "0"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-time", "soon"], "is no duration"),
        (["-a", "cmd:true", "-g", "true", "--max-iterations", "many"], "many"),
        (["-a", "cmd:true", "-g", "true", "-s", "hybird"], "Did you mean 'hybrid'?"),
        (["-a", "cluade", "-g", "true"], "No agent named 'cluade'"),
        (["-a", "cmd:'oh", "-g", "true"], "Close its quotes"),
        (["-a", "cmd:true", "-g", "t=true", "-g", "t=false"], "was given twice"),
        (["-a", "cmd:true", "-g", "true", "--set", "limits.itertions=3"], "Did you mean 'iterations'?"),
        (["-a", "cmd:true", "-g", "true", "--set", "detector=[]"], "Did you mean 'detectors'?"),
        (["-a", "cmd:true", "-g", "true", "--set", "limits.iterations"], "is not key=value"),
        (["-a", "cmd:true", "-g", "t=true", "--set", "gates.t.on_fial='stop'"], "Did you mean 'on_fail'?"),
        (["-a", "cmd:true", "-g", "t=true", "--set", "gates.t.on_fail='stopp'"], "Did you mean 'stop'?"),
        (["-a", "cmd:true", "-g", "true", "--profile", "quick"], "There is no profile 'quick'"),
        (["-a", "cmd:true", "-g", "true", "-C", "nowhere"], "There is no directory 'nowhere'"),
        (["-a", "cmd:true", "-g", "true", "-c", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_a_spec_that_makes_no_sense_starts_nothing(
    cli: Cli, said: Say, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(said("run", "Mend it.", *arguments))
    assert cli.ids == []


def test_an_unknown_key_is_named_with_its_file_and_line_and_the_nearest_one(cli: Cli) -> None:
    spec = 'agent = "cmd:true"\n\n[gates.tests]\nrun = "true"\n\n[limits]\nitertions = 3\n'
    write(cli.place, {"untilgreen.toml": spec})

    words = refused(cli("run", "Mend it."))

    assert "untilgreen.toml, line 7: " in words
    assert "Did you mean 'iterations'?" in words


def test_toml_that_is_none_is_named_with_its_line(cli: Cli, said: Say) -> None:
    write(cli.place, {"untilgreen.toml": 'agent = "cmd:true"\nstrategy = \n'})

    assert "line 2" in refused(said("run", "Mend it."))


def test_the_task_can_be_an_argument_a_file_stdin_or_in_the_spec(cli: Cli) -> None:
    agent = cli.agent("touch done\n")
    write(cli.place, {"TASK.md": "From a file.\n", ".gitignore": "done\n"})
    flags = ("--agent", agent, *GATE, "--json", "--quiet", "--trust")

    def task(*arguments: str, stdin: str = "") -> str:
        (cli.place / "done").unlink(missing_ok=True)
        return str(cli("run", *arguments, *flags, stdin=stdin).result["task"])

    assert task("An argument.") == "An argument."
    assert task("-f", "TASK.md") == "From a file."
    assert task("-", stdin="From a pipe.\n") == "From a pipe."
    assert task("-f", "-", stdin="Also from a pipe.\n") == "Also from a pipe."
    write(cli.place, {"untilgreen.toml": 'task_file = "TASK.md"\n'})
    assert task() == "From a file."
    write(cli.place, {"untilgreen.toml": 'task = "In the spec."\n'})
    assert task() == "In the spec."
    assert task("The argument is stronger.") == "The argument is stronger."


def test_no_task_two_tasks_and_an_unreadable_task_are_refused(cli: Cli) -> None:
    (cli.place / "binary").write_bytes(b"\xff\xfe")
    flags = ("--agent", "cmd:true", *GATE)

    assert "There is no task." in refused(cli("run", *flags))
    assert "is empty" in refused(cli("run", "-", *flags, stdin=" \n"))
    assert "given twice" in refused(cli("run", "Mend it.", "-f", "binary", *flags))
    assert "is not UTF-8" in refused(cli("run", "-f", "binary", *flags))
    assert "can't be read" in refused(cli("run", "-f", "absent.md", *flags))
    assert "is not UTF-8" in refused(cli("run", "\udcff\udcfe", *flags))


def test_a_gate_is_a_command_or_a_name_and_a_command(cli: Cli) -> None:
    gates = ("-g", "true", "-g", "unit-tests=true", "-g", "test a = a", "-g", "9=9")

    names = [line["gate"] for line in cli("check", *gates, "--json").lines if line["type"] == "verdict"]

    assert sorted(names) == sorted(["true", "unit-tests", "test a = a", "9=9"])


def test_max_iterations_is_the_limit_and_the_ceiling_of_the_strategy(cli: Cli) -> None:
    flags = ("-a", cli.agent(NO_OP), *GATE, "--max-iterations", "1", "--json")

    plans = [
        cli("run", "Mend it.", *flags, *strategy).events[0]["plan"]
        for strategy in ((), ("-s", "fixed"), ("-s", "ralph"))
    ]

    assert [plan["limits"]["iterations"] for plan in plans] == [1, 1, 1]
    options = [plan["strategy"]["options"] for plan in plans]
    assert options == [{"base": 1, "bonus": 0}, {"iterations": 1}, {"max": 1}]


def test_set_reaches_any_key_and_leaves_the_others(cli: Cli) -> None:
    written = ["strategy.base=2", "detectors=[]", "labels.order='42'", "limits.iterations=1"]
    sets = [word for each in written for word in ("--set", each)]

    plan = cli("run", "Mend it.", "-a", cli.agent(NO_OP), *GATE, *sets, "--json").events[0]["plan"]

    assert plan["strategy"]["options"] == {"base": 2}
    assert plan.get("detectors", []) == []
    assert plan["labels"] == {"order": "42"}
    assert plan["limits"]["iterations"] == 1


def test_values_come_from_the_file_the_environment_and_flags_the_later_the_stronger(cli: Cli) -> None:
    spec = f'agent = "{cli.agent(NO_OP)}"\ngates.t.run = "false"\n'
    spec += '[limits]\niterations = 7\nerrors = 7\ntime = "7h"\n'
    write(cli.place, {"untilgreen.toml": spec})
    env = {"UNTILGREEN_LIMITS__ERRORS": "5", "UNTILGREEN_LIMITS__ITERATIONS": "5"}

    plan = cli("run", "Mend it.", "--max-iterations", "1", "--json", "--trust", env=env).events[0]["plan"]

    assert (plan["limits"]["iterations"], plan["limits"]["errors"]) == (1, 5)
    assert plan["limits"]["time"] == 7 * 3600


MISTAKES = {
    "rnu x": 'Did you mean "run"?',
    "config shw": 'Did you mean "show"?',
    "help exitcodes": 'Did you mean "exit-codes"?',
    "schema spek": "Did you mean 'spec'?",
    "show zzz": "`untilgreen list --all`",
    "plugins check fixd": "Did you mean 'fixed'?",
    "check -c none.toml": "`untilgreen init`",
    "check -g true --profile quick": "Add [profiles.quick] to the spec.",
    "check -g true --set limts.time=3": "Did you mean 'limits'?",
    "check -g true --set limits.tme=3": "Did you mean 'time'?",
    "check -g true --set gates.true.stge=3": "Did you mean 'stage'?",
    "check -g true --set strategy=hybird": "Did you mean 'hybrid'?",
    "check -g true --set strategy.bse=3": "Did you mean 'base'?",
    "check -g true --set detectors=['cycl']": "Did you mean 'cycle'?",
    "check -g true --set remedies=['hnt']": "Did you mean 'hint'?",
    "check -g true --set leave=bets": "Did you mean 'best'?",
    "check -g true --set notify=['bel']": "Did you mean 'bell'?",
    "check -g true -a cluade": "Did you mean 'claude'?",
    "check -g true --max-cost five": "Write it like '$5' or 2.50.",
    "check -g true --max-time soon": "Write it like '90s'",
    "check": "Add one: --gate 'pytest -q'",
    "trust": "`untilgreen init`",
    "check -C nowhere -g true": "Name another with -C.",
    "run Make it green -a cmd:true -g true": "'it' is left over. Put the whole task in quotes.",
    "list all": "`untilgreen list` has no place for 'all'.",
    "plugins chek ./a.py:B": "has no place for 'chek'. Did you mean 'check'?",
    "-C nowhere list": "Write the verb first: untilgreen VERB -C …",
}


@pytest.mark.parametrize("written", MISTAKES)
def test_every_mistake_is_answered_with_what_to_write_instead(said: Say, written: str) -> None:
    assert MISTAKES[written] in refused(said(*written.split()))


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("check --set strategy=hybird -g true", "help: untilgreen plugins"),
        ("check --set limts.time=3 -g true", "help: untilgreen help spec"),
        ("check --gat true", "help: untilgreen check --help"),
    ],
)
def test_a_mistake_is_followed_by_the_command_that_shows_what_there_is(
    said: Say, written: str, line: str
) -> None:
    assert f"\n{line}" in refused(said(*written.split()))
