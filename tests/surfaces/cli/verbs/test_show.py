"""show and log: one lap or all of them, with brief, reply, changes, findings and decision."""

import pytest

from tests.surfaces.cli.helpers import Cli, Invoke

AGENT = """\
cat > /dev/null
echo "I write another line."
echo more >> notes.txt
test -e {tmp}/second && touch done
touch {tmp}/second
"""
GATE = "test -f done || { echo 'a.py:1: error: not done'; exit 1; }"


@pytest.fixture
def run(cli: Cli) -> str:
    """The id of a run with two laps, the second one green."""
    done = cli("run", "Write on.", "-a", cli.agent(AGENT.format(tmp=cli.tmp)), "-g", f"tests={GATE}")
    assert done.code == 0, done.err
    return cli.ids[-1]


def test_a_lap_is_shown_with_all_that_belongs_to_it(run: str, invoke: Invoke) -> None:
    shown = invoke("show", f"{run}@1").out

    order = ["Lap 1: 1 finding", "Brief", "Write on.", "Reply of cmd:agent.sh", "I write another line."]
    order += ["Changes", " notes.txt |    1 +", "+more", "Gates", "✕ tests failed", "a.py:1: error: not done"]
    order += ["Findings", "still there: 1", "Decision", "continue: "]
    place = 0
    for each in order:
        place = shown.find(each, place)
        assert place >= 0, (each, shown)


def test_what_a_lap_fixed_is_named(run: str, invoke: Invoke) -> None:
    shown = invoke("show", f"{run}@2").out

    assert "Lap 2: green, score 1.00" in shown
    assert "  fixed: 1\n    tests: a.py" in shown


def test_a_lap_in_json_is_one_line(run: str, invoke: Invoke) -> None:
    line = invoke("show", f"{run}@best", "--json").lines[-1]

    assert (line["type"], line["run"], line["lap"]["number"]) == ("lap", run, 2)


def test_log_has_every_lap_from_the_baseline_on(run: str, invoke: Invoke) -> None:
    told = invoke("log").out

    titles = [
        told.find(f"\n{title}") for title in ("Lap 0, before the first turn: 1 finding", "Lap 1:", "Lap 2:")
    ]
    assert titles == sorted(titles)
    assert min(titles) >= 0


def test_where_our_signs_can_not_be_shown_they_are_plain(run: str, cli: Cli) -> None:
    shown = cli("log", env={"PYTHONIOENCODING": "ascii"}).out

    assert "\n  x tests failed" in shown
    assert "\n  ok tests passed" in shown
    assert "\\u" not in shown


@pytest.mark.parametrize(
    ("name", "sentence"), [("@9", "has no lap 9; it has 0 to 2"), ("@1..2", "One lap can be shown")]
)
def test_a_lap_that_does_not_exist_is_reported(run: str, invoke: Invoke, name: str, sentence: str) -> None:
    done = invoke("show", f"{run}{name}")

    assert (done.code, sentence in done.err) == (2, True), done.err


def test_secrets_are_in_none_of_it(cli: Cli) -> None:
    env = {"SERVICE_TOKEN": "hunter2-hunter2-hunter2"}
    agent = cli.agent('cat > /dev/null\necho "I use $SERVICE_TOKEN"\necho "$SERVICE_TOKEN" > notes.txt\n')
    cli("run", "Log in.", "-a", agent, "-g", 'echo "$SERVICE_TOKEN"; false', "--max-iterations", "1", env=env)

    told = cli("log", env=env).out

    assert "I use" in told
    assert env["SERVICE_TOKEN"] not in told
