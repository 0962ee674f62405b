"""backtest: what detectors and strategies would have done in finished runs."""

import json

from inline_snapshot import snapshot

from tests.backtest.helpers import record, steps, write
from tests.surfaces.cli.helpers import Cli
from untilgreen.backtest.decisions import decisions, differing
from untilgreen.core.values.events import RunStarted
from untilgreen.engine.wiring.objects import objects_of, policy_of
from untilgreen.journal.reader import read

RUNS = (
    record("b", "fails", steps=steps("abcccccc"), success=False, terminal_loop=True, terminal_loop_onset=3),
    record("b", "works", steps=steps("abcd"), success=True, terminal_loop=False),
    record("a", "again", steps=[*steps("aaaa", attempt=0), *steps("bcd", attempt=1)], success=False),
)


def test_a_table_shows_what_was_saved_and_lost_for_each_source(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", *RUNS)

    done = cli("backtest", "--trajectories", "runs.jsonl")

    assert done.code == 0, done.err
    assert done.out == snapshot("""\
source           runs  stops  successes  false stops          95 %  loops  recall@1  recall@2  recall@3  saved
a                   1      1          0            -             -      0         -         -         -  57.1%
  with restarts                       0            -             -      0         -         -         -  14.3%
b                   2      1          1     0 = 0.0%  0.0% – 79.3%      1    100.0%    100.0%    100.0%  37.5%
""")


def test_decisions_come_in_the_order_of_the_file_and_labels_are_not_needed(cli: Cli) -> None:
    bare = [{key: each[key] for key in ("source", "id", "steps")} for each in RUNS]
    write(cli.place / "runs.jsonl", *bare)

    done = cli("backtest", "--trajectories", "runs.jsonl", "--decisions", "out.jsonl")

    assert done.code == 0, done.err
    assert (cli.place / "out.jsonl").read_text().splitlines() == [
        '{"source":"b","id":"fails","stop":4,"restarts":[]}',
        '{"source":"b","id":"works","stop":null,"restarts":[]}',
        '{"source":"a","id":"again","stop":2,"restarts":[[0,2]]}',
    ]
    assert "Not measured: 3 runs without a known outcome." in done.out


def test_one_process_and_two_print_the_same(cli: Cli) -> None:
    many = [record("s", str(number), steps=steps("abc" + "d" * (number % 9)) * 40) for number in range(60)]
    write(cli.place / "runs.jsonl", *many, *RUNS)

    told = [
        cli("backtest", "--trajectories", "runs.jsonl", "--decisions", f"{jobs}.jsonl", "--jobs", jobs)
        for jobs in ("1", "2")
    ]

    assert [each.code for each in told] == [0, 0]
    assert told[0].out == told[1].out
    assert (cli.place / "1.jsonl").read_bytes() == (cli.place / "2.jsonl").read_bytes()
    assert len((cli.place / "1.jsonl").read_text().splitlines()) == 63
    assert (cli.place / "runs.jsonl").stat().st_size > 2_000_000, (
        "too small to be split between two processes"
    )


def test_json_has_rates_between_0_and_1(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", *RUNS)

    version, a, b = cli("backtest", "--trajectories", "runs.jsonl", "--json").lines

    assert version["type"] == "version"
    assert (a["type"], a["source"], a["restart"]["saved"]) == ("source", "a", 1 / 7)
    assert (b["runs"], b["stops"], b["stop"]["saved"], b["stop"]["false_stop_rate"]) == (2, 1, 3 / 8, 0.0)
    assert b["stop"]["recall"] == {"1": 1.0, "2": 1.0, "3": 1.0}
    assert b["restart"] is None


def test_other_detectors_can_be_tried(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", *RUNS)

    done = cli(
        "backtest",
        "--trajectories",
        "runs.jsonl",
        "--detector",
        '{ use = "cycle", repeats = 5 }',
        "--detector",
        "stall",
        "--json",
    )

    assert [line["stops"] for line in done.lines[1:]] == [0, 1]


def test_mistakes_are_answered_with_a_sentence_and_leave_no_file(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", *RUNS)
    (cli.place / "bad.jsonl").write_text(json.dumps(RUNS[0]) + "\n{}\n")
    given = ("--trajectories", "runs.jsonl")

    for arguments, sentence in (
        ((), "Name recorded runs with --trajectories FILE, or use your own with --runs"),
        ((*given, "--runs"), "--trajectories can't be used with --runs"),
        (("--runs", "-j", "2"), "--jobs can't be used with --runs"),
        ((*given, "--svg", "p.svg"), "--svg can't be used with --trajectories"),
        (("--runs", "-s", "hibrid"), "Did you mean 'hybrid'?"),
        (("--runs", "--detector", "cicle"), "Did you mean 'cycle'?"),
        (("--trajectories", "none.jsonl"), "none.jsonl can't be read: No such file or directory"),
        (("--trajectories", "bad.jsonl", "--decisions", "out.jsonl", "-j", "2"), "bad.jsonl, line 2: "),
        ((*given, "--detector", "cicle"), "Did you mean 'cycle'?"),
        ((*given, "--detector", '{ use = "cycle", repeat = 4 }'), "Did you mean 'repeats'?"),
        ((*given, "--jobs", "0"), "--jobs must be at least 1, not 0"),
        ((*given, "--decisions", "no/where.jsonl"), "no/where.jsonl can't be written"),
    ):
        done = cli("backtest", *arguments)
        assert done.code == 2, done
        assert sentence in done.err
        assert "Traceback" not in done.err
    assert sorted(path.name for path in cli.place.iterdir()) == [
        ".git",
        "bad.jsonl",
        "notes.txt",
        "runs.jsonl",
    ]


def runs_of_the_demo(cli: Cli) -> list[str]:
    """Run both demos; return the flags that make backtest read their journals."""
    cli.env["TMPDIR"] = str(cli.tmp)
    for flags in ((), ("--stuck",)):
        assert cli("demo", *flags).code == 0
    state = cli.tmp / "all"
    (state / "runs").mkdir(parents=True)
    for run in cli.tmp.glob("untilgreen-demo-*/state/runs/*"):
        run.rename(state / "runs" / run.name)
    return ["--runs", "--all", "--state-dir", str(state)]


def test_the_demo_s_journals_are_replayed_as_they_were_and_with_other_strategies(cli: Cli) -> None:
    flags = runs_of_the_demo(cli)
    journals = sorted((cli.tmp / "all" / "runs").glob("*/journal.jsonl"))

    for journal in journals:
        events, _ = read(journal)
        plan = next(event.plan for event in events if isinstance(event, RunStarted))
        assert len(list(decisions(events))) > 3
        assert differing(events, policy_of(plan, objects_of(plan))) == []

    done = cli("backtest", *flags, "--svg", "saved.svg")
    told = cli("backtest", *flags, "-s", '{ use = "fixed", iterations = 2 }', "-s", "hybrid", "--json").lines

    assert len(journals) == 2
    assert done.code == 0, done.err
    assert "With fixed iterations=3 you would have saved " in done.out
    assert ", and lost 1 of 1 success." in done.out
    assert "fixed iterations=3: exhausted after lap 3 (lost): all 3 planned laps are used" in done.out
    assert (cli.place / "saved.svg").read_text().startswith("<svg ")
    strategies = [
        (line["strategy"], line["earlier"], line["lost"]) for line in told if line["type"] == "strategy"
    ]
    assert strategies == [("fixed iterations=2", 2, 1), ("hybrid", 0, 0)]
    replays = [(line["strategy"], line["kind"]) for line in told if line["type"] == "replay"]
    assert replays == [("fixed iterations=2", "earlier")] * 2 + [("hybrid", "same")] * 2


def test_without_runs_that_are_over_it_says_where_to_look(cli: Cli) -> None:
    done = cli("backtest", "--runs")

    assert done.code == 0
    assert done.out == (
        "No run here is over and has a lap, so there is nothing to replay. "
        "Include other directories with --all.\n"
    )


def test_a_damaged_journal_is_left_out_and_named(cli: Cli) -> None:
    assert cli("run", "Mend it.", "-a", "cmd:true", "-g", "false", "--max-iterations", "1").code == 3
    assert cli("run", "Mend it.", "-a", "cmd:true", "-g", "false", "--max-iterations", "1").code == 3
    broken = cli.runs / cli.ids[0] / "journal.jsonl"
    broken.write_text("nonsense\n")

    done = cli("backtest", "--runs", "-s", "fixed")

    assert done.code == 0
    assert f"skipped: {cli.ids[0]}: " in done.err
    assert "A fixed      1 " in done.out


def test_a_bar_moves_on_a_terminal_and_nowhere_else(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", *RUNS)

    code, seen = cli.on_a_terminal("backtest", "--trajectories", "runs.jsonl", "-j", "1").end()
    piped = cli("backtest", "--trajectories", "runs.jsonl", "-j", "1")

    assert code == 0
    assert "100%" in seen
    assert "with restarts" in seen
    assert piped.err == ""
