"""Whole runs with the real program: cheating does not converge, honest work does, people may allow a path."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tests.surfaces.cli.helpers import CALC_TESTS, GREEN_CALC, RED_CALC, UNITTEST, Cli, eventually, repository

SKIP = """\
import pathlib
test = pathlib.Path("test_calc.py")
skipped = "    @unittest.skip('later')\\n    def test_two"
test.write_text(test.read_text().replace("    def test_two", skipped))
"""
FIX = f"import pathlib\npathlib.Path('calc.py').write_text({GREEN_CALC!r})\n"
ADD = "pathlib.Path('test_more.py').write_text(pathlib.Path('test_calc.py').read_text())\n"
NEEDS_A_CACHE = "cache=test -f __pycache__/mark"


def needs_a_cache(cli: Cli) -> None:
    """Create the file that this gate needs; it is a cache, so clean rooms don't have it."""
    (cli.place / ".gitignore").write_text("__pycache__/\n")
    (cli.place / "__pycache__").mkdir(exist_ok=True)
    (cli.place / "__pycache__" / "mark").touch()


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    (tmp_path / "home").mkdir()
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "UNTILGREEN_STATE_DIR": str(tmp_path / "state"),
    }
    place = repository(tmp_path / "calc", {"calc.py": RED_CALC, "test_calc.py": CALC_TESTS})
    cli = Cli(place=place, tmp=tmp_path, env=env)
    yield cli
    for started in cli.started:
        if started.process.poll() is None:
            started.process.kill()
            started.process.communicate()


def verdicts(cli: Cli, run: str, *, early: bool = False) -> list[dict[str, Any]]:
    """The verdicts of the integrity gate in each lap, or the early ones from before the first lap."""
    events = [event for event in cli.journal(run) if event["type"] == "GateChecked"]
    ours = [event for event in events if event["gate"] == "integrity"]
    return [event["verdict"] for event in ours if (event["lap"] == 0) is early]


def run(cli: Cli, agent: str, *flags: str) -> tuple[int, str | None, list[dict[str, Any]]]:
    done = cli(
        *("run", "Mend it.", "--agent", cli.python_agent(agent), "--gate", UNITTEST),
        *("--max-iterations", "2", "--json", *flags),
    )
    return done.code, done.result.get("outcome"), verdicts(cli, cli.ids[-1])


def test_a_run_whose_agent_skips_the_test_does_not_converge(cli: Cli) -> None:
    code, outcome, said = run(cli, SKIP)

    assert code != 0
    assert outcome in ("exhausted", "stuck")
    assert {verdict["status"] for verdict in said} == {"fail"}
    found = said[0]["findings"]
    assert found[0]["id"] == "changed: test_calc.py"
    assert "skipped: `@unittest.skip('later')`" in found[0]["message"]
    assert any("test_two_numbers" in finding["id"] for finding in found[1:])
    assert not (cli.runs / cli.ids[-1] / "copies").exists()


def test_the_agent_hears_what_it_may_not_do(cli: Cli) -> None:
    run(cli, SKIP)

    brief = (cli.runs / cli.ids[-1] / "activity" / "002-brief.md").read_text()
    assert "test_calc.py" in brief
    assert "Put it back as it was" in brief


def test_a_run_that_fixes_the_code_and_adds_tests_converges(cli: Cli) -> None:
    code, outcome, said = run(cli, FIX + ADD)

    assert (code, outcome) == (0, "converged")
    assert [verdict["status"] for verdict in said] == ["pass"]


def test_without_a_baseline_the_first_turn_is_compared_with_what_it_began_with(cli: Cli) -> None:
    _, outcome, said = run(cli, SKIP, "--set", "baseline=false")

    assert outcome != "converged"
    assert said[0]["status"] == "fail"


def test_refs_that_an_agent_moves_are_not_originals(cli: Cli) -> None:
    """The tree that the run began with is recorded in its journal."""
    move = "git add -A; git for-each-ref --format='%(refname)' refs/untilgreen/ | while read ref; do "
    move += f"git update-ref $ref $(git write-tree) && touch {cli.tmp}/moved; done"
    _, outcome, said = run(cli, f"{SKIP}import os\nos.system({move!r})\n", "--set", "baseline=false")

    assert (cli.tmp / "moved").exists()
    assert outcome != "converged"
    assert said[0]["findings"][0]["id"] == "changed: test_calc.py"


def test_the_gate_can_be_switched_off(cli: Cli) -> None:
    off = ("--set", "integrity.enabled=false", "--set", "clean_room.enabled=false")
    code, outcome, said = run(cli, SKIP, *off)

    assert (code, outcome, said) == (0, "converged", [])


def test_without_the_originals_the_clean_room_stays(cli: Cli) -> None:
    _, outcome, said = run(cli, SKIP, "--set", "integrity.enabled=false")

    assert (outcome, [verdict["status"] for verdict in said]) == ("converged", ["pass"])
    assert "The gates are green in the clean room (" in said[0]["excerpt"]


def test_the_spec_can_allow_a_path(cli: Cli) -> None:
    _, outcome, said = run(cli, SKIP, "--set", 'integrity.allow=["test_calc.py"]')

    assert (outcome, [verdict["status"] for verdict in said]) == ("converged", ["pass"])


def test_a_person_can_allow_a_path(cli: Cli) -> None:
    """The first lap skips the test; the path is allowed during the second, which changes nothing."""
    flag = cli.tmp / "go"
    waiting = f"""\
import pathlib, time
if "skip" in pathlib.Path("test_calc.py").read_text():
    pathlib.Path({str(cli.tmp / "second")!r}).touch()
    while not pathlib.Path({str(flag)!r}).exists():
        time.sleep(0.02)
else:
{indent(SKIP, "    ")}
"""
    started = cli.start(
        *("run", "Mend it.", "--agent", cli.python_agent(waiting), "--gate", UNITTEST),
        *("--max-iterations", "3", "--json"),
    )
    eventually((cli.tmp / "second").exists, "the second turn")
    assert [verdict["status"] for verdict in verdicts(cli, cli.ids[-1])] == ["fail"]

    answered = cli("answer", cli.ids[-1], "allow", "test_calc.py")
    flag.touch()
    done = started.end()

    assert answered.code == 0, answered.err
    assert (done.code, done.result["outcome"]) == (0, "converged")


def test_a_red_gate_whose_output_always_differs_raises_no_question(cli: Cli) -> None:
    run(cli, FIX, "--gate", "never=date +%N | tr 0-9 a-j; exit 1")

    assert [verdict["status"] for verdict in verdicts(cli, cli.ids[-1], early=True)] == ["skip"]


def test_a_gate_that_works_in_no_clean_room_is_found_before_the_first_lap_with_what_it_needs(
    cli: Cli,
) -> None:
    needs_a_cache(cli)
    (cli.place / ".gitignore").write_text("__pycache__/\n.mypy_cache/\n")
    (cli.place / ".mypy_cache").mkdir()
    (cli.place / ".mypy_cache" / "other").touch()

    code, outcome, said = run(cli, FIX, "--gate", NEEDS_A_CACHE)

    found = verdicts(cli, cli.ids[-1], early=True)[0]["findings"]
    assert (code, outcome, said) == (5, None, [])
    assert [each["id"] for each in found] == ["does-not-work-in-a-clean-room: cache"]
    assert (
        'needs __pycache__/: name it in clean_room.keep, as in keep = ["__pycache__/"]' in found[0]["message"]
    )
    assert not any(event["type"] == "BriefOffered" for event in cli.journal(cli.ids[-1]))


def test_without_a_baseline_a_gate_that_works_in_no_clean_room_is_asked_about_in_the_first_green_lap(
    cli: Cli,
) -> None:
    needs_a_cache(cli)

    code, outcome, said = run(cli, FIX, "--gate", NEEDS_A_CACHE, "--set", "baseline=false")

    assert (code, outcome, [verdict["status"] for verdict in said]) == (5, None, ["error"])
    assert [each["id"] for each in said[0]["findings"]] == ["does-not-work-in-a-clean-room: cache"]
    assert "Left out there, because they are caches" in said[0]["findings"][0]["message"]
    assert "name them in clean_room.keep" in said[0]["findings"][0]["message"]
    kept = ("--set", 'clean_room.keep=["__pycache__/"]', "--set", "baseline=false")
    assert run(cli, FIX, "--gate", NEEDS_A_CACHE, *kept)[:2] == (0, "converged")


def test_gates_that_work_in_a_clean_room_raise_no_question_before_the_first_lap(cli: Cli) -> None:
    run(cli, FIX)

    early = verdicts(cli, cli.ids[-1], early=True)
    assert [verdict["status"] for verdict in early] == ["skip"]
    assert "work in the clean room" in early[0]["excerpt"]


@pytest.mark.parametrize(
    "setting",
    ['clean_room.keep=["__pycache__/"]', 'clean_room.unproven="accept"', "clean_room.enabled=false"],
)
def test_the_spec_can_say_what_a_clean_room_needs(cli: Cli, setting: str) -> None:
    needs_a_cache(cli)

    code, outcome, said = run(cli, FIX, "--gate", NEEDS_A_CACHE, "--set", setting)

    assert (code, outcome, [verdict["status"] for verdict in said]) == (0, "converged", ["pass"])
    assert ("Not proven: " in said[0]["excerpt"]) is ("unproven" in setting)


def test_a_tree_that_is_green_from_the_start_is_nothing_to_do(cli: Cli) -> None:
    (cli.place / "calc.py").write_text(GREEN_CALC)

    code, outcome, said = run(cli, SKIP)

    early = verdicts(cli, cli.ids[-1], early=True)
    assert (code, outcome, said) == (0, "converged", [])
    assert [verdict["status"] for verdict in early] == ["pass"]


def early_question(cli: Cli) -> bool:
    events = [event for event in cli.journal(cli.ids[-1]) if event["type"] == "Decided"]
    return any(event["lap"] == 0 and event["decision"]["type"] == "ask" for event in events)


def test_a_gate_that_does_not_work_in_a_copy_asks_a_person(cli: Cli) -> None:
    needs_a_cache(cli)
    agent = f"{FIX}open('test_calc.py', 'a').write('#')\n"
    shown = cli.on_a_terminal(
        *("run", "Mend it.", "--agent", cli.python_agent(agent), "--gate", UNITTEST),
        *("--gate", NEEDS_A_CACHE, "--max-iterations", "3"),
    )
    eventually(lambda: cli.ids and early_question(cli), "the question before the first lap")
    assert cli("answer", cli.ids[-1], "continue").code == 0

    def asked() -> list[dict[str, Any]]:
        events = cli.journal(cli.ids[-1]) if cli.ids else []
        return [event for event in events if event["type"] == "Decided" and event.get("escalated")]

    question = eventually(asked, "the question")[0]["decision"]
    answered = cli("answer", cli.ids[-1], "accept")
    code, _ = shown.end()

    assert "integrity is broken (Gate 'cache' does not work in a clean room" in question["question"]
    assert question["choices"] == ["continue", "accept", "stop"]
    assert (answered.code, code) == (0, 0), answered.err
    assert cli("show", "--json").result["outcome"] == "accepted"


def test_a_gate_that_is_green_only_with_an_ignored_file_fails_and_names_it(cli: Cli) -> None:
    (cli.place / ".gitignore").write_text("made.flag\n")

    code, outcome, said = run(cli, f"{FIX}pathlib.Path('made.flag').touch()\n", "--gate", "test -f made.flag")

    assert (code, outcome, said[0]["status"]) == (3, "exhausted", "fail")
    (found,) = said[0]["findings"]
    assert found["id"].startswith("red-in-the-clean-room: ")
    assert "changed since the run began: made.flag" in found["message"]


def test_the_clean_room_costs_one_more_run_for_a_green_lap_and_one_before_the_first(cli: Cli) -> None:
    count = cli.tmp / "count"

    code, _, said = run(cli, FIX, "--gate", f"counted=echo run >> {count} && grep -q + calc.py")

    assert code == 0
    assert len(count.read_text().splitlines()) == 4
    assert "The gates are green in the clean room (" in said[0]["excerpt"]


def test_the_gate_runs_last_and_only_when_the_others_are_green(cli: Cli) -> None:
    done = cli(
        "run", "Mend it.", "--agent", cli.python_agent("pass"), "--gate", UNITTEST, "--max-iterations", "1"
    )
    red = verdicts(cli, cli.ids[-1])
    run(cli, FIX, "--gate", "later=true")

    assert (done.code, red) == (3, [])
    checked = [event for event in cli.journal(cli.ids[-1]) if event["type"] == "GateChecked"]
    assert checked[-1]["gate"] == "integrity"
    assert {event["gate"] for event in checked if event["lap"] == 1} == {"tests", "later", "integrity"}
