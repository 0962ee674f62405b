"""config show: every value of the effective spec, and where it was set."""

import tomllib
from pathlib import Path

from tests.surfaces.cli.helpers import Cli, Invoke, write
from untilgreen.config.load import Request, load

SPEC = """\
agent = "cmd:./fix.sh"
labels = { team = "a b" }

[limits]
time = "2h"

[gates."unit tests"]
run = "pytest -q"

[profiles.quick]
strategy = { use = "fixed", iterations = 2 }
"""


def test_each_value_has_its_source_and_the_later_one_holds(cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": SPEC})
    env = {"UNTILGREEN_LIMITS__ERRORS": "7", "UNTILGREEN_LIMITS__TIME": "3h"}

    done = cli("config", "show", "--json", "--profile", "quick", "--set", "limits.time=1h", env=env)

    told = {line["key"]: (line["value"], line["source"]) for line in done.lines[1:]}
    assert done.code == 0
    assert told["agent"] == ("cmd:./fix.sh", "untilgreen.toml, line 1")
    assert told["labels.team"] == ("a b", "untilgreen.toml, line 2")
    assert told["limits.time"] == ("1h", "--set limits.time")
    assert told["limits.errors"] == (7, "variable UNTILGREEN_LIMITS__ERRORS")
    assert told["limits.lap"] == ("30m", "default")
    assert told["strategy.iterations"] == (2, "untilgreen.toml [profiles.quick], line 11")
    assert told['gates."unit tests".run'] == ("pytest -q", "untilgreen.toml, line 8")
    assert told['gates."unit tests".timeout'] == ("10m", "default")


def test_people_see_the_sources_when_they_ask_for_them(invoke: Invoke, cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": SPEC})

    plain, sourced = invoke("config", "show").out, invoke("config", "show", "--sources").out

    assert plain.startswith(f"# {cli.place / 'untilgreen.toml'}\n")
    assert 'limits.time = "2h"\n' in plain
    assert "line 5" not in plain
    assert "# untilgreen.toml, line 5\n" in sourced


def test_what_it_prints_is_a_spec_that_means_the_same(invoke: Invoke, cli: Cli, tmp_path: Path) -> None:
    write(cli.place, {"untilgreen.toml": SPEC})
    printed = invoke("config", "show", "Mend\nit.", "--sources").out

    again = tmp_path / "again"
    write(again, {"untilgreen.toml": printed})

    assert tomllib.loads(printed)["task"] == "Mend\nit."
    ours = load(Request(start=cli.place, task="Mend\nit.")).spec
    theirs = load(Request(start=again)).spec
    assert (theirs.task, theirs.agents, theirs.gates, theirs.limits, theirs.strategy) == (
        *(ours.task, ours.agents, ours.gates, ours.limits, ours.strategy),
    )


def test_it_needs_no_task_no_file_and_no_trust_and_runs_nothing(cli: Cli) -> None:
    assert cli("config", "show").out.startswith("# no spec file")
    write(cli.place, {"untilgreen.toml": 'agent = "cmd:touch ran"\n[gates.t]\nrun = "touch ran"\n'})

    assert cli("config", "show").code == 0
    assert not (cli.place / "ran").exists()


def test_a_wrong_spec_is_reported_with_its_line(invoke: Invoke, cli: Cli) -> None:
    write(cli.place, {"untilgreen.toml": f"{SPEC}extends = 'quik'\n"})

    done = invoke("config", "show")

    assert done.code == 2
    assert "untilgreen.toml, line 12: " in done.err
    assert "Did you mean 'quick'?" in done.err
    assert (
        "There is no profile 'quik'. Did you mean 'quick'?"
        in invoke(*("config", "show", "--profile", "quik", "-c", str(good(cli)))).err
    )


def good(cli: Cli) -> Path:
    path = cli.tmp / "good.toml"
    path.write_text(SPEC)
    return path


def test_profiles_that_build_on_each_other_in_a_circle_are_refused(invoke: Invoke, cli: Cli) -> None:
    circle = '[profiles.a]\nextends = "b"\n\n[profiles.b]\nextends = "a"\n'
    write(cli.place, {"untilgreen.toml": circle})

    done = invoke("config", "show")

    assert done.code == 2
    assert "is circular" in done.err
    assert "line 5" in done.err or "line 2" in done.err
