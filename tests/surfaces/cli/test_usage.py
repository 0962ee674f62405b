"""Every mistake that a person can make gets one sentence, exit code 2 and no traceback."""

import re

import pytest

from tests.surfaces.cli.helpers import NO_OP, Cli, Done, Invoke, write
from untilgreen import __version__
from untilgreen.surfaces.cli.main import VERBS

GATE = ("--gate", "test -f done")


def refused(done: Done) -> str:
    """The error of a command that was refused before it did anything."""
    assert done.code == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert done.err.startswith("error: ")
    return done.err


def test_it_says_what_it_can_do(cli: Cli) -> None:
    done = cli("--help")

    assert done.code == 0
    assert {verb for verb in VERBS if verb in done.out} == set(VERBS)


def test_it_says_its_version(cli: Cli) -> None:
    done = cli("--version")

    assert (done.code, done.out) == (0, f"untilgreen {__version__}\n")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_every_verb_explains_itself(invoke: Invoke, verb: str) -> None:
    done = invoke(*verb.split(), "--help")

    assert done.code == 0
    assert f"Usage: untilgreen {verb}".strip() in done.out
    assert done.err == ""


def test_the_exit_codes_are_explained(invoke: Invoke) -> None:
    done = invoke("help", "exit-codes")

    assert done.code == 0
    assert {int(code) for code in re.findall(r"^ +(\d+)  ", done.out, re.MULTILINE)} >= {
        *(0, 1, 2, 3, 4, 5, 6, 70, 129, 130, 143)
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnu", "Mend it."], 'Did you mean "run"?'),
        (["run", "Mend it.", "--agnt", "cmd:true"], "Did you mean --agent?"),
        (["run", "Mend it.", "--", "--strategy"], "--strategy comes after --, so it is not an option."),
        (["run", "Mend it.", "--max-iteration", "3"], "Did you mean --max-iterations?"),
        (["run", "Mend", "it."], "it."),
        (["steer", "@last"], "NOTE"),
        (["answer", "@last", "stop", "now", "then"], "then"),
    ],
)
def test_a_wrong_word_is_answered_with_the_one_that_was_meant(
    invoke: Invoke, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(invoke(*arguments))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--gate", "true"], "There is no agent. Name one with --agent"),
        (["--agent", "cmd:true"], "There is no gate and no promise"),
        (["-a", "cmd:true", "-g", "true", "--max-iterations", "0"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-time", "0s"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-cost", "0"], "must be above zero"),
        (["-a", "cmd:true", "-g", "true", "--max-time", "soon"], "is not a valid duration"),
        (["-a", "cmd:true", "-g", "true", "--max-iterations", "many"], "many"),
        (["-a", "cmd:true", "-g", "true", "-s", "hybird"], "Did you mean 'hybrid'?"),
        (["-a", "cluade", "-g", "true"], "No agent named 'cluade'"),
        (["-a", "cmd:'oh", "-g", "true"], "Check its quotes"),
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
    cli: Cli, invoke: Invoke, arguments: list[str], sentence: str
) -> None:
    assert sentence in refused(invoke("run", "Mend it.", *arguments))
    assert cli.ids == []


def test_an_unknown_key_is_named_with_its_file_and_line_and_the_nearest_one(cli: Cli) -> None:
    spec = 'agent = "cmd:true"\n\n[gates.tests]\nrun = "true"\n\n[limits]\nitertions = 3\n'
    write(cli.place, {"untilgreen.toml": spec})

    words = refused(cli("run", "Mend it."))

    assert "untilgreen.toml, line 7: " in words
    assert "Did you mean 'iterations'?" in words


def test_all_errors_of_a_spec_are_shown_at_once_in_the_order_of_their_lines(cli: Cli, invoke: Invoke) -> None:
    write(
        cli.place,
        {
            "untilgreen.toml": """\
agnt = "claude"
strategy = "hybird"

[limits]
iterations = 0
time = "4x"

[gates.tests]
runn = "pytest"
timeout = "ten"

[gates.more]
kind = "levelz"
min_level = "L1"

[profiles.quick]
limits = { costs = 1 }
"""
        },
    )

    heading, *listed = refused(invoke("run", "Mend it.", "--agent", "cmd:true")).splitlines()[:-1]

    assert heading == "error: There are 8 errors:"
    assert [re.search(r"line (\d+): (.*?)[.?]", each).groups() for each in listed] == [  # type: ignore[union-attr]
        ("1", "there is no key 'agnt'"),
        ("2", "No strategy named 'hybird'"),
        ("5", "limits"),
        ("6", "limits"),
        ("9", "gate 'tests' has no key 'runn'"),
        ("10", "gates"),
        ("13", "No gate named 'levelz'"),
        ("17", "there is no limit 'costs'"),
    ]


def test_all_unknown_names_are_shown_at_once(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"untilgreen.toml": 'agent = "claud"\nstrategy = "hybird"\nnotify = ["desktpo"]\n'})

    told = refused(invoke("run", "Mend it.", *GATE, "--trust"))

    assert "There are 3 errors:" in told
    assert all(f"Did you mean {name!r}?" in told for name in ("claude", "hybrid", "desktop"))


def test_invalid_toml_is_reported_with_its_line(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"untilgreen.toml": 'agent = "cmd:true"\nstrategy = \n'})

    assert "line 2" in refused(invoke("run", "Mend it."))


def test_the_task_can_be_an_argument_a_file_stdin_or_in_the_spec(cli: Cli) -> None:
    agent = cli.agent("touch done\n")
    write(cli.place, {"TASK.md": "From a file.\n"})
    flags = ("--agent", agent, *GATE, "--json", "--quiet", "--trust")

    def task(*arguments: str, stdin: str = "") -> str:
        (cli.place / "done").unlink(missing_ok=True)
        result = cli("run", *arguments, *flags, stdin=stdin).result
        assert result["outcome"] == "converged"
        return str(result["task"])

    assert task("An argument.") == "An argument."
    assert task("-f", "TASK.md") == "From a file."
    assert task("-", stdin="From a pipe.\n") == "From a pipe."
    assert task("-f", "-", stdin="Also from a pipe.\n") == "Also from a pipe."
    write(cli.place, {"untilgreen.toml": 'task_file = "TASK.md"\n'})
    assert task() == "From a file."
    write(cli.place, {"untilgreen.toml": 'task = "In the spec."\n'})
    assert task() == "In the spec."
    assert task("The argument is stronger.") == "The argument is stronger."


def test_a_task_that_is_piped_in_needs_no_dash(cli: Cli) -> None:
    flags = ("--agent", cli.agent("touch done\n"), *GATE, "--json")

    assert cli("run", *flags, stdin="From a pipe.\n").result["task"] == "From a pipe."


def test_a_pipe_does_not_replace_the_task_of_the_spec(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": 'task = "In the spec."\n'})
    flags = ("--agent", cli.agent("touch done\n"), *GATE, "--json", "--trust")

    assert cli("run", *flags, stdin="From a pipe.\n").result["task"] == "In the spec."


def test_a_plain_number_of_max_time_is_seconds(cli: Cli) -> None:
    flags = ("-a", cli.agent("touch done\n"), *GATE, "--max-time", "300", "--json")

    assert cli("run", "Fix it.", *flags).events[0]["plan"]["limits"]["time"] == 300


@pytest.mark.parametrize(
    ("agent", "meant"),
    [
        (("--agent", "claude:sonnet"), ("claude", "sonnet")),
        (("--agent", "codex", "--model", "gpt-5"), ("codex", "gpt-5")),
        (("--agent", '{ use = "gemini", model = "flash" }'), ("gemini", "flash")),
    ],
)
def test_the_model_of_an_agent_can_be_named(
    invoke: Invoke, agent: tuple[str, ...], meant: tuple[str, str]
) -> None:
    planned = invoke("plan", "x", *agent, *GATE)

    (started,) = (line.split() for line in planned.out.splitlines() if line.startswith(f"  {meant[0]}"))
    assert started[started.index("--model") + 1] == meant[1]


@pytest.mark.parametrize(
    ("agent", "way_out"),
    [
        ("./fix.sh", "cmd:./fix.sh"),
        ("./fix.sh --fast", "'cmd:./fix.sh --fast'"),
        ("fix.py", "cmd:./fix.py"),
        ("fix.sh", "cmd:./fix.sh"),
        ("fix.sh --fast", "'cmd:./fix.sh --fast'"),
        ("python fix.py", "'cmd:python fix.py'"),
        ("sh", "cmd:sh"),
        ("npm run fix", "'cmd:npm run fix'"),
        ("claude -p", "claude to use that agent, or 'cmd:claude -p'"),
    ],
)
def test_a_command_without_cmd_is_not_run_and_answered_with_what_to_write(
    cli: Cli, invoke: Invoke, agent: str, way_out: str
) -> None:
    write(cli.place, {"fix.sh": "#!/bin/sh\ntouch ran\n", "fix.py": "open('ran', 'w')\n"})
    (cli.place / "fix.sh").chmod(0o755)

    words = refused(invoke("run", "Fix it.", "--agent", agent, *GATE))

    assert f"is not an agent. Write {way_out} to run it as a command.\n" in words
    assert not (cli.place / "ran").exists()


def test_a_script_that_is_mistaken_for_a_plugin_is_not_run(cli: Cli, invoke: Invoke) -> None:
    write(cli.place, {"rules.py": "open('ran', 'w')\n\nclass Patient:\n    pass\n"})

    words = [
        refused(invoke("run", "x", "-a", "cmd:true", *GATE, "-s", f"./rules.py{name}"))
        for name in ("", ":Ptient")
    ]

    assert "It has Patient. Add ':' and its name." in words[0]
    assert "Did you mean 'Patient'?" in words[1]
    assert not (cli.place / "ran").exists()


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
    strategies = [plan["strategy"] for plan in plans]
    assert [(each["name"], each["origin"], each["options"]) for each in strategies] == [
        ("hybrid", "built-in", {"base": 1, "bonus": 0}),
        ("fixed", "built-in", {"iterations": 1}),
        ("ralph", "built-in", {"max": 1}),
    ]


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
    "plan x -g true -a cluade": "Did you mean 'claude'?",
    "plan x -a cmd:true -g true --max-cost five": "Write it like '$5' or 2.50.",
    "plan x -a cmd:true -g true --max-time soon": "Write it like '90s'",
    "check": "Add one with --gate 'pytest -q'",
    "trust": "`untilgreen init`",
    "check -C nowhere -g true": "Name another with -C.",
    "run Make it green -a cmd:true -g true": "'it' is left over. Put the whole task in quotes.",
    "list all": "`untilgreen list` doesn't take 'all'.",
    "plugins chek ./a.py:B": "doesn't take 'chek'. Did you mean 'check'?",
    "-C nowhere list": "Write the command first: untilgreen COMMAND -C …",
    "--verison": "There is no option '--verison'. Did you mean '--version'?",
    "status": "Use: untilgreen show, or untilgreen list",
    "logs": "Use: untilgreen log",
    "watch": "Use: untilgreen follow",
    "undo": "Use: untilgreen restore RUN@0",
    "kill": "Use: untilgreen cancel",
    "ps": "Use: untilgreen list",
    "rm": "Use: untilgreen prune RUN",
    "start": "Use: untilgreen run",
}


@pytest.mark.parametrize("written", MISTAKES)
def test_every_mistake_is_answered_with_what_to_write_instead(invoke: Invoke, written: str) -> None:
    assert MISTAKES[written] in refused(invoke(*written.split()))


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("check --set strategy=hybird -g true", "help: untilgreen plugins"),
        ("check --set limts.time=3 -g true", "help: untilgreen help spec"),
        ("check --gat true", "help: untilgreen check --help"),
    ],
)
def test_a_mistake_is_followed_by_the_command_that_shows_what_there_is(
    invoke: Invoke, written: str, line: str
) -> None:
    assert f"\n{line}" in refused(invoke(*written.split()))


@pytest.mark.parametrize("written", ["run x --yol", "run x --trst", "init --forc"])
def test_no_flag_that_permits_more_is_suggested(invoke: Invoke, written: str) -> None:
    assert "Did you mean" not in refused(invoke(*written.split()))


def test_the_help_of_the_program_and_of_every_verb_fits_a_screen_of_40_lines(invoke: Invoke) -> None:
    long = {verb: invoke(*verb.split(), "--help").out.count("\n") for verb in ("", *VERBS)}

    assert {verb: lines for verb, lines in long.items() if lines > 40} == {}
    assert long[""] <= 38, "the command and the next prompt need lines on the screen, too"


def test_the_help_of_check_lists_only_flags_that_it_uses(invoke: Invoke) -> None:
    told = invoke("check", "--help").out

    assert "--gate" in told
    assert not re.search("--(agent|strategy|max-|promise|yolo|file|worktree|fleet|server)", told)


def test_the_list_of_verbs_says_what_the_help_of_each_verb_says(invoke: Invoke) -> None:
    listed = " ".join(invoke("--help").out.split())

    for verb in ("run", "plan", "check", "resume", "why", "answer", "follow"):
        assert invoke(verb, "--help").out.split("\n")[2] in listed
