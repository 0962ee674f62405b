"""learn: what was learned from your own runs."""

import json

import msgspec
import pytest

from tests.backtest.helpers import record, steps, write
from tests.surfaces.cli.helpers import Cli
from untilgreen.core.learning.course import Course
from untilgreen.core.learning.features import Features
from untilgreen.core.values.events import Decided, RunStarted
from untilgreen.engine.store.notes.lesson_book import FILE, Taught
from untilgreen.journal.reader import read

OLD = Features(moves=5, reply=1.0, outcome=1.0, distinct=0.1)
HOPELESS = Course(seen=(Features(), *(OLD,) * 11), green=False, hybrid=8, cost=6.0)
GREEN = Course(seen=(Features(),) * 2, green=True, hybrid=2, cost=1.0)

MIXED = [HOPELESS, HOPELESS, HOPELESS, GREEN] * 20


def teach(cli: Cli, **agents: list[Course]) -> None:
    """Write the lesson book that runs of these agents would have left."""
    runs = {
        f"260101-{agent}-{place}": Taught(agent=agent, course=course)
        for agent, courses in agents.items()
        for place, course in enumerate(courses)
    }
    path = cli.runs.parent / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode({"version": 1, "runs": runs}))


def test_without_runs_it_says_that_hybrid_decides(cli: Cli) -> None:
    assert cli("learn").out == (
        "No run is over yet, so nothing has been learned yet. adaptive decides like hybrid until then.\n"
    )


def test_it_says_what_is_learned_whether_it_is_active_and_why(cli: Cli) -> None:
    teach(cli, claude=MIXED, codex=[GREEN] * 3)

    out = cli("learn").out

    assert "claude: active\n" in out
    assert (
        "codex: not active, so adaptive decides like hybrid\n  why       3 runs so far, and it takes 20\n"
        in out
    )
    assert "where a green run is worth 50 laps\n" in out
    assert "kept 20 successes (hybrid 20)" in out
    assert "lessons.json. Forget them with `untilgreen learn --forget`." in out


def test_the_lesson_of_one_agent_as_json(cli: Cli) -> None:
    teach(cli, claude=MIXED, codex=[GREEN] * 3)

    _, line = cli("learn", "--json", "--agent", "claude", "--worth", "$20").lines

    assert (line["type"], line["agent"], line["own"]["active"]) == ("lesson", "claude", True)
    assert line["worth_laps"] == pytest.approx(20 * 38 / 19)
    assert sum(each["laps"] for each in line["calibration"]) == line["own"]["laps"]


def test_agents_are_compared_with_intervals_and_a_warning(cli: Cli) -> None:
    teach(cli, claude=MIXED, codex=[GREEN, HOPELESS, HOPELESS])

    out = cli("learn", "--agents").out

    cells = next(line for line in out.splitlines() if line.startswith("claude")).split()
    assert cells == ["claude", "80", "20", "16.8%", "–", "35.5%", "lap", "2", "$0.50", "$19.00"]
    assert "Too few runs to say much: codex." in out
    assert "Where intervals overlap, the difference may be chance" in out


def test_forgetting_asks_first_and_keeps_the_journals(cli: Cli) -> None:
    teach(cli, claude=[GREEN] * 3)

    asked = cli("learn", "--forget")
    assert (asked.code, "add --yes" in asked.err) == (2, True)
    assert cli("learn", "--forget", "--yes").out == "Forgot what 3 runs taught. Their journals stay.\n"
    assert "nothing has been learned" in cli("learn").out


def test_mistakes_are_answered_with_a_clear_error(cli: Cli) -> None:
    teach(cli, claude=[GREEN])

    assert "Did you mean 'claude'?" in cli("learn", "--agent", "cloude").err
    assert "--worth must be at least 1 lap" in cli("learn", "--worth", "0.5").err
    assert "is not a valid amount of money" in cli("learn", "--worth", "much").err


def test_a_run_takes_what_was_learned_into_its_plan_and_says_how_it_decides(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho >> notes.txt\n")
    teach(cli, **{agent: [HOPELESS] * 30})
    flags = ("-a", agent, "-g", "false", "--strategy", "adaptive", "--set", "strategy.explore=0.0")

    done = cli("run", "Mend it.", *flags, "--json")

    started, *rest = read(cli.runs / cli.ids[0] / "journal.jsonl")[0]
    assert isinstance(started, RunStarted)
    options = started.plan.strategy.options
    assert options["own"][agent]["active"] is True
    assert options["prior"]["version"]
    reasons = [event.decision.reason for event in rest if isinstance(event, Decided) and event.lap]
    assert "from 30 runs of yours and the shared prior" in reasons[0]
    assert done.code == 3
    assert len(cli("learn", "--json").lines) == 2


def test_recorded_runs_are_decided_by_a_strategy_and_adaptive_learns_from_them(cli: Cli) -> None:
    runs = [
        record("s", str(number), steps=steps("abababababab"), success=False, agent="weak")
        for number in range(40)
    ]
    write(cli.place / "runs.jsonl", *runs)

    def stops(*flags: str) -> list[int | None]:
        done = cli("backtest", "--trajectories", "runs.jsonl", "--decisions", "out.jsonl", *flags)
        assert done.code == 0, done.err
        return [json.loads(line)["stop"] for line in (cli.place / "out.jsonl").read_text().splitlines()]

    assert set(stops("--strategy", "{ use = 'fixed', iterations = 2 }")) == {1}
    only_noop = ("--detector", "noop")
    assert set(stops("--strategy", "hybrid", *only_noop)) == {7}
    learned = stops("--strategy", "adaptive", "--learn", *only_noop)
    assert set(learned[:20]) == {7}
    assert any(stop is None or stop < 7 for stop in learned[20:])


def test_only_adaptive_learns_and_one_strategy_decides(cli: Cli) -> None:
    write(cli.place / "runs.jsonl", record(steps=steps("a")))
    given = ("backtest", "--trajectories", "runs.jsonl")

    assert "'hybrid' learns nothing" in cli(*given, "--learn", "-s", "hybrid").err
    assert "takes one --strategy" in cli(*given, "-s", "hybrid", "-s", "fixed").err


def test_your_own_runs_can_be_replayed_while_adaptive_learns(cli: Cli) -> None:
    agent = cli.agent("cat > /dev/null\necho >> notes.txt\n")
    cli("run", "Mend it.", "-a", agent, "-g", "false", "--max-iterations", "2")

    done = cli("backtest", "--runs", "--learn", "-s", "adaptive", "--json")

    assert done.code == 0, done.err
    assert done.lines[1]["strategy"] == "adaptive"


def test_a_plan_says_what_such_runs_took_before(cli: Cli) -> None:
    planned = ("plan", "Mend it.", "-a", "cmd:true", "-g", "false")
    assert "Before:" not in cli(*planned).out

    teach(cli, **{"cmd:true": MIXED})

    line = "\nBefore: of 80 such runs elsewhere, 20 were green, half of them by lap 2; a lap cost $0.50\n"
    assert line in cli(*planned).out
    assert cli(*planned, "--json").result["past"]["green"] == 20
