"""How a run ends, what its exit code says, and what is left in the directory."""

import pytest

from tests.surfaces.cli.helpers import GREEN_CALC, NO_OP, RED_CALC, UNITTEST, Cli, eventually, write

FIX = "cat > /dev/null\nsed 's/a - b/a + b/' calc.py > new && mv new calc.py\n"
HALF = "def add(a, b):\n    return 1\n"
"""One of the two tests passes."""
WORSE = "def add(a, b):\n    return None\n"


def test_a_run_whose_gates_turn_green_converges_with_0(calc: Cli) -> None:
    done = calc("run", "Mend it.", "--agent", calc.agent(FIX), "--gate", UNITTEST)

    assert done.code == 0
    assert "converged: all required gates pass in lap 1" in done.out
    assert (calc.place / "calc.py").read_text() == GREEN_CALC


def test_good_enough_is_accepted_with_0_where_the_spec_asks_for_it(calc: Cli) -> None:
    write(calc.place, {"calc.py": WORSE})
    agent = calc.agent(f"cat > /dev/null\nprintf '{HALF}' > calc.py\n")

    accept = ("--set", "strategy.accept_after=1", "--set", "strategy.accept_floor=0.5")
    done = calc("run", "Mend it.", "-a", agent, "-g", UNITTEST, "--max-iterations", "1", *accept)

    assert done.code == 0
    assert "accepted: lap 1 scored 0.50" in done.out


def test_a_claim_that_no_gate_could_doubt_is_claimed_with_0_and_a_loud_sentence(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho '<promise>DONE</promise>'\n")

    done = cli("run", "Write a poem.", "--agent", agent, "--promise", "DONE")

    assert done.code == 0
    assert "claimed:" in done.out
    assert "Nothing checked this: the run had no gates. Add one with --gate next time." in done.out


def test_a_run_in_circles_is_stuck_with_1_and_its_evidence(cli: Cli) -> None:
    done = cli("run", "Mend it.", "-a", cli.agent(NO_OP), "-g", "test -f done", "--set", "remedies=[]")

    assert done.code == 1
    assert "stuck: cycle in laps 1, 2, 3: the same files, 3 times" in done.out


def test_at_a_terminal_a_run_in_circles_asks_first_and_4_ends_it(cli: Cli) -> None:
    terminal = cli.on_a_terminal("run", "Mend it.", "-a", "cmd:true", "-g", "test -f done")
    eventually(lambda: "1-4 answer" in terminal.seen, "the question")
    assert "No answer within 15m: end." in terminal.seen

    terminal.type("4")
    code, seen = terminal.end()

    assert code == 1
    assert "stuck: cycle in laps 4, 5, 6" in seen


def test_a_gate_that_must_not_fail_blocks_the_run_with_1(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho key > secret.txt\n")
    gates = ("--gate", "done=test -f done", "--gate", "secrets=test ! -f secret.txt")

    done = cli("run", "Mend it.", "-a", agent, *gates, "--set", 'gates.secrets.on_fail="stop"')

    assert done.code == 1
    assert "blocked: gate 'secrets' failed, and its on_fail is \"stop\"" in done.out


def test_a_limit_ends_the_run_with_3_and_is_named(cli: Cli) -> None:
    limited = ("--max-iterations", "1", "--json")
    done = cli("run", "Mend it.", "-a", cli.agent(NO_OP), "-g", "test -f done", *limited)

    assert done.code == 3
    assert done.result["outcome"] == "exhausted"
    assert "iterations" in done.result["reason"]


def test_a_run_that_is_out_of_time_says_so_with_3(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\nexec sleep 60\n")

    done = cli("run", "Mend it.", "-a", agent, "-g", "test -f done", "--max-time", "1s")

    assert done.code == 3
    assert "exhausted: limit time" in done.out


def test_an_agent_that_cannot_be_used_is_reported_before_a_gate_runs_and_leaves_no_run(cli: Cli) -> None:
    left = cli("run", "Mend it.", "--agent", "cmd:./later.sh", "--gate", "touch ran; false")

    assert (left.code, left.out) == (4, "")
    assert "There is no program './later.sh'" in left.err
    assert not (cli.place / "ran").exists()
    assert cli.ids == []


def test_an_agent_that_vanishes_ends_with_4_and_the_run_continues_when_it_is_back(cli: Cli) -> None:
    agent, away = cli.agent("cat > /dev/null\ntouch done\n"), cli.tmp / "away.sh"
    gone = f"away=test -f done || {{ mv {cli.tmp}/agent.sh {away}; false; }}"
    here = ("--set", "clean_room.enabled=false")  # there, the agent's script would already be gone
    left = cli("run", "Mend it.", "--agent", agent, "--gate", gone, *here)
    (run,) = cli.ids

    assert left.code == 4
    assert "There is no program" in left.out
    assert f"untilgreen resume {run}" in left.out

    away.rename(cli.tmp / "agent.sh")
    done = cli("resume", run)

    assert done.code == 0
    assert "converged: all required gates pass in lap 1" in done.out


def test_a_run_that_waits_for_a_person_ends_with_5_and_continues_with_the_answer(cli: Cli) -> None:
    once = "cat > /dev/null\ntest -f first && touch done\ntouch first\n"
    manual = ("--strategy", "manual", "--no-input")
    left = cli("run", "Mend it.", "-a", cli.agent(once), "-g", "test -f done", *manual)
    (run,) = cli.ids

    assert left.code == 5
    assert f"untilgreen answer {run} continue" in left.out

    answered = cli("answer", run, "continue")
    done = cli("resume", run)

    assert (answered.code, done.code) == (0, 0)
    assert "converged: all required gates pass in lap 2" in done.out


def test_a_gate_that_cannot_run_ends_the_run_with_6_before_any_turn(cli: Cli) -> None:
    agent = cli.agent("touch began\n")

    done = cli("run", "Mend it.", "--agent", agent, "--gate", "tests=no-such-program --all")

    assert done.code == 6
    assert "gate 'tests' is broken" in done.out
    assert "no-such-program" in done.out
    assert not (cli.place / "began").exists()


def test_check_says_with_its_exit_code_whether_gates_are_green_red_or_broken(cli: Cli) -> None:
    assert cli("check", "--gate", "true").code == 0
    assert cli("check", "--gate", "true", "--gate", "false").code == 1
    assert cli("check", "--gate", "false", "--gate", "no-such-program").code == 6
    assert not cli.ids


def test_a_green_start_ends_at_once_and_names_the_promise(cli: Cli) -> None:
    agent = cli.agent("touch began\n")

    done = cli("run", "Add login.", "--agent", agent, "--gate", "true")

    assert done.code == 0
    assert "nothing to do" in done.out
    assert "--promise" in done.out
    assert not (cli.place / "began").exists()


def test_with_a_promise_a_green_start_is_not_the_end(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho login > login.txt\necho '<promise>DONE</promise>'\n")

    done = cli("run", "Add login.", "--agent", agent, "--gate", "true", "--promise", "DONE")

    assert done.code == 0
    assert "converged: all required gates pass in lap 1" in done.out
    assert (cli.place / "login.txt").exists()


@pytest.mark.parametrize(
    "body",
    [
        "cat > /dev/null\necho 'All done, all tests pass.'\nexit 0\n",
        "cat > /dev/null\necho '<promise>DONE</promise>'\n",
        NO_OP,
    ],
    ids=["its exit code and its word", "its claim", "an empty diff"],
)
def test_nothing_the_agent_says_makes_a_red_gate_green(calc: Cli, body: str) -> None:
    limited = ("--promise", "DONE", "--max-iterations", "1", "--json")
    done = calc("run", "Mend it.", "--agent", calc.agent(body), "--gate", UNITTEST, *limited)

    assert done.code == 3
    assert done.result["verdicts"]["tests"]["status"] == "fail"


def test_a_report_that_the_agent_wrote_makes_no_red_gate_green(cli: Cli) -> None:
    green = '<testsuite name="t" tests="1" failures="0"><testcase classname="a" name="b"/></testsuite>'
    write(cli.place, {"gate.sh": "exit 1\n"})
    agent = cli.agent(f"cat > /dev/null\necho '{green}' > report.xml\n")
    gate = ("--gate", "tests=sh gate.sh", "--set", 'gates.tests.report="report.xml"')

    done = cli("run", "Mend it.", "-a", agent, *gate, "--max-iterations", "1", "--json")

    assert done.code == 3
    assert done.result["verdicts"]["tests"]["status"] == "fail"


def test_no_tests_at_all_are_red(calc: Cli) -> None:
    agent = calc.agent("cat > /dev/null\nrm test_calc.py\n")
    done = calc("run", "Mend it.", "-a", agent, "-g", UNITTEST, "--max-iterations", "1", "--json")

    assert done.code == 3
    assert done.result["verdicts"]["tests"]["status"] == "fail"


def test_an_exhausted_run_leaves_its_best_lap_and_says_which(calc: Cli) -> None:
    write(calc.place, {"calc.py": WORSE})
    turns = f"""\
cat > /dev/null
if test -f {calc.tmp}/second; then printf '{WORSE}' > calc.py; else printf '{HALF}' > calc.py; fi
touch {calc.tmp}/second
"""
    done = calc("run", "Mend it.", "-a", calc.agent(turns), "-g", UNITTEST, "--max-iterations", "2")

    assert done.code == 3
    assert "the files are those of lap 1" in done.out
    assert (calc.place / "calc.py").read_text() == HALF


@pytest.mark.parametrize("name", ["mine.txt", "notes.txt"], ids=["new", "edited"])
@pytest.mark.parametrize(("turn", "laps"), [(2, 2), (1, 3), (2, 4)])
def test_a_persons_file_saved_outside_a_turn_is_left_alone_and_named(
    cli: Cli, name: str, turn: int, laps: int
) -> None:
    """The gate plays the person: it writes the file between two turns."""
    turns = f"cat > /dev/null\necho x >> {cli.tmp}/turns\nwc -l < {cli.tmp}/turns > work.txt\n"
    gate = (
        f'test "$(wc -l < {cli.tmp}/turns)" = {turn} && echo mine > {name}; '
        "test -s work.txt && exit 1; exit 2"
    )
    write(cli.tmp, {"turns": ""})

    done = cli(
        *("run", "Mend it.", "-a", cli.agent(turns), "-g", f"tests={gate}"),
        *("-g", "first=grep -q 1 work.txt", "--max-iterations", f"{laps}", "--set=detectors=[]"),
    )

    assert done.code == 3
    assert "the files are those of lap 1" in done.out
    assert (cli.place / "work.txt").read_text().strip() == "1"
    assert (cli.place / name).read_text() == "mine\n"
    assert name in done.out


def test_a_persons_file_that_a_turn_changed_is_undone_with_the_turn(cli: Cli) -> None:
    turns = f"cat > /dev/null\necho x >> {cli.tmp}/turns\nwc -l < {cli.tmp}/turns > work.txt\n"
    turns += "test -e mine.txt && echo more >> mine.txt\nexit 0\n"
    gate = f'test "$(wc -l < {cli.tmp}/turns)" = 1 && echo mine > mine.txt; exit 1'
    write(cli.tmp, {"turns": ""})

    done = cli(
        *("run", "Mend it.", "-a", cli.agent(turns), "-g", f"tests={gate}"),
        *("-g", "first=grep -q 1 work.txt", "--max-iterations", "3", "--set=detectors=[]"),
    )

    assert done.code == 3
    assert "the files are those of lap 1" in done.out
    assert not (cli.place / "mine.txt").exists()


def test_what_gates_leave_behind_does_not_count_as_a_change(calc: Cli) -> None:
    bytecode = ("--set", 'gates.tests.env.PYTHONDONTWRITEBYTECODE=""')
    limited = ("--max-iterations", "2", "--json")
    done = calc("run", "Mend it.", "-a", calc.agent(NO_OP), "-g", UNITTEST, *bytecode, *limited)

    assert (calc.place / "__pycache__").is_dir(), "the gate left no files behind"
    turns = [e for e in done.events if e["type"] == "SnapshotTaken" and e["phase"] == "turn"]
    assert [turn.get("changes", []) for turn in turns] == [[], [], []]
    assert "noop" in [signal["kind"] for lap in done.result["history"] for signal in lap["signals"]]


def test_a_crashed_agent_is_a_lap_whose_gates_run(calc: Cli) -> None:
    done = calc("run", "Mend it.", "-a", calc.agent(FIX + "exit 3\n"), "-g", UNITTEST, "--json")

    assert done.code == 0
    assert done.result["outcome"] == "converged"
    assert done.result["history"][0]["error"] == "crash"
    assert (calc.place / "calc.py").read_text() != RED_CALC
